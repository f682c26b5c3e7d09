/** Counts the failures of a turn by their kind. */
import type { FailureNote } from '@millrace/core/kernel'

interface Counted {
  readonly last: FailureNote
  readonly count: number
}

export function byKind(failures: readonly FailureNote[]): Iterable<Counted> {
  const kinds = new Map<string, Counted>()
  for (const last of failures) {
    const key = `${last.job.lane.id}:${last.fingerprint}`
    kinds.set(key, { last, count: (kinds.get(key)?.count ?? 0) + 1 })
  }
  return kinds.values()
}
