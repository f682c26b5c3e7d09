/** Finds what a turn changes of unique keys and tags. */
import { DIRTY_DELETE, DIRTY_INSERT, type Effects, type Job, type UniqueRecord } from '@millrace/core/kernel'

export function isCreated({ dirty }: Job): boolean {
  return (dirty & DIRTY_INSERT) !== 0 && (dirty & DIRTY_DELETE) === 0
}

interface TagChange {
  readonly seq: number
  readonly lost: readonly string[]
  readonly gained: readonly string[]
}

/** Returns the tags that jobs with a row have lost and gained. A new job's tags are written as they are in the end. */
export function tagChanges(retagged: Effects['retagged']): readonly TagChange[] {
  if (retagged === undefined) return NO_CHANGES
  const changes: TagChange[] = []
  for (const [{ seq, dirty, extras }, before] of retagged) {
    if (dirty & DIRTY_INSERT) continue
    const after = extras?.tags ?? []
    changes.push({ seq, lost: before.filter((tag) => !after.includes(tag)), gained: after.filter((tag) => !before.includes(tag)) })
  }
  return changes
}

const NO_CHANGES: readonly never[] = []

/**
 * Sets a job's holds and frees of the turn against each other, and returns what is left to do. A job that took its key and lost
 * it again (or the other way round) changes nothing. A job has one unique key.
 */
export function net(
  held: readonly UniqueRecord[],
  freed: readonly UniqueRecord[],
): { held: readonly UniqueRecord[]; freed: readonly UniqueRecord[] } {
  if (held.length === 0 || freed.length === 0) return { held, freed }
  const balance = new Map<number, number>()
  for (const { seq } of held) balance.set(seq, (balance.get(seq) ?? 0) + 1)
  for (const { seq } of freed) balance.set(seq, (balance.get(seq) ?? 0) - 1)
  return { held: once(held, balance, 1), freed: once(freed, balance, -1) }
}

function once(records: readonly UniqueRecord[], balance: Map<number, number>, sign: 1 | -1): UniqueRecord[] {
  return records.filter(({ seq }) => {
    if ((balance.get(seq) ?? 0) * sign <= 0) return false
    balance.set(seq, 0)
    return true
  })
}
