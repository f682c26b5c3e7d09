/** Ends a run whose handler waits: the job sleeps, without a slot, a lease or a place in memory, until its earliest wait ends. */
import { type Decision, Refused } from '../../decision.ts'
import { dataBytes } from '../../job.ts'
import { LIMITS } from '../../limits.ts'
import type { WaitCommand, WaitReply, WantedWait } from '../../stepCommands.ts'
import { NEVER_DUE, type OpenWait } from '../../steps.ts'
import { endAborted, endAsleep, runOf } from '../jobs/end.ts'
import { type EndedWait, overBy, settleWaits } from '../jobs/results.ts'
import type { Job } from '../records/job.ts'
import type { Plan } from '../state/plan.ts'
import { stale } from '../state/refuse.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { takeMessage } from './messages.ts'
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
  // A message that has come in time wins.
  const taken = takeMessages(turn, job, open)
  const others = open.filter((wait) => !taken.some((each) => each.wait === wait))
  const { results, waits } = settleWaits(turn, job, { settled, waits: open }, [...taken, ...overBy(others, turn.now.wall)])
  if (results.length > 0) beginAnew(turn, job)
  const { recorded = 0 } = job.extras?.steps?.waiting ?? {}
  const last = results.at(-1)?.number ?? recorded
  const left = { settled: settled + results.length, ...(last > 0 && { recorded: last }), waits }
  const [first] = waits
  if (!end || results.length > 0 || first === undefined) {
    // No run has ended with them yet.
    turn.effects.remember(job, { waiting: { run: 0, ...left } })
    return { results, ended: false, ...nextOf(first, turn.now.wall) }
  }
  turn.effects.remember(job, { waiting: { run: job.run, ...left } })
  endAsleep(turn, job, first.until ?? NEVER_DUE)
  return { results, ended: true }
}

/** True if the run has yet to hear of waits that are over: the answer to an earlier `wait` was lost, and all that it had asked for is known. */
function missesResults({ extras }: Job, { settled }: WaitCommand): boolean {
  return (extras?.steps?.waiting?.recorded ?? 0) > settled
}

/** Answers a repeated `wait` with what the run has missed: as on disk, and of this turn. */
function missed({ facts, effects, now }: TurnContext, { seq, extras }: Job, { settled }: WaitCommand): WaitReply {
  const fresh = effects.steps.flatMap(({ seq: of, ...result }) => (of === seq ? [result] : []))
  const results = [...facts.results(seq), ...fresh].filter(({ number }) => number > settled)
  return { results, ended: false, ...nextOf(extras?.steps?.waiting?.waits[0], now.wall) }
}

/** Returns the waits that a job had open and those that its run asks for, the earliest end first. */
function merged({ extras }: Job, wanted: readonly WantedWait[], now: number): readonly OpenWait[] {
  const open = new Map(extras?.steps?.waiting?.waits.map((each) => [each.name, each]))
  for (const { name, asked, delay, until, message } of wanted) {
    if (open.has(name)) continue
    const end = until ?? (delay === undefined && message !== undefined ? undefined : now + (delay ?? 0))
    open.set(name, { name, asked, since: now, ...(end !== undefined && { until: end }), ...(message !== undefined && { message }) })
  }
  return [...open.values()].sort((a, b) => (a.until ?? NEVER_DUE) - (b.until ?? NEVER_DUE))
}

/**
 * Takes the oldest message that the job keeps for each of its waits, up to about `stepsBytes`: its run asks for the others then. Of two
 * waits for one name, the one that ends first comes first.
 */
function takeMessages(turn: TurnContext, job: Job, waits: readonly OpenWait[]): readonly EndedWait[] {
  if (job.extras?.kept === undefined) return []
  let bytes = 0
  return waits.flatMap((wait) => {
    const message = wait.message === undefined || bytes >= LIMITS.stepsBytes ? undefined : takeMessage(turn, job, wait.message)
    if (message === undefined) return []
    bytes += dataBytes(message.value)
    return [{ wait, value: message.value }]
  })
}

/** Asks for the results that a `wait` has missed, and for the messages that it may take. */
export function gatherWait(plan: Plan, job: Job, command: WaitCommand): void {
  const { waits, settled } = command
  if (missesResults(job, command)) plan.results(job, settled)
  if (job.extras?.kept === undefined) return
  const names = new Map<string, number>()
  const open = new Map([...waits, ...(job.extras.steps?.waiting?.waits ?? [])].map(({ name, message }) => [name, message]))
  for (const message of open.values()) if (message !== undefined) names.set(message, (names.get(message) ?? 0) + 1)
  for (const [name, count] of names) plan.messages(job, name, count)
}

function nextOf(first: OpenWait | undefined, now: number): Pick<WaitReply, 'next'> {
  return first?.until === undefined ? {} : { next: first.until - now }
}

function tooManyWaits(): Refused {
  const limit = LIMITS.waitsPerJob
  const message = `a job has at most ${limit} open waits: let some end before it asks for others`
  return new Refused({ code: 'OPTION_RANGE', message, details: { option: 'waits', limit } })
}
