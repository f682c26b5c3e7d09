/** For the writer's thread, which needs nothing else of this package. */
export { systemCalendar } from './calendar/calendar.ts'
