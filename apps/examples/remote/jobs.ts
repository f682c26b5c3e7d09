/** What the processes have in common: where they meet, and the job. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob } from '@millrace/remote'

/** For the database and the socket. */
export const FOLDER = process.env['EXAMPLE_FOLDER'] ?? join(tmpdir(), 'millrace-example')
export const URL = `unix:${join(FOLDER, 'run', 'queue.sock')}`

/** Silent for longer than `heartbeatTimeout`, a worker loses it to another. */
export const square = defineJob<number>({ name: 'square', heartbeatTimeout: '5s', maxAttempts: 10 })
