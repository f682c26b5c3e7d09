/** Tells what belongs to the demo itself: the queue's files, and the folder in which the dashboard builds its page when it is opened. */
import { fileURLToPath } from 'node:url'
import { queueFileTest } from './queueFile.ts'
import type { IsOwn } from './scanFolder.ts'

/** The default folder of a run has it: files that come and go with the page would be failures of the run. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url))

export function ownFilesTest(file: string): IsOwn {
  const isQueueFile = queueFileTest(file)
  return (folder, name) => isQueueFile(folder, name) || (folder === CACHE && name === 'millrace')
}
