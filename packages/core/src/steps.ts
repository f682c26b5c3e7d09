/** A handler's durable calls leave results with its job, which every later run gets again, and waits that have yet to end. */
import type { Data } from './job.ts'
import type { RunError } from './runError.ts'

/** The kinds of durable calls, in the order of their codes in a store. */
export const STEP_KINDS = ['step', 'sleep', 'message', 'join', 'change'] as const

/** A kind of durable call. */
export type StepKind = (typeof STEP_KINDS)[number]

/** Stands for the beginning of a handler, before its first durable call: none has this name. */
export const START = 'start'

/** A recorded result. */
export interface StepResult {
  /** Place in the order in which the results of the job have settled, from 1. */
  readonly number: number
  /** One more than the number of the last result that the handler had got when it asked for this one. */
  readonly asked: number
  readonly name: string
  readonly kind: StepKind
  /** The run that has recorded it. */
  readonly run: number
  readonly startedAt: number
  readonly endedAt: number
  readonly value: Data
  /** The error that a step has permanently failed with. */
  readonly error?: RunError
}

/** A wait of a job that has yet to end. */
export interface OpenWait {
  readonly name: string
  readonly asked: number
  /** When the engine first heard of it. */
  readonly since: number
  /** When it ends by itself; undefined for a message that is awaited without a timeout. */
  readonly until?: number
  /** The name of the message that it waits for. */
  readonly message?: string
}

/** A job that sleeps until a message comes is due at this time: 9999-12-31T23:59:59.999Z. */
export const NEVER_DUE = 253_402_300_799_999

export const SENT = ['taken', 'kept', 'known'] as const

/** The fate of a message: a sleeping job has taken it, it is kept for a later wait, or it was sent before. */
export type Sent = (typeof SENT)[number]

/** A message that no wait has taken yet. */
export interface KeptMessage {
  /** Place in the order in which the messages of the job came, from 1. */
  readonly number: number
  readonly name: string
  readonly at: number
  readonly value: Data
  /** The name of its sender: that of a token, or what the caller says. */
  readonly by?: string
}

/** A page of results, in the order of their numbers. */
export interface StepsPage {
  readonly results: readonly StepResult[]
  /** Pass as `after` for the next page; null at the end. */
  readonly next: number | null
}

/** A page of results for a run of their job. */
export interface RecordedPage extends StepsPage {
  /** How often the job was retried from its start: the keys of its steps differ by it. */
  readonly generation: number
  /** The waits that are open: earlier runs have asked for them. */
  readonly waits: readonly OpenWait[]
}

/** A page of results for people. */
export interface JobStepsPage extends StepsPage {
  /** The waits that are open, the earliest end first; none if the job has ended. */
  readonly waits: readonly OpenWait[]
  /** The oldest messages that are kept for the job. */
  readonly messages: readonly KeptMessage[]
  /** The number of all messages that are kept for it. */
  readonly kept: number
}
