/** How fast whole jobs go through. */
import { DURABILITIES, type Experiment } from './experiment.ts'
import { peerCells, peerOmissions } from './peerCells.ts'

export const IN_FLIGHT = 500

export const endToEnd: Experiment = {
  name: 'endToEnd',
  what: `whole jobs: each enqueue awaited, ${IN_FLIGHT} in flight, a worker of concurrency ${IN_FLIGHT} in the same process, until the last completion is durable; the limit inserts, starts and completes in transactions of 1,000, without an index`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of the limit',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'processMicrosPerJob', 'turnSizeP50', 'commitP99Ms', 'rssPeakMb', 'fileBytesPerJob'],
  groups: (plan) => [
    [
      ...DURABILITIES.flatMap((durability) => [
        { subject: 'limit', label: durability, scenario: 'limit', settings: { durability, jobs: plan.jobs } },
        {
          subject: 'millrace',
          label: durability,
          scenario: 'endToEnd',
          settings: { durability, jobs: plan.jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT },
          against: { subject: 'limit', label: durability },
        },
      ]),
      ...peerCells(plan, 'endToEnd', { inFlight: IN_FLIGHT, concurrency: IN_FLIGHT }),
    ],
  ],
  omissions: (plan) => peerOmissions(plan, 'endToEnd'),
}
