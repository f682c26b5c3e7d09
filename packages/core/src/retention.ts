/** How long finished jobs and the journal are kept. Per queue; a job goes as soon as either bound is passed. */

export interface Keep {
  /** Milliseconds since it finished; 0 deletes at once. */
  readonly ageMs: number
  /** The number of the newest jobs that are kept. */
  readonly count: number
}

export interface Retention {
  readonly completed: Keep
  readonly failed: Keep
  readonly cancelled: Keep
  readonly journal: { readonly ageMs: number; readonly bytes: number }
}

const DAY_MS = 86_400_000

export const DEFAULT_RETENTION: Retention = Object.freeze({
  completed: { ageMs: 7 * DAY_MS, count: 1_000_000 },
  failed: { ageMs: 30 * DAY_MS, count: 1_000_000 },
  cancelled: { ageMs: 7 * DAY_MS, count: 1_000_000 },
  journal: { ageMs: 7 * DAY_MS, bytes: 2 ** 30 },
})

/** True if finished jobs of that state are not kept at all. */
export function keepsNone(keep: Keep): boolean {
  return keep.ageMs === 0 || keep.count === 0
}

/** The event numbers that the journal keeps; 0 for none. */
export interface JournalExtent {
  /** The oldest event that is kept. */
  readonly firstEvent: number
  /** The time of that event. */
  readonly firstAt: number
  /** The last event of the turn that it is of: a turn's events go together. */
  readonly firstTurnEnd: number
  /** The last event that happened before the time asked for. */
  readonly lastEvent: number
  readonly bytes: number
}
