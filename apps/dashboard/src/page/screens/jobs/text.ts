/** Sentences of the list of jobs. */
import { count, counted } from '../../format/numbers.ts'

export const JOBS_TEXT = {
  tabs: 'Jobs by state',
  all: 'All',
  list: 'Jobs',
  query: 'Filter jobs',
  hint: (fields: readonly string[]) => `${fields.map((field) => `${field}:`).join(' ')} or a text that the jobs contain`,
  suggestions: 'Suggestions',
  remove: (field: string, value: string) => `Remove ${field} ${value}`,
  clear: 'Clear the filter',
  found: (jobs: number, more: boolean) => (more ? `${count(jobs)} or more jobs` : counted(jobs, 'job')),
  columns: {
    select: 'Selected',
    job: 'Job',
    queue: 'Queue',
    error: 'Error',
    worker: 'Worker',
    progress: 'Progress',
    data: 'Data',
    runs: 'Runs',
    took: 'Took',
    running: 'Runs for',
    time: {
      all: 'When',
      waiting: 'Waits since',
      active: 'Started',
      retrying: 'Next run',
      scheduled: 'Due',
      blocked: 'Enqueued',
      failed: 'Failed',
      completed: 'Completed',
      cancelled: 'Cancelled',
    },
  },
  runs: (attempt: number, most: number) => (Number.isFinite(most) ? `${count(attempt)} / ${count(most)}` : count(attempt)),
  percent: (fraction: number) => `${Math.round(fraction * 100)} %`,
  hidden: 'hidden',
  peek: 'Job',
  open: 'Open',
  gone: 'This job is gone: it was deleted, or its retention has ended.',
  none: {
    title: 'No jobs here',
    text: 'No job matches. Jobs that have ended are kept for the time that their retention says.',
  },
  more: 'Show more',
  atMost: (most: string) => `The first ${most} are shown. Narrow the filter to see others.`,
  behind: 'Newer jobs have come',
  showNewest: 'Show the newest',
  searching: (scanned: number, all: number, found: number) =>
    `Looked at ${count(Math.min(scanned, all))} of ${count(all)}, ${count(found)} found so far`,
  stop: 'Stop',
  goOn: 'Search on',
  stopped: (scanned: number, all: number, found: number) =>
    `Stopped: looked at ${count(Math.min(scanned, all))} of ${count(all)}, ${count(found)} found so far`,
  loading: (found: number) => `Loading more, after ${counted(found, 'job')}…`,
  refused: (message: string) => `The list could not be loaded: ${message}.`,
  wrongTime: (name: string) => `${name}: takes 10m, 1h, 7d, 03:20, 2025-11-23 or 2025-11-23T03:20`,
  fault: (word: string, meant: string | undefined) => {
    if (word === `${meant}:`) return `${word} needs a value`
    const isText = `No term, but text: ${word}`
    if (meant === 'state') return `${isText}. state: takes the name of a tab, such as failed`
    return meant === undefined ? isText : `${isText}. Did you mean ${meant}:?`
  },
  select: (name: string, id: string) => `Select ${name} ${id}`,
  selectAll: 'Select all that match',
  bulk: {
    label: 'Selected jobs',
    some: (jobs: string) => `${jobs} selected`,
    all: (jobs: string | undefined) => (jobs === undefined ? 'All' : `${jobs}` === '1' ? 'The job' : `All ${jobs} jobs`),
    scope: (isFinished: boolean, time: string) => `that match, ${isFinished ? 'ended' : 'enqueued'} before ${time}`,
    selected: 'selected jobs',
    matching: (state: string | undefined, query: string) =>
      `${state === undefined ? '' : `${state.toLowerCase()} `}jobs${query === '' ? '' : ` that match ${query}`}`,
    retry: 'Retry those selected',
    clear: 'Clear the selection',
    act: {
      retry: (jobs: string) => `Retry ${jobs}…`,
      cancel: (jobs: string) => `Cancel ${jobs}…`,
      delete: (jobs: string) => `Delete ${jobs}…`,
    },
  },
  keys: {
    group: 'Jobs',
    select: 'Select the row',
    range: 'Select up to this row',
    all: 'Select all that match',
    next: 'Next row',
    previous: 'Previous row',
    peek: 'Peek',
    open: 'Open',
    focus: 'Filter',
  },
} as const
