/** How soon a job with many results is where it has been. */
import type { Experiment } from './experiment.ts'

const STEPS = 1_000
const JOBS = 20

export const resume: Experiment = {
  name: 'resume',
  what: `a job with ${STEPS.toLocaleString('en')} recorded results wakes: from the start of its handler to the function of the next step; normal`,
  headline: 'resumedMs',
  ratioTitle: '',
  columns: ['resumedP99Ms'],
  groups: ({ idleJobs }) => [
    [
      {
        subject: 'millrace',
        label: `${STEPS.toLocaleString('en')} results`,
        scenario: 'resume',
        // With `--quick` fewer.
        settings: { durability: 'normal', jobs: Math.min(JOBS, Math.ceil(idleJobs / 50)), stepsPerJob: STEPS, inFlight: 1, concurrency: 1 },
      },
    ],
  ],
}
