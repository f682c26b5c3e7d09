/** The sentences of the screen Flow. */
import { count, counted } from '../../format/numbers.ts'

export const text = {
  title: (id: string) => `Flow ${id}`,
  missing: (id: string) => `There is no flow ${id}, or all of its jobs are deleted.`,
  graph: (jobs: number, layers: number) => `${counted(jobs, 'job')} in ${counted(layers, 'layer')}: each waits for those to its left`,
  job: (ref: string, name: string, state: string) => `${ref}: ${name}, ${state}`,
  many: (shown: number) => `${count(shown)} jobs: too many to draw.`,
  next: 'Next page',
  columns: { ref: 'Ref', job: 'Job', state: 'State', queue: 'Queue', waits: 'Waits for', ended: 'Ended' },
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
  onFailure: { fail: 'it fails, too', continue: 'it runs', ignore: 'it runs without it' } as Readonly<Record<string, string>>,
  open: 'Open the job',
  told: { completed: 'completed', failed: 'failed', cancelled: 'cancelled', deleted: 'deleted' },
  pending: 'not over yet',
  retry: (jobs: number) => `Retry ${count(jobs)}…`,
  cancel: (jobs: number) => `Cancel ${count(jobs)}…`,
  retrying: {
    title: (ref: string) => `Retry ${ref} and what waits for it`,
    text: (jobs: number) => `${counted(jobs, 'job')} that failed or were cancelled run again. Completed jobs stay completed.`,
    confirm: (jobs: number) => `Retry ${counted(jobs, 'job')}`,
    done: (ref: string) => `${ref} and what waits for it run again.`,
  },
  cancelling: {
    title: (ref: string) => `Cancel ${ref} and what waits for it`,
    text: (jobs: number) => `${counted(jobs, 'job')} that are not over are cancelled. Those that run are aborted.`,
    confirm: (jobs: number) => `Cancel ${counted(jobs, 'job')}`,
    done: (ref: string) => `${ref} and what waits for it are cancelled.`,
  },
} as const
