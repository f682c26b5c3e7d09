/** The places where the server and its workers meet. */
import { fileURLToPath } from 'node:url'

const project = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

export const FILE = process.env['JOBS_FILE'] ?? project('jobs.db')
/** Only your user can connect to it. */
export const QUEUE = process.env['JOBS_SOCKET'] ?? (process.platform === 'win32' ? 'pipe:millrace-app' : `unix:${project('queue.sock')}`)
