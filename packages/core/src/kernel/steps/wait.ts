/** Ends a run whose handler waits: the job sleeps, without a slot, a lease or a place in memory, until its earliest wait ends. */
import { type Decision, Refused } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import type { WaitCommand, WaitReply, WantedWait } from '../../stepCommands.ts'
import type { OpenWait } from '../../steps.ts'
import { endAborted, endAsleep, runOf } from '../jobs/end.ts'
import { settleWaits } from '../jobs/results.ts'
import type { Job } from '../records/job.ts'
import { stale } from '../state/refuse.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { beginAnew, tooMany } from './step.ts'

export function wait(turn: TurnContext, command: WaitCommand, sender: Sender): Decision<'wait'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return stale(command.seq, command.run)
  const { settled, end } = command
  if (end && (job.abort !== undefined || job.cancelRequested)) {
    endAborted(turn, job)
    return { results: [], ended: true }
  }
  if (missesResults(job, command)) return missed(turn, job, command)
  const open = merged(job, command.waits, turn.now.wall)
  if (settled + open.length > LIMITS.stepsPerJob) return tooMany()
  if (open.length > LIMITS.waitsPerJob) return tooManyWaits()
  const isOver = ({ until }: OpenWait) => until <= turn.now.wall
  const { results, waits } = settleWaits(turn, job, { settled, waits: open }, open.filter(isOver).length)
  if (results.length > 0) beginAnew(turn, job)
  const { recorded = 0 } = job.extras?.steps?.waiting ?? {}
  const last = results.at(-1)?.number ?? recorded
  const left = { settled: settled + results.length, ...(last > 0 && { recorded: last }), waits }
  const [first] = waits
  if (!end || results.length > 0 || first === undefined) {
    // No run has ended with them yet.
    turn.effects.remember(job, { waiting: { run: 0, ...left } })
    return { results, ended: false, ...(first && { next: first.until - turn.now.wall }) }
  }
  turn.effects.remember(job, { waiting: { run: job.run, ...left } })
  endAsleep(turn, job, first.until)
  return { results, ended: true }
}

/** True if the run has yet to hear of waits that are over: the answer to an earlier `wait` was lost, and all that it had asked for is known. */
export function missesResults({ extras }: Job, { settled }: WaitCommand): boolean {
  return (extras?.steps?.waiting?.recorded ?? 0) > settled
}

/** Answers a repeated `wait` with what the run has missed: as on disk, and of this turn. */
function missed({ facts, effects, now }: TurnContext, { seq, extras }: Job, { settled }: WaitCommand): WaitReply {
  const fresh = effects.steps.flatMap(({ seq: of, ...result }) => (of === seq ? [result] : []))
  const results = [...facts.results(seq), ...fresh].filter(({ number }) => number > settled)
  const first = extras?.steps?.waiting?.waits[0]
  return { results, ended: false, ...(first && { next: first.until - now.wall }) }
}

/** Returns the waits that a job had open and those that its run asks for, the earliest end first. */
function merged({ extras }: Job, wanted: readonly WantedWait[], now: number): readonly OpenWait[] {
  const open = new Map(extras?.steps?.waiting?.waits.map((each) => [each.name, each]))
  for (const { name, asked, delay = 0, until = now + delay } of wanted)
    if (!open.has(name)) open.set(name, { name, asked, since: now, until })
  return [...open.values()].sort((a, b) => a.until - b.until)
}

function tooManyWaits(): Refused {
  const limit = LIMITS.waitsPerJob
  const message = `a job has at most ${limit} open waits: let some end before it asks for others`
  return new Refused({ code: 'OPTION_RANGE', message, details: { option: 'sleep', limit } })
}
