/** How fast new jobs come in one by one. */
import { DURABILITIES, type Experiment } from './experiment.ts'
import { peerCells, peerOmissions } from './peerCells.ts'

const IN_FLIGHT = 100

export const enqueue: Experiment = {
  name: 'enqueue',
  what: `new jobs one by one, each call awaited, ${IN_FLIGHT} in flight; the limit inserts with its waiting index, in transactions of 1,000`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of the limit',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'turnSizeP50', 'commitP99Ms', 'rssPeakMb', 'fileBytesPerJob'],
  groups: (plan) => [
    [
      ...DURABILITIES.flatMap((durability) => [
        { subject: 'limit', label: durability, scenario: 'limitInsert', settings: { durability, jobs: plan.jobs } },
        {
          subject: 'millrace',
          label: durability,
          scenario: 'enqueue',
          settings: { durability, jobs: plan.jobs, inFlight: IN_FLIGHT },
          against: { subject: 'limit', label: durability },
        },
      ]),
      ...peerCells(plan, 'enqueue', { inFlight: IN_FLIGHT }),
    ],
  ],
  omissions: (plan) => peerOmissions(plan, 'enqueue'),
}
