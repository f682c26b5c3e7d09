/** What a thousand workers cost that wait in another process: memory of the engine's, and its speed. */
import { IN_FLIGHT } from './endToEnd.ts'
import type { Experiment } from './experiment.ts'

const WORKERS = 1_000

export const idleWorkers: Experiment = {
  name: 'idleWorkers',
  what: `whole jobs in one process, ${IN_FLIGHT} in flight, while ${WORKERS} workers of another process wait for jobs of another name, each over a Unix socket of its own; normal`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of none',
  columns: ['idleWorkersMb', 'mainMicrosPerJob', 'writerMicrosPerJob', 'turnSizeP50', 'commitP99Ms', 'rssPeakMb'],
  groups: (plan) => {
    const settings = { durability: 'normal', jobs: plan.jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT } as const
    return [
      [
        { subject: 'millrace', label: 'no others', scenario: 'idleWorkers', settings: { ...settings, workers: 0 } },
        {
          subject: 'millrace',
          label: `${WORKERS} idle workers`,
          scenario: 'idleWorkers',
          settings: { ...settings, workers: WORKERS },
          against: { subject: 'millrace', label: 'no others' },
        },
      ],
    ]
  },
}
