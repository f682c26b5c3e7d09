/** Exports the calendar alone for the writer thread, which needs nothing else of this package. */
export { systemCalendar } from './calendar/calendar.ts'
