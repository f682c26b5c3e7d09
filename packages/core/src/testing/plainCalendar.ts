/** Cron expressions of one kind: every so many minutes, in no zone. What decisions make of ticks does not depend on how those are found. */
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
