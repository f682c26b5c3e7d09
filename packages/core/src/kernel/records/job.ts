/**
 * The job as the engine holds it: one mutable record per job that runs or stands in a window, and one per row that a turn changes. Times
 * are milliseconds since 1970 unless a name ends in `Mono`; 0 stands for "never" in a time.
 */

import type { JobKey } from '../../id.ts'
import type { AbortCause, Cancellation, Data } from '../../job.ts'
import { ACTIVE, SCHEDULED, type StateCode } from '../../lifecycle.ts'
import type { JobTexts } from '../../options/jobTexts.ts'
import type { Policy } from '../../policy.ts'
import { NEVER_DUE, type OpenWait } from '../../steps.ts'
import type { Field } from './definition.ts'
import type { FlowPlace } from './flowState.ts'
import type { KeyBacklog } from './keyBacklog.ts'
import type { Lane } from './lane.ts'
import type { Session } from './session.ts'

/** Calls of one key that become fewer jobs: held to the first start (`trailing`), or for a time. */
export interface Shape {
  readonly by: 'trailing' | 'leading' | 'throttle'
  readonly key: string
}

/** Fields that few jobs have. */
export interface JobExtras extends JobTexts {
  readonly tags?: readonly string[]
  /** JSON text. */
  readonly meta?: string
  readonly idempotencyKey?: string
  readonly uniqueKey?: string
  /** Its unique key is free once it has started. */
  readonly untilStart?: true
  /** It had a unique key, which was released. */
  readonly released?: true
  readonly shape?: Shape
  /** The schedule that it comes from. */
  readonly schedule?: string
  /** It is a dead letter. Its `meta` says so too, but anybody may enqueue a job with that. */
  readonly letter?: true
  readonly flow?: FlowPlace
  /** Enqueued before its name was defined: what its caller has stated, which the definition leaves as it is. */
  readonly explicit?: readonly Field[]
  /** The reason of its cancel. A job that ended before its flow was cancelled has it too: the jobs that wait for it take it over. */
  readonly cancel?: Cancellation
  /** Runs that lost their worker and used no attempt. Counted under `maxLost` alone. */
  readonly lost?: number
  /** The due time of its first run, if `runAt` has moved since. */
  readonly due?: number
  /** Its handler has made durable calls: results are recorded, or waits are open. */
  readonly steps?: StepsMemory
  /** Messages that no wait has taken yet. */
  readonly kept?: KeptMessages
}

/** The messages that a job keeps: their number, about the bytes of their values, and the number of the last one. */
export interface KeptMessages {
  readonly count: number
  readonly bytes: number
  readonly last: number
}

/** Waits that are open, the earliest end first. */
export interface Waiting {
  /** The run that has ended with them; 0 for none. */
  readonly run: number
  /** The number of the last result, as the run knew it: those before may have been lost with the run. */
  readonly settled: number
  /** The number of the last result that a `wait` has recorded: a run that does not know it has missed the answer. */
  readonly recorded?: number
  readonly waits: readonly OpenWait[]
}

export interface StepsMemory {
  readonly waiting?: Waiting | undefined
  /** The time of the last result, from which `maxAge` counts. Only where there is one. */
  readonly since?: number
  /** How often it was retried from its start. */
  readonly generation?: number
  /** Runs in a row whose code did not fit the results. */
  readonly changed?: number | undefined
}

/** The changes of a turn to a row, as bits: the store picks the cheapest statement that covers them. */
export const DIRTY_INSERT = 1

export const DIRTY_START = 2

export const DIRTY_COMPLETE = 4

export const DIRTY_OTHER = 8

export const DIRTY_DELETE = 16

/** The payload changes too. Set together with DIRTY_OTHER. */
export const DIRTY_DATA = 32

/** Lane, policy and extras change too. Set together with another bit. */
export const DIRTY_PLACE = 64

/** Extras change. Alone it writes nothing else, so that the record may lack the output that its row has. */
export const DIRTY_EXTRAS = 128

