/** What a backlog costs those who do not wait in it. */
import type { BacklogShape } from '../measurement.ts'
import { IN_FLIGHT } from './endToEnd.ts'
import type { Cell, Experiment } from './experiment.ts'

const SIZES = [100_000, 1_000_000, 10_000_000]

export const SHAPES: Readonly<Record<Exclude<BacklogShape, 'none' | 'asleep' | 'own'>, string>> = {
  waiting: 'waiting, of another name',
  scheduled: 'scheduled for next year, of another name',
  behind: 'waiting in the same lane, at a lower priority',
  names: 'waiting, spread over 50,000 names',
}

/**
 * Behind, in the same lane: the worker would take the backlog whenever it has room, so more jobs are in flight than it takes, and
 * one of the measured is nearly always first in line. With an empty file the same.
 */
const BEHIND = { inFlight: 1_000, concurrency: 250 }
const BESIDE = { inFlight: IN_FLIGHT, concurrency: IN_FLIGHT }

export const growth: Experiment = {
  name: 'growth',
  what: 'whole jobs as above (`normal`) through a file that holds a backlog, and what opening it takes in time and memory',
  headline: 'jobsPerSecond',
  ratioTitle: 'of an empty file',
  columns: ['openMs', 'rssOpenMb', 'rssPeakMb', 'writerMicrosPerJob', 'commitP99Ms'],
  groups: ({ jobs, growthMax }) =>
    (Object.keys(SHAPES) as (keyof typeof SHAPES)[]).map((shape) => {
      const settings = { durability: 'normal' as const, jobs, ...(shape === 'behind' ? BEHIND : BESIDE) }
      const empty = { subject: 'millrace', label: `nothing (beside: ${SHAPES[shape]})` }
      const full = sizes(growthMax).map(
        (size): Cell => ({
          subject: 'millrace',
          label: `${size.toLocaleString('en')} ${SHAPES[shape]}`,
          scenario: 'endToEnd',
          settings: { ...settings, backlog: shape, backlogJobs: size },
          against: empty,
        }),
      )
      return [{ ...empty, scenario: 'endToEnd', settings }, ...full]
    }),
}

/** In steps of ten up to the largest that was asked for. */
function sizes(max: number): number[] {
  return [...SIZES.filter((size) => size < max), ...(max > 0 ? [max] : [])]
}
