/** Records the ends of waits, and resets what counts from the last result of a job. */
import type { Data } from '../../job.ts'
import { NEVER_DUE, type OpenWait, type StepResult } from '../../steps.ts'
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
  const over = overBy(waiting.waits, turn.now.wall)
  const [first] = waiting.waits
  // Somebody has ended its earliest wait early. One without an end is over with its message alone.
  const early = first?.until === undefined ? [] : [{ wait: first }]
  endWaits(turn, job, waiting, over.length > 0 ? over : early)
}

/** Ends waits of a sleeping job: it sleeps no longer, whatever puts it off from now on. */
export function endWaits(turn: TurnContext, job: Job, waiting: Waiting, ended: readonly EndedWait[]): void {
  const { results, waits } = settleWaits(turn, job, waiting, ended)
  noteResult(turn, job)
  turn.effects.remember(job, { waiting: { run: 0, settled: waiting.settled + results.length, waits } })
}

/** A wait that is over, with the message that has ended it. */
export interface EndedWait {
  readonly wait: OpenWait
  readonly value?: Data
}

/** Returns the waits whose time is over. */
export function overBy(waits: readonly OpenWait[], at: number): readonly EndedWait[] {
  return waits.filter(({ until = NEVER_DUE }) => until <= at).map((wait) => ({ wait }))
}

/** Records waits that are over, in this order. Returns their results, and the waits that are still open. */
export function settleWaits(
  { effects, now }: TurnContext,
  { seq, run }: Job,
  { settled, waits }: Omit<Waiting, 'run'>,
  ended: readonly EndedWait[],
) {
  const results = ended.map(({ wait: { name, asked, since, message }, value = null }, index): StepResult => {
    const kind = message === undefined ? 'sleep' : 'message'
    return { number: settled + index + 1, asked, name, kind, run, startedAt: since, endedAt: now.wall, value }
  })
  for (const result of results) effects.steps.push({ seq, ...result })
  const over = new Set(ended.map(({ wait }) => wait))
  return { results, waits: waits.filter((wait) => !over.has(wait)) }
}
