/** Has the file, and runs no job itself. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine, stopOnSignals } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { FOLDER, URL } from './jobs.ts'

mkdirSync(FOLDER, { recursive: true })
const engine = await openEngine({ file: join(FOLDER, 'jobs.db'), waitForOwner: '5s' })
const server = await listen(engine, URL)
console.log(`listening at ${server.url}`)

// Closes the server too.
stopOnSignals(engine)
