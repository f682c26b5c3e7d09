/** What an audit keeps of a call, however it came. */

export interface Audited {
  readonly at: Date
  /** Name of the token. */
  readonly who: string
  readonly operation: string
  /** Names, ids, filters (`ids` is how many) and paths, never payloads. Beyond 2 KiB, `cut` is what it begins with, as JSON. */
  readonly target: Readonly<Record<string, unknown>>
  /** `refused`: by a check, or because of what is there. `failed`: by trouble; what became of it is not always known. */
  readonly outcome: 'done' | 'refused' | 'failed'
}

/** As JSON. */
const LENGTH_MAX = 2_048

/** A target may be as long as whoever calls makes it: beyond 2 KiB of JSON it is `{ cut }`, what that begins with. */
export function boundedTarget(target: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(target)
  return text.length <= LENGTH_MAX ? target : { cut: text.slice(0, LENGTH_MAX) }
}
