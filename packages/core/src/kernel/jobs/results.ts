/** Records the ends of waits, and resets what counts from the last result of a job. */
import type { StepResult } from '../../steps.ts'
import { isAsleep, type Job, type Waiting } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** After a result the age of the job, its lost runs, and those whose code did not fit count from zero. */
export function noteResult(turn: TurnContext, job: Job): void {
  forgetLost(turn, job)
  const { steps } = job.extras ?? {}
  if (job.policy.maxAge !== Number.POSITIVE_INFINITY) turn.effects.remember(job, { since: turn.now.wall, changed: undefined })
  else if (steps === undefined || steps.changed !== undefined) turn.effects.remember(job, { changed: undefined })
}

/** Forgets the lost runs of a job that begins again. */
export function forgetLost({ effects }: TurnContext, job: Job): void {
  if (job.extras?.lost === undefined) return
  const { lost: _lost, ...extras } = job.extras
  effects.changeExtras(job, extras)
}

/** Records the waits of a sleeping job that are over as it becomes due, and its earliest one at least: somebody may have ended that early. */
export function wake(turn: TurnContext, job: Job): void {
  const { waiting } = job.extras?.steps ?? {}
  if (waiting === undefined || !isAsleep(job)) return
  const over = waiting.waits.filter(({ until }) => until <= turn.now.wall).length
  const { results, waits } = settleWaits(turn, job, waiting, Math.max(1, over))
  noteResult(turn, job)
  // It sleeps no longer, whatever puts it off from now on.
  turn.effects.remember(job, { waiting: { run: 0, settled: waiting.settled + results.length, waits } })
}

/** Records the first `count` waits. */
export function settleWaits({ effects, now }: TurnContext, { seq, run }: Job, { settled, waits }: Omit<Waiting, 'run'>, count: number) {
  const results = waits.slice(0, count).map(({ name, asked, since }, index): StepResult => {
    return { number: settled + index + 1, asked, name, kind: 'sleep', run, startedAt: since, endedAt: now.wall, value: null }
  })
  for (const result of results) effects.steps.push({ seq, ...result })
  return { results, waits: waits.slice(count) }
}
