/** What happened to jobs, in a total order: the journal keeps it, listeners hear of it after the commit. */

export const EVENT_TYPES = [
  'enqueued',
  'started',
  'progress',
  'retrying',
  'completed',
  'failed',
  'cancelled',
  'snoozed',
  'stalled',
  'released',
  'updated',
  'promoted',
  'deleted',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** One event as it crosses a Port. Times in milliseconds since 1970. */
export interface JobEvent {
  /** Only grows; a cursor. */
  readonly seq: number
  readonly type: EventType
  readonly jobSeq: number
  readonly node: number
  readonly enqueuedAt: number
  readonly queue: string
  readonly name: string
  readonly at: number
  readonly run: number
  readonly attempt: number
  /** Of an error: its class's name, never its message. */
  readonly error?: string
  /** Of `progress`. */
  readonly fraction?: number
  /** Of `retrying` and `snoozed`: when it runs again. */
  readonly runAt?: number
}
