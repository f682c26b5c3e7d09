/** What each feature costs the jobs that use it. */
import { IN_FLIGHT } from './endToEnd.ts'
import type { Experiment } from './experiment.ts'

export const features: Experiment = {
  name: 'features',
  what: `whole jobs in one process, ${IN_FLIGHT} in flight, with one feature in use, as a share of the same without in turns in one process; normal`,
  headline: 'ofNone',
  ratioTitle: '',
  columns: [
    'jobsPerSecond',
    'jobsPerSecondAlone',
    'mainMicrosPerJob',
    'mainMicrosPerJobAlone',
    'writerMicrosPerJob',
    'writerMicrosPerJobAlone',
    'turnSizeP50',
    'commitP99Ms',
    'rssPeakMb',
    'fileBytesPerJob',
  ],
  groups: ({ jobs, features: names }) => [
    names.map((feature) => ({
      subject: 'millrace',
      label: feature,
      scenario: 'features',
      settings: { durability: 'normal', jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT, feature },
    })),
  ],
}
