/** Messages between a worker and a run in one of its threads or child processes. */
import type { Data, Grant, LogLine, Refusal, RunError, WantedWait } from '@millrace/core'
import type { Mistake, Progress } from '../handlerContext.ts'
import type { NewResult } from '../steps/replay.ts'

/** The task that comes with each run. */
export interface Task {
  readonly url: string
  readonly grant: Grant
  /** The data as its schema returned it; undefined if there is no schema, and the grant's own is decoded there. */
  readonly checked: { readonly data: unknown } | undefined
  readonly maxDataBytes: number
  readonly replaysAlways: boolean
}

export type FromRun =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'log'; readonly lines: readonly LogLine[] }
  | { readonly kind: 'complaint'; readonly mistake: Mistake; readonly message: string }
  | { readonly kind: 'heartbeat'; readonly id: number }
  | { readonly kind: 'checkpoint'; readonly id: number; readonly value: Data }
  | { readonly kind: 'parents'; readonly id: number; readonly after: number; readonly until: number | undefined }
  | { readonly kind: 'recorded'; readonly id: number }
  | { readonly kind: 'step'; readonly id: number; readonly result: NewResult }
  | {
      readonly kind: 'wait'
      readonly id: number
      readonly waits: readonly WantedWait[]
      readonly settled: number
      readonly end: boolean
    }
  /** The last message of a place that ends with this error. */
  | { readonly kind: 'fatal'; readonly error: RunError }

export type ToRun =
  | ({ readonly kind: 'abort' } & Refusal)
  /** The run ends at its next durable call. */
  | { readonly kind: 'leave' }
  /** A message has come for the run's open waits. */
  | { readonly kind: 'messaged' }
  /** The answer to a message with that id: what the engine has answered, or its refusal. */
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly refusal: Refusal | undefined }
