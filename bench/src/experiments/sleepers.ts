/** What sleeping jobs cost others, and how soon those that are due resume. */
import { IN_FLIGHT } from './endToEnd.ts'
import type { Cell, Experiment } from './experiment.ts'

const DUE = 30_000

export const sleepers: Experiment = {
  name: 'sleepers',
  what: `whole jobs as in endToEnd (\`normal\`) through a file of sleeping jobs, each with a result, and what opening it takes; and ${DUE.toLocaleString('en')} that sleep until the same moment, from then until the last handler has resumed`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of none asleep',
  columns: ['resumedMs', 'openMs', 'rssOpenMb', 'rssPeakMb', 'writerMicrosPerJob', 'commitP99Ms', 'fileBytesPerJob'],
  groups: ({ jobs, growthMax }) => {
    const settings = { durability: 'normal' as const, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT }
    const asleep = { backlog: 'asleep' as const, backlogJobs: growthMax }
    const label = `${growthMax.toLocaleString('en')} asleep`
    const pair = (what: string, scenario: string, own: Cell['settings']): Cell[] => {
      const none = { subject: 'millrace', label: `${what}, none asleep` }
      const with_ = {
        subject: 'millrace',
        label: `${what}, ${label}`,
        scenario,
        settings: { ...settings, ...own, ...asleep },
        against: none,
      }
      return [{ ...none, scenario, settings: { ...settings, ...own } }, ...(growthMax > 0 ? [with_] : [])]
    }
    return [[...pair('whole jobs', 'endToEnd', { jobs }), ...pair('due at once', 'sleepers', { jobs: Math.min(DUE, jobs) })]]
  },
}
