/** Sentences of the groups of failures. */
import { sum } from '../../chart/paths.ts'
import { count, counted } from '../../format/numbers.ts'

export const ERRORS_TEXT = {
  filter: 'Filter errors',
  hint: 'queue: name: or a part of the error, the message, the queue or the name',
  order: 'Order',
  orders: { newest: 'Last seen', most: 'Most', first: 'First seen' },
  list: 'Errors',
  columns: { error: 'Error', where: 'Where', trend: 'Last 24 h', first: 'First seen', runs: 'Runs', last: 'Last seen' },
  isNew: 'new',
  where: (queue: string, name: string) => `${queue} / ${name}`,
  runs: (runs: number) => count(runs),
  trend: (trend: readonly number[]) => `${counted(sum(trend), 'run')} in 24 h, at most ${count(Math.max(0, ...trend))} in an hour`,
  none: { title: 'No errors', text: 'No run has failed in the last 30 days.' },
  noMatch: { title: 'No errors here', text: 'No error matches this filter.' },
  peek: 'Error',
  said: (runs: number, since: string) => `${counted(runs, 'run')} failed like this since ${since}.`,
  noMessage: 'The last job of this group was deleted, and its message with it.',
  ofLast: 'This is the error of the last job in this group. The errors of its other jobs may differ in details.',
  showJobs: 'Show failed jobs',
  retry: (jobs: string) => `Retry ${jobs}…`,
  delete: (jobs: string) => `Delete ${jobs}…`,
  pause: (name: string) => `Pause ${name}`,
  resume: (name: string) => `Resume ${name}`,
  facts: { queue: 'Queue', name: 'Job name', runs: 'Failed runs', first: 'First seen', last: 'Last seen', job: 'Last job' },
  keys: { group: 'Errors', next: 'Next group', previous: 'Previous group', peek: 'Open the group', filter: 'Filter' },
} as const
