/** How fast a backlog is worked off. */
import { DURABILITIES, type Experiment } from './experiment.ts'
import { peerCells, peerOmissions } from './peerCells.ts'

const CONCURRENCY = 500

export const drain: Experiment = {
  name: 'drain',
  what: `jobs that wait already, a worker of concurrency ${CONCURRENCY}, until the last completion is durable; the limit claims 1,000 by its waiting index and completes them`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of the limit',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'commitP99Ms', 'rssPeakMb'],
  groups: (plan) => [
    [
      ...DURABILITIES.flatMap((durability) => [
        { subject: 'limit', label: durability, scenario: 'limitDrain', settings: { durability, jobs: plan.jobs } },
        {
          subject: 'millrace',
          label: durability,
          scenario: 'drain',
          settings: { durability, jobs: plan.jobs, concurrency: CONCURRENCY, backlog: 'own' as const, backlogJobs: plan.jobs },
          against: { subject: 'limit', label: durability },
        },
      ]),
      ...peerCells(plan, 'drain', { concurrency: CONCURRENCY }),
    ],
  ],
  omissions: (plan) => peerOmissions(plan, 'drain'),
}
