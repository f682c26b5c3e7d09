/** Computes when the next turn is due if no command comes before. */
import type { Now } from '../../clock.ts'
import { LIMITS } from '../../limits.ts'
import type { Tables } from '../state/tables.ts'

/** Returns milliseconds: 0 for at once, and at most `LIMITS.timerSliceMs`, so that a jump of the wall clock is noticed. */
export function nextTurnMs(tables: Tables, now: Now): number {
  if (
    tables.abandoned.length > 0 ||
    tables.flowWork ||
    tables.freed.size > 0 ||
    tables.hurried ||
    (tables.needRefill.size > 0 && isStarving(tables))
  )
    return 0
  let ms: number = LIMITS.timerSliceMs
  const overdue = tables.deadlines.peek()
  if (overdue !== undefined) ms = Math.min(ms, overdue.deadlineMono - now.mono)
  // Tokens of queues and of keys.
  const tokenMono = Math.min(tables.dispatchable.tokenMono, tables.keys.buckets.nextMono)
  ms = Math.min(ms, tables.leaseMono - now.mono, tokenMono - now.mono)
  if (tables.dueAt !== 0) ms = Math.min(ms, tables.dueAt - now.wall)
  if (tables.expiresAt !== 0) ms = Math.min(ms, tables.expiresAt - now.wall)
  const { nextAt } = tables.dispatchable.pauseEnds
  if (nextAt !== 0) ms = Math.min(ms, nextAt - now.wall)
  if (tables.fireAt !== 0) ms = Math.min(ms, Math.max(tables.fireAt - now.wall, tables.ticksMono - now.mono))
  return Math.max(0, ms)
}

/** True if a window ran dry while a session has room and more jobs wait on disk. */
function isStarving(tables: Tables): boolean {
  for (const lane of tables.needRefill) for (const group of lane.groups) if (group.underfilled.size > 0) return true
  return false
}
