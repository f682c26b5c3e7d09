/** How soon a job starts whose key has room, behind those of a key that has none. */
import type { Experiment } from './experiment.ts'

const BACKLOG = 300_000

export const greedy: Experiment = {
  name: 'greedy',
  what: `from the start of a worker of concurrency 10 until a job starts that waits behind ${BACKLOG.toLocaleString('en')} of another key, of which two may run at a time`,
  headline: 'freeStartsMs',
  ratioTitle: '',
  columns: ['rssMb'],
  groups: ({ jobs }) => [
    [
      {
        subject: 'millrace',
        label: 'normal',
        scenario: 'greedy',
        // With `--quick` fewer.
        settings: { durability: 'normal', backlogJobs: Math.min(BACKLOG, 2 * jobs), concurrency: 10 },
      },
    ],
  ],
}
