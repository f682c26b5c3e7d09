/**
 * Publishes the starts and ends of this process's runs on `node:diagnostics_channel`, for tracing. Without subscribers,
 * no object is created, and a run pays for two looks at a flag.
 */
import { channel } from 'node:diagnostics_channel'
import { formatId, type Grant, type RunError } from '@millrace/core'
import { type JobInfo, metaOf } from './jobInfo.ts'
import type { Settlement } from './settlement.ts'

/** The message on `millrace:started`, published just before the handler is called. */
export interface RunStarted {
  readonly jobId: string
  readonly name: string
  readonly queue: string
  readonly run: number
  readonly attempt: number
  /** The worker's id. */
  readonly worker: string
  /** The job's `meta`, which holds the context of a trace. */
  readonly meta: JobInfo['meta']
}

/**
 * The message on `millrace:ended`, published once the engine has committed it; `lost` once the run is known to be no
 * longer the worker's own.
 */
export interface RunEnded extends RunStarted {
  /** The outcome of this run. After `failed`, the engine decides whether there is another run. `cancelled`: by its handler. */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'snoozed' | 'joined' | 'asleep' | 'released' | 'lost'
  readonly error?: RunError
}

/** Ask them for subscribers before `tellStarted` and `tellEnded`. */
export const STARTED = channel('millrace:started')
export const ENDED = channel('millrace:ended')

const OUTCOMES = {
  complete: 'completed',
  fail: 'failed',
  snooze: 'snoozed',
  join: 'joined',
  asleep: 'asleep',
  giveBack: 'released',
} as const

function outcomeOf(settlement: Settlement | undefined): RunEnded['outcome'] {
  if (settlement === undefined) return 'lost'
  return settlement.op === 'fail' && settlement.cancel === true ? 'cancelled' : OUTCOMES[settlement.op]
}

export function tellStarted(grant: Grant, worker: string): void {
  STARTED.publish(factsOf(grant, worker))
}

/** Publishes the end of a run. `settlement` is undefined if the run is lost. */
export function tellEnded(grant: Grant, worker: string, settlement: Settlement | undefined): void {
  const ended: RunEnded = {
    ...factsOf(grant, worker),
    outcome: outcomeOf(settlement),
    ...(settlement?.op === 'fail' && { error: settlement.error }),
  }
  ENDED.publish(ended)
}

function factsOf(grant: Grant, worker: string): RunStarted {
  const { name, queue, run, attempt } = grant
  return { jobId: formatId(grant), name, queue, run, attempt, worker, meta: metaOf(grant) }
}
