/**
 * Computes the ticks of cron expressions in time zones. On days when clocks change, each wall time fires once. A wall
 * time that is shown twice (clocks go back) fires the first time. A wall time that is skipped (clocks go forward) fires
 * at the moment of the change.
 */
import type { Calendar } from '@millrace/core'
import { nextMatch } from './pattern.ts'
import { zoneOf } from './zone.ts'

export const systemCalendar: Calendar = {
  next(cron, timezone, after) {
    const zone = zoneOf(timezone)
    const wall = nextMatch(cron, zone.shownUntil(after))
    return wall === undefined ? 0 : zone.firstShows(wall)
  },
}
