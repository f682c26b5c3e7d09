/** How fast handlers remember. */
import { IN_FLIGHT } from './endToEnd.ts'
import { DURABILITIES, type Experiment } from './experiment.ts'

const STEPS = 10

/** The labels of the rows with one job at a time. */
export const ALONE = { normal: 'normal, one at a time', full: 'full, one at a time' } as const

export const steps: Experiment = {
  name: 'steps',
  what: `jobs of ${STEPS} steps, one after another, each with a result of 100 bytes: ${IN_FLIGHT} in flight, until the last completion is durable; the limit inserts, starts, records and completes in transactions of 1,000; p50 and p99 are from the call of step to its result`,
  headline: 'stepsPerSecond',
  ratioTitle: 'of the limit',
  columns: [
    'p50Micros',
    'p99Micros',
    'mainMicrosPerJob',
    'writerMicrosPerJob',
    'turnSizeP50',
    'commitP99Ms',
    'rssPeakMb',
    'fileBytesPerJob',
  ],
  groups: ({ jobs, idleJobs }) => {
    const settings = { jobs: Math.ceil(jobs / STEPS), stepsPerJob: STEPS }
    // 5,000 steps, so that most run in compiled code.
    const alone = { jobs: Math.ceil(idleJobs / 4), stepsPerJob: STEPS, inFlight: 1, concurrency: 1 }
    return [
      [
        ...DURABILITIES.flatMap((durability) => [
          { subject: 'limit', label: durability, scenario: 'limitSteps', settings: { durability, ...settings } },
          {
            subject: 'millrace',
            label: durability,
            scenario: 'steps',
            settings: { durability, ...settings, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT },
            against: { subject: 'limit', label: durability },
          },
        ]),
        ...DURABILITIES.map((durability) => ({
          subject: 'millrace',
          label: ALONE[durability],
          scenario: 'steps',
          settings: { durability, ...alone },
        })),
        { subject: 'one sync', label: 'full', scenario: 'fsync', settings: { jobs: idleJobs } },
      ],
    ]
  },
}
