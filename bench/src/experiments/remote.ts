/**
 * How fast whole jobs go through when their workers live in other processes. While a completion is on its way back the next calls
 * of `enqueue` are answered already: with no more room than calls in flight, their jobs wait in the file first, which costs the
 * writer about as much again as the job itself. So it is measured with room to spare too.
 */
import { IN_FLIGHT } from './endToEnd.ts'
import type { Experiment } from './experiment.ts'

const WORKERS = [1, 2, 4]
const ROOM = [IN_FLIGHT, 4 * IN_FLIGHT]

export const remote: Experiment = {
  name: 'remote',
  what: `whole jobs with the workers in other processes, over a Unix socket: the engine's process enqueues, each call awaited, ${IN_FLIGHT} in flight; a concurrency of ${ROOM.join(' or ')} is shared out among them; normal`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of in process',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'workersMicrosPerJob', 'turnSizeP50', 'commitP99Ms', 'rssPeakMb'],
  groups: (plan) => {
    const settings = { durability: 'normal', jobs: plan.jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT } as const
    return [
      [
        { subject: 'millrace', label: 'in process', scenario: 'endToEnd', settings },
        ...WORKERS.flatMap((workers) =>
          ROOM.map((concurrency) => ({
            subject: 'millrace',
            label: `${workers} worker ${workers === 1 ? 'process' : 'processes'}, concurrency ${concurrency}`,
            scenario: 'remote',
            settings: { ...settings, concurrency, workers },
            against: { subject: 'millrace', label: 'in process' },
          })),
        ),
      ],
    ]
  },
}
