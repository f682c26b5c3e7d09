/** Messages between a worker and one of its child processes. Each names its run: what a former one says late counts for no other. */
import type { RunError } from '@millrace/core'
import type { FromRun, Task, ToRun } from '../pools/messages.ts'
import type { Settlement } from '../settlement.ts'

export type ToProcess =
  | { readonly kind: 'start'; readonly run: number; readonly task: Task }
  | { readonly kind: 'message'; readonly run: number; readonly message: ToRun }
  /** The modules tear down, and the process ends. */
  | { readonly kind: 'end' }

export type FromProcess =
  | { readonly kind: 'message'; readonly run: number; readonly message: FromRun }
  | { readonly kind: 'settled'; readonly run: number; readonly settlement: Settlement }
  /** The last message of a process in which nobody has caught an error. */
  | { readonly kind: 'crashed'; readonly error: RunError }
