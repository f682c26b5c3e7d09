/** Reads the schedules that a turn is about, and the last job of each. */
import type { Now } from '../../clock.ts'
import { LIMITS } from '../../limits.ts'
import type { Facts } from '../facts.ts'
import type { TurnStore } from '../store.ts'
import type { Tables } from '../tables.ts'
import type { Schedule } from './ticks.ts'

export function gatherSchedules(store: TurnStore, tables: Tables, facts: Facts, ids: readonly string[], now: Now): void {
  const due = tables.fireAt !== 0 && tables.fireAt <= now.wall && tables.ticksMono <= now.mono
  if (!due && ids.length === 0 && tables.freed.size === 0) return
  const read: Schedule[] = []
  const remember = (schedule: Schedule) => {
    const known = facts.rememberSchedule(schedule)
    read.push(known)
    return known
  }
  if (ids.length > 0) store.schedules([...new Set(ids)]).forEach(remember)
  if (tables.freed.size > 0) facts.freedSchedules = store.schedules(takeFreed(tables)).map(remember)
  if (due) {
    facts.dueSchedules = store.dueSchedules(now.wall, LIMITS.sliceSchedules).map(remember)
    // All due schedules have fired. Without a later time the next turn would be due at once, for ever.
    if (facts.dueSchedules.length === 0) tables.fireAt = store.deadlines().fireAt
  }
  const seqs = new Set<number>()
  for (const { last } of read) {
    const known = last && tables.jobs.get(last.seq)
    if (known !== undefined) facts.add(known)
    else if (last !== undefined && facts.job(last.seq) === undefined) seqs.add(last.seq)
  }
  if (seqs.size > 0) for (const row of store.jobs([...seqs])) facts.remember(row)
}

/** Takes some of the freed schedules. The next turn takes the rest. */
function takeFreed({ freed }: Tables): string[] {
  const taken: string[] = []
  for (const id of freed) {
    if (taken.length >= LIMITS.sliceSchedules) break
    freed.delete(id)
    taken.push(id)
  }
  return taken
}