/** A job in memory: it runs, or stands in a window. */
export interface Job extends JobKey {
  /** This and its policy change where it takes the defaults of its name, and nowhere else. */
  lane: Lane
  state: StateCode
  priority: number
  weight: number
  /** Due time: within a lane jobs run by (priority desc, runAt, seq). */
  runAt: number
  /** Hand-outs so far; the fence. */
  run: number
  /** The number of runs that cost no attempt: `attempt` = run − uncounted. */
  uncounted: number
  /** The job's `ttl`: fails if not started by then; 0 for never. */
  expiresAt: number
  policy: Policy
  extras: JobExtras | undefined
  /** Dropped from memory once handed out; always in the row. */
  data: Data | undefined
  checkpoint: Data
  /** JSON text of `[fraction, note?]`. */
  progress: string | null
  output: Data
  /** Row number of the session that had or has the current run; 0 before the first. */
  sessionId: number
  startedAt: number
  finishedAt: number
  /** A cancel was acknowledged while the job ran: whatever happens to the run, the job ends as cancelled. */
  cancelRequested: boolean
  /** Cancelled because its queue was full, and it the oldest. */
  dropped: boolean

  /** Held back by the limit of its key: it waits, and not in its lane. */
  parked: KeyBacklog | undefined

  // Only in memory.

  /** The row whose payload this job takes as it is inserted, if its own is not in memory; 0 for none. */
  payloadOf: number
  /** The session that runs it, while active and attached. */
  session: Session | undefined
  /** When the run now going on was handed out; monotonic. */
  grantedMono: number
  /** The worker on record for a run whose session has yet to attach, or is gone. */
  worker: string
  /** Deadline of the run, or of the grace after an abort; monotonic. */
  deadlineMono: number
  /** Place in the heap of deadlines; -1 when not there. */
  deadlinePlace: number
  abort: AbortCause | undefined
  /** True if the job is in its lane's window, or, if parked, in its backlog's. */
  windowed: boolean
  /** When a lighter job first passed this one for want of room; monotonic, -1 for never. */
  passedMono: number
  /** Bits of DIRTY_*: what this turn does to the row. */
  dirty: number
  /** Log lines stored of the current run. */
  logLines: number
}

export function attemptOf(job: Pick<Job, 'run' | 'uncounted'>): number {
  return job.run - job.uncounted
}

/** True if its handler has come further than a change of the job could: what it remembers was made of the data that it had. */
export function hasBegun({ state, extras }: Pick<Job, 'state' | 'extras'>): boolean {
  return state === ACTIVE || extras?.steps !== undefined
}

/** True if the job sleeps: its last run has ended with its open waits. */
export function isAsleep({ state, run, extras }: Pick<Job, 'state' | 'run' | 'extras'>): boolean {
  return state === SCHEDULED && extras?.steps?.waiting !== undefined && extras.steps.waiting.run === run
}

/** True if the job sleeps, and nothing but a message ends that. */
export function awaitsMessage(job: Pick<Job, 'state' | 'run' | 'runAt' | 'extras'>): boolean {
  return job.runAt === NEVER_DUE && isAsleep(job)
}

/** True if the job waits for a retry. False if it was scheduled by a caller: no attempt of it has failed. */
export function waitsForRetry(job: Pick<Job, 'state' | 'run' | 'uncounted'>): boolean {
  return job.state === SCHEDULED && attemptOf(job) > 0
}

/** The fields in which a new record differs from a row, in one place so that all records have one shape. */
export function newJob(
  key: JobKey,
  lane: Lane,
  state: StateCode,
  at: { priority: number; weight: number; runAt: number; expiresAt: number },
  policy: Policy,
  extras: JobExtras | undefined,
  data: Data | undefined,
): Job {
  return {
    seq: key.seq,
    node: key.node,
    enqueuedAt: key.enqueuedAt,
    lane,
    state,
    priority: at.priority,
    weight: at.weight,
    runAt: at.runAt,
    run: 0,
    uncounted: 0,
    expiresAt: at.expiresAt,
    policy,
    extras,
    data,
    checkpoint: null,
    progress: null,
    output: null,
    sessionId: 0,
    startedAt: 0,
    finishedAt: 0,
    cancelRequested: false,
    dropped: false,
    parked: undefined,
    payloadOf: 0,
    session: undefined,
    grantedMono: 0,
    worker: '',
    deadlineMono: 0,
    deadlinePlace: -1,
    abort: undefined,
    windowed: false,
    passedMono: -1,
    dirty: 0,
    logLines: 0,
  }
}
