/** Whether it goes on like that. Measured when a length is given: `--sustained 10m`. */

import { IN_FLIGHT } from './endToEnd.ts'
import { DURABILITIES, type Experiment } from './experiment.ts'

export const sustained: Experiment = {
  name: 'sustained',
  what: 'whole jobs flat out for minutes, with the default retention: whether speed, file, WAL, memory and turns stay as they are',
  headline: 'jobsPerSecond',
  ratioTitle: '',
  once: true,
  columns: [
    'firstFifthPerSecond',
    'lastFifthPerSecond',
    'turnP99Ms',
    'turnP99MaxMs',
    'fileHalfMb',
    'fileMb',
    'walMaxMb',
    'rssHalfMb',
    'rssMb',
    'jobs',
    'keptJobs',
  ],
  groups: ({ sustainedSeconds }) =>
    sustainedSeconds === 0
      ? []
      : DURABILITIES.map((durability) => [
          {
            subject: 'millrace',
            label: durability,
            scenario: 'sustained',
            settings: { durability, seconds: sustainedSeconds, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT },
          },
        ]),
  omissions: ({ sustainedSeconds }) =>
    sustainedSeconds === 0 ? [{ subject: 'millrace', experiment: 'sustained', reason: 'asked for with --sustained 10m' }] : [],
}
