/** A calendar for one kind of cron expression: every so many minutes, in no zone. Decisions do not depend on how ticks are found. */
import type { Calendar } from '../schedule.ts'

export const plainCalendar: Calendar = {
  next(cron, timezone, after) {
    if (timezone !== 'UTC') throw new Error(`the zone ${timezone} is not known`)
    if (cron === 'never') return 0
    const minutes = /^\*\/(\d+) \* \* \* \*$/.exec(cron)?.[1]
    if (minutes === undefined) throw new Error('it is not of the form */n * * * *')
    const every = Number(minutes) * 60_000
    return (Math.floor(after / every) + 1) * every
  },
}
