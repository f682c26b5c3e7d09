/** Narrows a filter for failed jobs of one kind to the lanes and the time in which the failures of that kind were seen. */
import { FAILED, type ListFilter } from '@millrace/core'
import type { Database } from '../driver.ts'

export interface Narrowed {
  readonly filter: ListFilter
  readonly laneIds: readonly number[]
}

type Group = [lane: number, firstAt: number, lastAt: number]

/** Kinds that are not kept any more narrow nothing. */
export function prepareNarrow(db: Database): (filter: ListFilter, laneIds: readonly number[]) => Narrowed {
  const groups = db.prepare('SELECT lane, first_at, last_at FROM failure WHERE fingerprint = ?').raw()
  return (filter, laneIds) => {
    const { state, fingerprint, finishedAfter = 0, finishedBefore = Number.MAX_SAFE_INTEGER } = filter
    if (state !== FAILED || fingerprint === undefined) return { filter, laneIds }
    const found = groups.all(fingerprint) as Group[]
    if (found.length === 0) return { filter, laneIds }
    const lanes = new Set(found.map(([lane]) => lane))
    const after = Math.max(finishedAfter, Math.min(...found.map(([, firstAt]) => firstAt)))
    const before = Math.min(finishedBefore, Math.max(...found.map(([, , lastAt]) => lastAt)) + 1)
    return { filter: { ...filter, finishedAfter: after, finishedBefore: before }, laneIds: laneIds.filter((id) => lanes.has(id)) }
  }
}
