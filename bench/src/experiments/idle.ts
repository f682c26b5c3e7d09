/** How soon a lone job starts. */
import { DURABILITIES, type Experiment } from './experiment.ts'
import { peerCells, peerOmissions } from './peerCells.ts'

export const idle: Experiment = {
  name: 'idle',
  what: 'one job after another on an idle engine: from the call of enqueue to the start of the handler; beside it what one sync of this disk takes',
  headline: 'p50Micros',
  ratioTitle: 'times Millrace',
  columns: ['p99Micros'],
  groups: (plan) => [
    [
      ...DURABILITIES.map((durability) => ({
        subject: 'millrace',
        label: durability,
        scenario: 'idle',
        settings: { durability, jobs: plan.idleJobs, inFlight: 1, concurrency: 1 },
      })),
      { subject: 'one sync', label: 'full', scenario: 'fsync', settings: { jobs: plan.idleJobs } },
      ...peerCells(plan, 'idle', { inFlight: 1, concurrency: 1 }),
    ],
  ],
  omissions: (plan) => peerOmissions(plan, 'idle'),
}
