/** Forgets results of a job, so that its next run resumes at an earlier place. */
import { Refused } from '../../decision.ts'
import { formatId } from '../../id.ts'
import { START } from '../../steps.ts'
import type { Job } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'
import type { StepMark } from '../state/turnRows.ts'

/** Returns why a retry has no place to resume at; undefined if it has one. */
export function rewindRefusal(turn: TurnContext, job: Job, from?: string): Refused | undefined {
  if (from === START) return undefined
  const mark = markOf(turn, job, from)
  if (mark === undefined) return from === undefined ? undefined : noStep(job, from)
  return from === undefined && mark.next !== undefined ? ambiguous(job, mark) : undefined
}

/** Lets a job that has failed, or whose code did not fit, continue at its failed steps, at the step of that name, or from its start. */
export function rewind(turn: TurnContext, job: Job, from?: string): void {
  const { steps } = job.extras ?? {}
  if (steps === undefined) return
  if (from === START) {
    turn.effects.rewinds.push({ seq: job.seq, number: 0 })
    turn.effects.remember(job, { waiting: undefined, changed: undefined, generation: (steps.generation ?? 0) + 1 })
    return
  }
  const mark = markOf(turn, job, from)
  if (mark === undefined) return
  const { number } = mark
  // Steps in parallel may have failed together: none of them is kept, or the handler would fail with it again.
  turn.effects.rewinds.push({ seq: job.seq, number, ...(from === undefined && { failed: true }) })
  const { waiting } = steps
  // What was asked for with that result goes with it. The next run reads what is left, and so misses nothing.
  const left = waiting && { run: 0, settled: 0, waits: waiting.waits.filter(({ asked }) => asked <= number) }
  turn.effects.remember(job, { waiting: left, changed: undefined })
}

/** Returns the first failed step of a job, or the result of that name, unless this turn has forgotten it. */
function markOf({ facts, effects }: TurnContext, { seq }: Job, from: string | undefined): StepMark | undefined {
  const stored = facts.step(seq, from)
  const fresh = effects.steps.filter((each) => each.seq === seq)
  const found = stored ?? fresh.find(({ name, error }) => (from === undefined ? error !== undefined : name === from))
  if (found === undefined) return undefined
  const { number, asked, name } = found
  if (effects.rewinds.some((each) => each.seq === seq && (number === each.number || asked > each.number))) return undefined
  const next = stored?.next ?? fresh.find((each) => each.asked > number)?.name
  return { number, asked, name, ...(next !== undefined && { next }) }
}

function ambiguous(job: Job, { name, next = '' }: StepMark): Refused {
  const jobId = formatId(job)
  const message = `job ${jobId} continued with '${next}' after its step '${name}' had failed: give from, the name of the step to continue from: '${name}', or '${START}' for the beginning`
  return new Refused({ code: 'AMBIGUOUS_RETRY', message, details: { jobId } })
}

function noStep(job: Job, from: string): Refused {
  const jobId = formatId(job)
  const message = `job ${jobId} has no result of '${from}' to continue from: give the name of one of its steps, or '${START}' for the beginning`
  return new Refused({ code: 'STEP_NOT_FOUND', message, details: { jobId, step: from } })
}
