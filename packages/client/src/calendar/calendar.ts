/**
 * Ticks of cron expressions in the zones of the world. One rule for the days on which clocks change: each time that they show fires
 * once. Shown twice (they go back), it fires the first time; skipped (they go forward), at the moment of the change.
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
