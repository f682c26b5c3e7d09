/** What a busy queue does to the event loop of its host. */
import type { Settings } from '../measurement.ts'
import { IN_FLIGHT } from './endToEnd.ts'
import { DURABILITIES, type Experiment } from './experiment.ts'

const LOADS: readonly (readonly [label: string, load: Settings['load']])[] = [
  ['the host enqueues and handles flat out', 'host'],
  ['another thread does, through `engine.port()`', 'thread'],
]

export const eventLoop: Experiment = {
  name: 'eventLoop',
  what: `how late a timer of 1 ms of the host is while whole jobs go flat out, ${IN_FLIGHT} in flight; beside it the same timer with nothing to do`,
  headline: 'delayP99Ms',
  ratioTitle: '',
  columns: ['delayP50Ms', 'delayMaxMs', 'jobsPerSecond', 'mainUtilization'],
  groups: ({ jobs }) => [
    [
      { subject: 'host', label: 'nothing to do', scenario: 'host', settings: { load: 'none' } },
      ...DURABILITIES.flatMap((durability) =>
        LOADS.map(([label, load]) => ({
          subject: 'millrace',
          label: `${label}, ${durability}`,
          scenario: 'host',
          settings: { durability, load, jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT },
        })),
      ),
    ],
  ],
}
