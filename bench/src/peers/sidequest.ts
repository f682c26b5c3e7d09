/**
 * sidequest on SQLite: in this process, inline, in WAL. Its packages are no dependency of this workspace: they bring a second
 * better-sqlite3 whose install script the workspace refuses.
 */
import { fileURLToPath } from 'node:url'
import type { Durability } from '../measurement.ts'
import type { Peer } from './peer.ts'
import { type JobBase, job } from './sidequestJob.ts'

/** What of sidequest is used here. */
interface Sidequest {
  readonly Job: JobBase
  readonly Sidequest: {
    configure(config: object): Promise<unknown>
    start(config: object): Promise<void>
    stop(): Promise<void>
    build(job: unknown): { enqueue(...args: unknown[]): Promise<unknown> }
    readonly job: { count(filter?: object): Promise<unknown>; countJobs?(): Promise<unknown> }
  }
}

interface Connection {
  pragma(text: string): unknown
}

const POLL_MS = 1

export const sidequest: Peer = {
  name: 'sidequest',
  packages: ['sidequest', '@sidequest/sqlite-backend'],
  server: undefined,
  classes: ['full', 'normal'],
  tasks: ['enqueue', 'drain', 'endToEnd', 'idle'],
  without: { bulk: 'it has no call for many jobs' },
  lacks: { report: 'its jobs have no log and no progress' },
  jobsMax: 2_000,
  settings: (durability) => `SQLite WAL, ${durability.toUpperCase()}, inline in the same process, polls every ${POLL_MS} ms`,
  open: async ({ file, durability, concurrency, load }) => {
    const { Sidequest, Job } = await load<Sidequest>('sidequest')
    job.base = Job
    const { NoopJob } = await import('./sidequestJobs.ts')
    const config = configOf(file, durability, concurrency)
    await Sidequest.configure(config)
    return {
      enqueue: (payload) => Sidequest.build(NoopJob).enqueue(payload),
      work: async (handle) => {
        job.handle = handle
        await Sidequest.start(config)
        return { stop: () => Sidequest.stop() }
      },
      close: () => Sidequest.stop(),
    }
  },
}

function configOf(file: string, durability: Durability, concurrency: number): object {
  const afterCreate = (connection: Connection, done: (error: Error | null, connection: Connection) => void) => {
    connection.pragma('journal_mode = WAL')
    connection.pragma(`synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
    done(null, connection)
  }
  return {
    backend: { driver: '@sidequest/sqlite-backend', config: { connection: { filename: file }, pool: { min: 1, max: 1, afterCreate } } },
    queues: [{ name: 'default', concurrency }],
    maxConcurrentJobs: concurrency,
    fork: false,
    runner: 'inline',
    manualJobResolution: true,
    jobsFilePath: fileURLToPath(new URL('./sidequestJobs.ts', import.meta.url)),
    jobPollingInterval: POLL_MS,
    gracefulShutdown: false,
    releaseStaleJobsIntervalMin: false,
    cleanupFinishedJobsIntervalMin: false,
    logger: { level: 'error' },
    dashboard: { enabled: false },
  }
}
