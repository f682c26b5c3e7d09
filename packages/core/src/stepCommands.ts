/** The commands about durable calls. */
import type { RunKey } from './commands.ts'
import type { JobKey } from './id.ts'
import type { Data } from './job.ts'
import type { HeldKey } from './keyCommands.ts'
import type { RunError } from './runError.ts'
import type { StepResult } from './steps.ts'

/**
 * Records a result of the run's job. It moves the deadline to a whole `timeout` from now, and the job has all its attempts again. A
 * number that is recorded already stays as it is. Reply: true.
 */
export interface StepCommand extends RunKey {
  readonly op: 'step'
  readonly number: number
  readonly asked: number
  readonly name: string
  readonly kind: 'step' | 'change'
  readonly startedAt: number
  readonly value: Data
  readonly error?: RunError
}

/** A wait as a run asks for it. */
export interface WantedWait {
  readonly name: string
  readonly asked: number
  /** From the first time that the engine hears of it. */
  readonly delay?: number
  /** In place of `delay`: wall time. */
  readonly until?: number
  /** The name of the message that it waits for. Then it need not have an end. */
  readonly message?: string
}

/**
 * Opens waits, and records those that are over. With `end` the run ends without an attempt if none is: the job sleeps until the earliest of
 * them ends. A wait that was open before keeps its end. Reply: `WaitReply`.
 */
export interface WaitCommand extends RunKey {
  readonly op: 'wait'
  /** The number of the last result. */
  readonly settled: number
  readonly waits: readonly WantedWait[]
  readonly end: boolean
}

export interface WaitReply {
  /** Waits that were over, in the order of their ends. */
  readonly results: readonly StepResult[]
  /** True if the run is over. */
  readonly ended: boolean
  /** Milliseconds until the earliest of the other waits ends; undefined if there is none. */
  readonly next?: number
}

/**
 * Sends a message to a job. Reply: `taken` if the job has slept until it, `kept` if it is stored for a later wait, `known` if a message with
 * that key was sent to the job before.
 */
export interface SendCommand {
  readonly op: 'send'
  readonly id?: JobKey
  /** In place of `id`. */
  readonly of?: HeldKey
  /** The name of the message. */
  readonly name: string
  /** null: no data, which is stored as the JSON text `null`. A wait that has ended without a message has no value. */
  readonly value: Data
  readonly idempotencyKey?: string
  /** 1 to 128 characters: the name of a token, or what the caller says. */
  readonly by?: string
  /** Refused for a job of another name. */
  readonly only?: readonly string[]
}

/** Reply: `RecordedPage`, of the job of the sender's run. */
export interface RecordedCommand extends RunKey {
  readonly op: 'recorded'
  /** Results with higher numbers. */
  readonly after: number
}

/** A page of the results of a job, with its open waits. Reply: `JobStepsPage`, or null where there is no such job. */
export interface StepsCommand {
  readonly op: 'steps'
  readonly id: JobKey
  /** Results with higher numbers. */
  readonly after: number
  readonly limit: number
}
