/** Messages between a worker and a run in one of its threads or child processes. */
import type { Data, Grant, LogLine, ParentsPage, Refusal, RunError } from '@millrace/core'
import type { Mistake, Progress } from '../context.ts'

/** The task that comes with each run. */
export interface Task {
  readonly url: string
  readonly grant: Grant
  /** The data as its schema returned it; undefined if there is no schema, and the grant's own is decoded there. */
  readonly checked: { readonly data: unknown } | undefined
  readonly maxDataBytes: number
}

export type FromRun =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'log'; readonly lines: readonly LogLine[] }
  | { readonly kind: 'complaint'; readonly mistake: Mistake; readonly message: string }
  | { readonly kind: 'heartbeat'; readonly id: number }
  | { readonly kind: 'checkpoint'; readonly id: number; readonly value: Data }
  | { readonly kind: 'parents'; readonly id: number; readonly after: number; readonly until: number | undefined }
  /** The last message of a place that ends with this error. */
  | { readonly kind: 'fatal'; readonly error: RunError }

export type ToRun =
  | ({ readonly kind: 'abort' } & Refusal)
  /** The answer to a heartbeat, a checkpoint, or a question for parents, with the refusal if it was refused. */
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly page?: ParentsPage | undefined
      readonly refusal: Refusal | undefined
    }
