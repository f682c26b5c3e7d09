/** The rows that a turn adds or removes beside those of its jobs. */
import type { LogLine } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import type { RunError } from '../../runError.ts'
import type { KeptMessage, StepResult } from '../../steps.ts'
import type { JobExtras } from '../records/job.ts'
import type { Lane, Queue } from '../records/lane.ts'

/** A run that did not complete, and has left something to tell: a row of its own. */
export interface RunRecord {
  readonly seq: number
  readonly run: number
  readonly attempt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly worker: string
  /** None of a run that was given back or snoozed. */
  readonly error: RunError | undefined
}

export interface LogRecord {
  readonly seq: number
  readonly run: number
  /** Order within the run. */
  readonly number: number
  /** The number of the line that goes for this one; negative if all still fit. */
  readonly gone: number
  readonly line: LogLine
}

/** A result of a durable call. */
export interface StepRecord extends StepResult {
  readonly seq: number
}

/** A message that is kept for its job. */
export interface MessageRecord extends KeptMessage {
  readonly seq: number
}

/** A place in the results of a job: the first that has failed, or the one of a name. */
export interface StepMark {
  readonly number: number
  readonly asked: number
  readonly name: string
  /** The first that was asked for after it, if there is one. */
  readonly next?: string
}

/** Forgets the result of that number, and all that were asked for after it; 0: all results. */
export interface Rewind {
  readonly seq: number
  readonly number: number
  /** Forgets the other failed steps as well. */
  readonly failed?: true
}

export interface IdempotencyRecord {
  readonly name: string
  readonly key: string
  readonly job: JobKey
  readonly expiresAt: number
  /** Jobs from `job.seq` to this row keep the key past `expiresAt` while one of them lives; undefined if time alone ends it. */
  readonly lastSeq?: number
}

/** Idempotency keys of a job that are taken from it, or of one that is to leave nothing behind. */
export interface ForgottenKeys {
  readonly seq: number
  readonly name: string
  /** One key: for a job that goes, that with which it was created. */
  readonly own: string | undefined
  /** It had a unique key: enqueues that met it there may have left their idempotency keys with it. */
  readonly others: boolean
}

/** A producer's journal: the last place that is done with. */
export interface SourceOffset {
  readonly source: string
  readonly offset: number
}

export interface PrunedJob {
  readonly seq: number
  readonly lane: Lane
  readonly extras: JobExtras | undefined
}

/** The job whose turn a key has, in a queue that keeps an order. */
export interface TurnRecord {
  readonly queue: Queue
  readonly key: string
  readonly seq: number
}

export interface UniqueRecord {
  readonly name: string
  readonly key: string
  readonly seq: number
}
