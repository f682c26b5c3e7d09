/** What each feature costs the jobs that use it. */
import { FEATURES } from '../features.ts'
import { IN_FLIGHT } from './endToEnd.ts'
import type { Experiment } from './experiment.ts'

export const features: Experiment = {
  name: 'features',
  what: `whole jobs in one process, ${IN_FLIGHT} in flight, each run with one feature in use, beside none; normal`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of none',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'turnSizeP50', 'commitP99Ms', 'rssPeakMb', 'fileBytesPerJob'],
  groups: ({ jobs }) => [
    Object.keys(FEATURES).map((feature) => ({
      subject: 'millrace',
      label: feature,
      scenario: 'features',
      settings: { durability: 'normal', jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT, feature },
      ...(feature !== 'none' && { against: { subject: 'millrace', label: 'none' } }),
    })),
  ],
}
