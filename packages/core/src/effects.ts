/**
 * What one turn has decided, before it is written: rows, keys, counters, the journal's events, and what the Ports are to
 * hear after the commit. Decisions change the tables at once and note here what the store must write; where the commit fails,
 * both are thrown away together.
 */
import type { Defaults, LogLine, RunError } from './commands.ts'
import type { EventType } from './events.ts'
import { FlowEffects } from './flow.ts'
import { type AbortCause, attemptOf, type Job, type JobExtras, TOUCH_OTHER } from './job.ts'
import { mayMove, type StateCode, type Transition } from './lifecycle.ts'
import type { Lane } from './tables/lane.ts'
import type { Session } from './tables/session.ts'

/** An event with what the journal needs of its job, as it was when it happened. */
export interface EventNote {
  readonly type: EventType
  readonly job: Job
  readonly run: number
  readonly attempt: number
  /** The class's name of an error. */
  readonly error: string | undefined
  /** A due time or a fraction. */
  readonly value: number | undefined
}

/** A run that did not complete: a row of its own. */
export interface RunRecord {
  readonly seq: number
  readonly run: number
  readonly attempt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly worker: string
  readonly error: RunError
}

export interface LogRecord {
  readonly seq: number
  readonly run: number
  /** Place in the ring of lines kept per run. */
  readonly slot: number
  /** Order within the run. */
  readonly number: number
  readonly line: LogLine
}

export interface IdempotencyRecord {
  readonly name: string
  readonly key: string
  readonly job: Job
  readonly expiresAt: number
}

/** A producer's journal: its last place that is done with. */
export interface SourceMark {
  readonly source: string
  readonly mark: number
}

export interface PrunedJob {
  readonly seq: number
  readonly lane: Lane
  readonly extras: JobExtras | undefined
}

export interface UniqueRecord {
  readonly name: string
  readonly key: string
  readonly seq: number
}

export type NoticeNote = { readonly kind: 'abort'; readonly cause: AbortCause } | { readonly kind: 'lost' }

export class Effects {
  /** Jobs whose rows change; `job.touched` says how. */
  readonly jobs: Job[] = []
  readonly events: EventNote[] = []
  /** Finished jobs whose rows go, of which nothing else is known. */
  readonly pruned: PrunedJob[] = []
  readonly pruneMarks: unknown[] = []
  readonly runs: RunRecord[] = []
  readonly logs: LogRecord[] = []
  readonly newLanes: Lane[] = []
  /** Lanes whose counters change. */
  readonly countedLanes: Lane[] = []
  readonly newSessions: Session[] = []
  readonly definitions: { readonly name: string; readonly defaults: Defaults }[] = []
  readonly idempotency: IdempotencyRecord[] = []
  readonly marks: SourceMark[] = []
  readonly uniqueHeld: UniqueRecord[] = []
  readonly uniqueFreed: UniqueRecord[] = []
  #flows: FlowEffects | undefined
  /** Idempotency keys that have run out are deleted up to here; 0 for none. */
  forgetKeysBefore = 0
  /** Journal rows up to this event are deleted; 0 for none. */
  forgetEventsBefore = 0

  // For the Ports, after the commit.
  readonly grants: Job[] = []
  readonly notices: { readonly session: Session; readonly job: Job; readonly run: number; readonly note: NoticeNote }[] = []
  /** Jobs that became final or were deleted: their watchers are answered. */
  readonly settled: Job[] = []

  /** Whether there is anything to commit. */
  get empty(): boolean {
    return (
      this.jobs.length === 0 &&
      this.events.length === 0 &&
      this.newSessions.length === 0 &&
      this.definitions.length === 0 &&
      this.logs.length === 0 &&
      this.countedLanes.length === 0 &&
      this.newLanes.length === 0 &&
      this.idempotency.length === 0 &&
      this.marks.length === 0 &&
      this.pruneMarks.length === 0 &&
      this.#flows === undefined &&
      this.forgetKeysBefore === 0 &&
      this.forgetEventsBefore === 0
    )
  }

  /** Undefined where the turn has nothing to do with flows. */
  get flowEffects(): FlowEffects | undefined {
    return this.#flows
  }

  get flows(): FlowEffects {
    this.#flows ??= new FlowEffects()
    return this.#flows
  }

  touch(job: Job, bits: number = TOUCH_OTHER): void {
    if (job.touched === 0) this.jobs.push(job)
    job.touched |= bits
  }

  /** The one place where a job's state changes: held against the lifecycle, and counted. */
  move(job: Job, transition: Transition, to: StateCode, bits: number = TOUCH_OTHER): void {
    if (!mayMove(transition, job.state, to)) throw new Error(`lifecycle: ${transition} from ${job.state} to ${to} (job ${job.seq})`)
    this.count(job.lane, job.state, -1)
    this.count(job.lane, to, 1)
    job.state = to
    this.touch(job, bits)
  }

  count(lane: Lane, state: StateCode, change: number): void {
    lane.counts[state] = (lane.counts[state] as number) + change
    lane.queue.counts[state] = (lane.queue.counts[state] as number) + change
    this.#counted(lane)
  }

  total(lane: Lane, total: 'enqueued' | 'completed' | 'failed' | 'cancelled', change = 1): void {
    lane.totals[total] += change
    lane.queue.totals[total] += change
    this.#counted(lane)
  }

  event(type: EventType, job: Job, value?: number, error?: string): void {
    this.events.push({ type, job, run: job.run, attempt: attemptOf(job), error, value })
  }

  #counted(lane: Lane): void {
    if (lane.counted) return
    lane.counted = true
    this.countedLanes.push(lane)
  }

  /** A job that became final in this turn is so no more. */
  unsettle(job: Job): void {
    for (let at = this.settled.indexOf(job); at >= 0; at = this.settled.indexOf(job)) this.settled.splice(at, 1)
  }

  /** After the commit: the marks that only this turn needed are taken off. */
  clear(): void {
    for (const job of this.jobs) job.touched = 0
    for (const lane of this.countedLanes) lane.counted = false
  }
}
