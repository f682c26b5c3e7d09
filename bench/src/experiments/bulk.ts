/** How fast new jobs come in by the thousand. */
import { DURABILITIES, type Experiment } from './experiment.ts'
import { peerCells, peerOmissions } from './peerCells.ts'

const LOT = 1_000
const IN_FLIGHT = 4

export const bulk: Experiment = {
  name: 'bulk',
  what: `\`enqueueMany\` of ${LOT.toLocaleString('en')}, ${IN_FLIGHT} calls in flight; the limit inserts with its waiting index, in transactions of 1,000`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of the limit',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'commitP99Ms', 'rssPeakMb', 'fileBytesPerJob'],
  groups: (plan) => [
    [
      ...DURABILITIES.flatMap((durability) => [
        { subject: 'limit', label: durability, scenario: 'limitInsert', settings: { durability, jobs: plan.jobs } },
        {
          subject: 'millrace',
          label: durability,
          scenario: 'bulk',
          settings: { durability, jobs: plan.jobs, inFlight: IN_FLIGHT, lot: LOT },
          against: { subject: 'limit', label: durability },
        },
      ]),
      ...peerCells(plan, 'bulk', { inFlight: IN_FLIGHT, lot: LOT }),
    ],
  ],
  omissions: (plan) => peerOmissions(plan, 'bulk'),
}
