/** Exports for the other packages of this workspace. Names can change in any release. */

export { systemCalendar, systemClock, systemRandom } from './clock.ts'
export { fileStore } from './file/fileStore.ts'
export { InThreadEngine, type InThreadOptions } from './ports/inThread.ts'
export { type OwnedStore, runWriter, type WriterModule } from './writer/runWriter.ts'
export { WriterThread } from './writer/thread.ts'
