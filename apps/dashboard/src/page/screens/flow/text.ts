/** The sentences of the screens Flows and Flow. */
import { count, counted } from '../../format/numbers.ts'

export const text = {
  state: 'State',
  states: { '': 'All', running: 'Running', failed: 'Failed', completed: 'Completed', cancelled: 'Cancelled' },
  empty: { title: 'No flows yet', text: 'A flow is a set of jobs that wait for one another. It is listed while one that waits is kept.' },
  none: { title: 'No flows here', text: 'No flow that is kept is in this state.' },
  partial: { title: 'None so far', text: 'No flow among those looked at is in this state. Older flows may be.' },
  newest: 'Newest flows',
  older: 'Older flows',
  title: (id: string) => `Flow ${id}`,
  missing: (id: string) => `There is no flow ${id}, or all of its jobs are deleted.`,
  graph: (jobs: number, layers: number) => `${counted(jobs, 'job')} in ${counted(layers, 'layer')}: each waits for those to its left`,
  job: (ref: string, name: string, state: string) => `${ref}: ${name}, ${state}`,
  many: (shown: number) => `${counted(shown, 'job')}: too many to draw.`,
  next: 'Next page',
  columns: {
    ...{ ref: 'Ref', job: 'Job', state: 'State', queue: 'Queue', waits: 'Waits for', ended: 'Ended' },
    ...{ flow: 'Flow', jobs: 'Jobs', created: 'Created' },
  },
  beside: 'Job',
  facts: {
    job: 'Job',
    queue: 'Queue',
    attempt: 'Attempts',
    started: 'Started',
    ended: 'Ended',
    due: 'Due',
    waits: 'Waits for',
    onFailure: 'If one of them fails',
  },
  onFailure: {
    fail: 'it fails, too',
    continue: 'it runs',
    ignore: 'it runs without it',
    cancel: 'it is cancelled',
    run: 'it runs at once, and only then',
  } as Readonly<Record<string, string>>,
  open: 'Open the job',
  told: { completed: 'completed', failed: 'failed', cancelled: 'cancelled', deleted: 'deleted' },
  pending: 'not over yet',
  retry: (jobs: number) => `Retry ${count(jobs)}…`,
  cancel: (jobs: number) => `Cancel ${count(jobs)}…`,
  retrying: {
    title: (ref: string) => `Retry ${ref} and what waits for it`,
    text: (jobs: number) =>
      `${counted(jobs, 'job that failed or was cancelled runs', 'jobs that failed or were cancelled run')} again. Completed jobs stay completed.`,
    confirm: (jobs: number) => `Retry ${counted(jobs, 'job')}`,
    done: (ref: string) => `${ref} and what waits for it run again.`,
  },
  cancelling: {
    title: (ref: string) => `Cancel ${ref} and what waits for it`,
    text: (jobs: number) =>
      `${counted(jobs, 'job that is not over is', 'jobs that are not over are')} cancelled. Running jobs are aborted.`,
    confirm: (jobs: number) => `Cancel ${counted(jobs, 'job')}`,
    done: (ref: string) => `${ref} and what waits for it are cancelled.`,
  },
} as const
