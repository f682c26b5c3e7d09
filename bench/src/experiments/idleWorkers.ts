/** What a thousand workers cost that wait in another process: memory of the engine's, and its speed. */
import { IN_FLIGHT } from './endToEnd.ts'
import type { Experiment } from './experiment.ts'

const WORKERS = 1_000

export const idleWorkers: Experiment = {
  name: 'idleWorkers',
  what: `whole jobs in one process, ${IN_FLIGHT} in flight, while ${WORKERS} workers of another process wait for jobs of another name, each over a Unix socket of its own, as a share of the same without them, in turns in one process; normal`,
  headline: 'ofNone',
  ratioTitle: '',
  columns: [
    'jobsPerSecond',
    'jobsPerSecondAlone',
    'idleWorkersMb',
    'mainMicrosPerJob',
    'mainMicrosPerJobAlone',
    'writerMicrosPerJob',
    'writerMicrosPerJobAlone',
    'rssPeakMb',
  ],
  groups: ({ jobs }) => [
    [
      {
        subject: 'millrace',
        label: `${WORKERS} idle workers`,
        scenario: 'idleWorkers',
        settings: {
          durability: 'normal',
          jobs,
          inFlight: IN_FLIGHT,
          concurrency: IN_FLIGHT,
          workers: WORKERS,
        },
      },
    ],
  ],
}
