/** What is told of calls that change more than they add. */

export interface AuditEntry {
  readonly at: Date
  /** Name of the caller. */
  readonly who: string
  /** Of the operation: its `operationId` in the OpenAPI document. */
  readonly operation: string
  /**
   * What it was for: names and ids out of the path, and filters, in which `ids` is how many; never payloads. Where that is more than 2 KiB,
   * `cut` is what it begins with, as JSON.
   */
  readonly target: Readonly<Record<string, unknown>>
  /** `refused`: by a check, or because of what is there. `failed`: by trouble; what became of it is not always known. */
  readonly outcome: 'done' | 'refused' | 'failed'
  readonly status: number
}

export function outcomeOf(status: number): AuditEntry['outcome'] {
  if (status < 400) return 'done'
  return status < 500 ? 'refused' : 'failed'
}
