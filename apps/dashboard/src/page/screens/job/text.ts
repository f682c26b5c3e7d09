/** Sentences of the page of one job. */
import { count, counted } from '../../format/numbers.ts'

export const JOB_PAGE_TEXT = {
  gone: 'This job is gone: it was deleted, or its retention has ended.',
  state: { failed: 'Failed permanently', cancelling: 'Being cancelled' },
  copyAsCurl: 'Copy as curl',
  more: 'More actions',
  back: 'Back to the list',
  timeline: {
    title: 'Timeline',
    total: (total: string) => `${total} in total`,
    soFar: (total: string) => `${total} so far`,
    ran: (ran: string) => `${ran} of it run`,
    waited: (time: string) => `waited ${time}`,
    waits: (time: string) => `waits ${time}`,
    due: (time: string) => `scheduled ${time}`,
    backoff: (time: string) => `backoff ${time}`,
    label: (parts: readonly string[]) => `Timeline: ${parts.join(', ')}`,
    kinds: { ok: 'completed in', bad: 'failed after', running: 'runs for' },
  },
  runs: {
    title: 'Runs',
    attempts: (attempt: number, most: number) =>
      Number.isFinite(most) ? `${count(attempt)} of ${counted(most, 'attempt')}` : counted(attempt, 'attempt'),
    run: (run: number) => `Run ${count(run)}`,
    notRun: 'Not run',
    none: 'It has not run yet.',
    group: 'Show the group',
    same: (runs: number) => `${counted(runs, 'run')} failed like this`,
    more: (runs: number) => `${count(runs)} earlier`,
    noLog: 'It logged nothing.',
    log: 'Log',
    goesOn: 'running',
    completed: 'completed',
    moreLines: (lines: number) => `${counted(lines, 'earlier line')}`,
  },
  flow: {
    title: 'Flow',
    open: 'Open the flow',
    part: (total: number, failed: number, isWhole: boolean) =>
      `one of ${count(total)}${isWhole ? '' : ' or more'} jobs${failed > 0 ? `, ${count(failed)} failed` : ''}`,
    more: (jobs: number) => `${count(jobs)} more`,
    this: 'this job',
  },
  properties: 'Properties',
  meta: 'Meta',
  progressValue: 'Progress',
  change: {
    action: 'Change…',
    title: (name: string) => `Change ${name}`,
    priority: 'Priority',
    priorityNote: 'Higher goes first.',
    runAt: 'Run at',
    save: 'Save',
    done: (name: string) => `${name} is changed.`,
    wrong: 'A priority is a whole number.',
  },
} as const
