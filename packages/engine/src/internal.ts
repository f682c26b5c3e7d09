/** Exports for the other packages of this workspace. Names can change in any release. */

export { systemCalendar, systemClock, systemRandom } from './clock.ts'
export { InThreadEngine, type InThreadOptions } from './ports/inThread.ts'
export type { WriterOptions } from './writer/messages.ts'
export { WriterThread } from './writer/thread.ts'
