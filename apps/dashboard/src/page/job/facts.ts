/** The properties of a job as rows of a name and a value. Those that say nothing are left out. */
import type { JobAnswer } from '../api/answers.ts'
import { own } from '../api/own.ts'
import { duration, FOREVER_MS, span } from '../format/durations.ts'
import { count } from '../format/numbers.ts'
import { jobLink, jobsLink, queueLink } from '../router/links.ts'
import { attemptsOf } from './attempts.ts'
import { JOB_TEXT } from './text.ts'

export interface Fact {
  readonly name: string
  readonly text?: string
  /** Behind the text, quieter. */
  readonly note?: string
  /** A time, which is shown with how long ago it was. */
  readonly at?: string
  /** The path of the page that tells more. */
  readonly to?: string
  readonly tags?: readonly string[]
  readonly isMono?: boolean
}

const { facts: text } = JOB_TEXT

/** Returns what a look beside the list shows. */
export function briefFacts(job: JobAnswer): readonly Fact[] {
  return present([
    summaryOf(job),
    { name: text.queue, text: job.queue, to: queueLink(job.queue) },
    runsOf(job),
    workerOf(job),
    progressOf(job),
    ...timesOf(job),
    ...cancellationOf(job),
    ...keysOf(job),
    tagsOf(job),
  ])
}

/** Returns all of them. */
export function allFacts(job: JobAnswer): readonly Fact[] {
  return present([
    summaryOf(job),
    { name: text.queue, text: job.queue, to: queueLink(job.queue) },
    { name: text.priority, text: count(job.priority), ...(job.weight !== 1 && { note: `${text.weight} ${count(job.weight)}` }) },
    tokensOf(job),
    runsOf(job),
    { name: text.backoff, text: backoffOf(own(options(job), 'backoff')) },
    timeoutOf(job),
    limitOf(text.maxAge, own(options(job), 'maxAge')),
    lostOf(job),
    keepOf(job),
    ...timesOf(job),
    ...cancellationOf(job),
    job.expiresAt === undefined ? undefined : { name: text.expires, at: job.expiresAt },
    ...keysOf(job),
    tagsOf(job),
    copyOf(job),
  ])
}

function present(facts: readonly (Fact | undefined)[]): readonly Fact[] {
  return facts.filter((fact) => fact !== undefined)
}

/** Options of runs come from a table of the server's, so their names are no fields of the type. */
const options = (job: JobAnswer) => job as Readonly<Record<string, unknown>>

function runsOf(job: JobAnswer): Fact | undefined {
  if (job.run === 0) return undefined
  const took = tookOf(job)
  return {
    name: text.attempts,
    text: JOB_TEXT.attempts(...(attemptsOf(job) ?? [0, Number.POSITIVE_INFINITY])),
    ...(took !== undefined && { note: JOB_TEXT.lastTook(took) }),
    ...(job.run !== job.attempt && { note: JOB_TEXT.otherRuns(job.run) }),
  }
}

function lastRunOf({ lastRun, attempts }: JobAnswer) {
  return lastRun ?? attempts.at(-1)
}

function tookOf(job: JobAnswer): string | undefined {
  const { startedAt, endedAt } = lastRunOf(job) ?? {}
  return startedAt === undefined || endedAt === undefined ? undefined : duration(Date.parse(endedAt) - Date.parse(startedAt))
}

function workerOf(job: JobAnswer): Fact | undefined {
  const worker = lastRunOf(job)?.worker
  return worker === undefined || worker === '' ? undefined : { name: text.worker, text: worker }
}

function progressOf({ progress, progressNote, state }: JobAnswer): Fact | undefined {
  if (progress === undefined || state !== 'active') return undefined
  return { name: text.progress, text: `${Math.round(progress * 100)} %`, ...(progressNote !== undefined && { note: progressNote }) }
}

