/** An audit entry for one call, over any transport. */

export interface Audited {
  readonly at: Date
  /** The token's name. */
  readonly who: string
  readonly operation: string
  /** Names, ids, filters (`ids` is their number) and paths, never payloads. Beyond 2 KiB, `cut` is the beginning of it, as JSON. */
  readonly target: Readonly<Record<string, unknown>>
  /** `refused`: a check or the current state rejected the call. `failed`: an error occurred, and its outcome is not always known. */
  readonly outcome: 'done' | 'refused' | 'failed'
}

/** The maximum length of a target, in characters of JSON. */
const LENGTH_MAX = 2_048

/** Returns the target, or `{ cut }` with the first 2 KiB of its JSON if it is longer: callers decide how long it is. */
export function boundedTarget(target: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(target)
  return text.length <= LENGTH_MAX ? target : { cut: text.slice(0, LENGTH_MAX) }
}
