/**
 * Schedules: when jobs come automatically, and which. The *tick* of a schedule is the time that the calendar or the interval names. It
 * fires at its tick, or up to `jitter` later. Ticks only grow: none fires twice. Times are milliseconds since 1970, 0 for never.
 */

/** The fate of a tick while the job of an earlier tick is not final. */
export type Overlap = 'skip' | 'queue' | 'cancel' | 'allow'

/** The fate of ticks that were missed. */
export type CatchUp = 'latest' | 'all' | 'none'

export const OVERLAPS: readonly Overlap[] = ['skip', 'queue', 'cancel', 'allow']

export const CATCH_UPS: readonly CatchUp[] = ['latest', 'all', 'none']

/** Either `cron` with its `timezone`, or `every`. */
export interface ScheduleSpec {
  readonly cron?: string
  readonly timezone?: string
  /** Milliseconds between two ticks. */
  readonly every?: number
  /** No tick before it; where `every` counts from. */
  readonly startAt?: number
  /** No tick after it. */
  readonly endAt?: number
  /** Each tick fires so many milliseconds late at most: how many follows from the schedule and the tick. */
  readonly jitter: number
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  /** A tick that could not fire for so many milliseconds is lost. */
  readonly catchUpWithin?: number
  /** It ends after so many jobs. */
  readonly maxRuns?: number
}

/** Reads cron expressions. Answers depend on what is asked alone. */
export interface Calendar {
  /**
   * The first tick after `after`; 0 where there is none.
   *
   * @throws Error that says what is wrong with the expression, or that the zone is not known
   */
  next(cron: string, timezone: string, after: number): number
}

export const DEFAULT_TIMEZONE = 'UTC'