function timesOf(job: JobAnswer): readonly (Fact | undefined)[] {
  const { state, enqueuedAt, runAt, originalRunAt, startedAt, deadlineAt, finishedAt } = job
  const isOver = state === 'completed' || state === 'failed' || state === 'cancelled'
  return [
    { name: text.enqueued, at: enqueuedAt },
    originalRunAt === undefined ? undefined : { name: text.firstDue, at: originalRunAt },
    state === 'scheduled' ? { name: text.due, at: runAt } : undefined,
    state === 'active' && startedAt !== undefined ? { name: text.started, at: startedAt } : undefined,
    deadlineAt === undefined ? undefined : { name: text.deadline, at: deadlineAt },
    isOver && finishedAt !== undefined ? { name: text.ended[state], at: finishedAt } : undefined,
  ]
}

function cancellationOf({ cancellation }: JobAnswer): readonly (Fact | undefined)[] {
  const { by, reason } = cancellation ?? {}
  return [
    by === undefined ? undefined : { name: text.cancelledBy, text: by },
    reason === undefined ? undefined : { name: text.reason, text: reason },
  ]
}

function keysOf({ concurrencyKey, uniqueKey, idempotencyKey }: JobAnswer): readonly (Fact | undefined)[] {
  const key = (name: string, value: string | undefined) => (value === undefined ? undefined : { name, text: value, isMono: true })
  return [key(text.key, concurrencyKey), key(text.unique, uniqueKey), key(text.idempotency, idempotencyKey)]
}

function summaryOf({ summary }: JobAnswer): Fact | undefined {
  return summary === undefined ? undefined : { name: text.summary, text: summary }
}

function tagsOf({ tags }: JobAnswer): Fact | undefined {
  return tags.length === 0 ? undefined : { name: text.tags, tags }
}

/** The page that copies a job writes the id of the first one into the meta of the second. */
function copyOf({ meta }: JobAnswer): Fact | undefined {
  const id = typeof meta === 'object' && meta !== null ? own(meta as Readonly<Record<string, unknown>>, 'copyOf') : undefined
  return typeof id === 'string' ? { name: text.copyOf, text: id, to: jobLink(id), isMono: true } : undefined
}

export const tagLink = (tag: string): string => jobsLink({ tag })

/** "2 s × 2, ± 20 %, up to 1 h". */
export function backoffOf(value: unknown): string {
  const { type, delay, factor, maxDelay, jitter } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (typeof delay !== 'number') return '–'
  return JOB_TEXT.backoff(
    span(delay),
    type === 'exponential' ? (typeof factor === 'number' ? factor : 2) : undefined,
    typeof maxDelay === 'number' ? span(maxDelay) : undefined,
    typeof jitter === 'number' || typeof jitter === 'string' ? JOB_TEXT.jitter(jitter) : undefined,
  )
}

function tokensOf(job: JobAnswer): Fact | undefined {
  const tokens = own(options(job), 'tokens')
  return typeof tokens === 'number' && tokens > 1 ? { name: text.tokens, text: count(tokens) } : undefined
}

function timeoutOf(job: JobAnswer): Fact {
  const timeout = own(options(job), 'timeout')
  const heartbeat = own(options(job), 'heartbeatTimeout')
  return {
    name: text.timeout,
    text: typeof timeout === 'number' ? span(timeout) : JOB_TEXT.noLimit,
    ...(typeof heartbeat === 'number' && { note: JOB_TEXT.heartbeat(span(heartbeat)) }),
  }
}

/** Says nothing of a job whose lost runs use attempts. */
function lostOf(job: JobAnswer): Fact | undefined {
  const most = own(options(job), 'maxLost')
  return typeof most === 'number' ? { name: text.lostRuns, text: JOB_TEXT.lostRuns(job.lostRuns, most) } : undefined
}

/** Says nothing of a job that its queue's retention takes. */
function keepOf(job: JobAnswer): Fact | undefined {
  const keep = own(options(job), 'keep')
  if (typeof keep !== 'number') return undefined
  return { name: text.keep, text: keep === FOREVER_MS ? JOB_TEXT.forever : span(keep) }
}

function limitOf(name: string, value: unknown): Fact | undefined {
  return typeof value === 'number' ? { name, text: span(value) } : undefined
}
