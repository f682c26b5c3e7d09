/** Table `job`: its columns, once; how a job is written to them, and how a row of them is read. */
import { type Data, PAYLOADS, type PayloadName, type PayloadSizes, type StateCode, utf8Start } from '@millrace/core'
import { type Job, type JobExtras, type JobRow, StoreFailure } from '@millrace/core/kernel'
import type { SqlValue } from '../value.ts'

interface Column {
  readonly name: string
  readonly get: (job: Job) => SqlValue
  /** Unset for a column that never changes once the row is there, or that a statement of its own writes. */
  readonly mutable?: true
}

/** The columns in the order in which statements select them. */
export const COLUMNS: readonly Column[] = [
  { name: 'seq', get: ({ seq }) => seq },
  { name: 'node', get: ({ node }) => node },
  { name: 'lane', get: ({ lane }) => lane.id },
  { name: 'state', get: ({ state }) => state, mutable: true },
  { name: 'rank', get: ({ priority }) => 0 - priority, mutable: true },
  { name: 'weight', get: ({ weight }) => weight, mutable: true },
  { name: 'run_at', get: ({ runAt }) => runAt, mutable: true },
  { name: 'run', get: ({ run }) => run, mutable: true },
  { name: 'uncounted', get: ({ uncounted }) => uncounted, mutable: true },
  { name: 'session', get: ({ sessionId }) => orNull(sessionId), mutable: true },
  { name: 'enqueued_at', get: ({ enqueuedAt }) => enqueuedAt },
  { name: 'started_at', get: ({ startedAt }) => orNull(startedAt), mutable: true },
  { name: 'finished_at', get: ({ finishedAt }) => orNull(finishedAt), mutable: true },
  { name: 'expires_at', get: ({ expiresAt }) => orNull(expiresAt), mutable: true },
  { name: 'cancel_requested', get: ({ cancelRequested }) => (cancelRequested ? 1 : 0), mutable: true },
  { name: 'policy', get: ({ policy }) => policy.text },
  { name: 'extras', get: ({ extras }) => extrasText(extras) },
  { name: 'data', get: dataOf },
  { name: 'checkpoint', get: ({ checkpoint }) => checkpoint, mutable: true },
  { name: 'progress', get: ({ progress }) => progress, mutable: true },
  { name: 'output', get: ({ output }) => output, mutable: true },
  { name: 'gate', get: ({ parked }) => parked?.id ?? null, mutable: true },
  { name: 'dropping', get: droppingOf, mutable: true },
]

export const ROW_WIDTH = COLUMNS.length

/** The columns to select first, from a table called `job`, by a statement in raw mode. */
export const ROW_COLUMNS = COLUMNS.map(({ name }) => `job.${name}`).join(', ')

/** The same without the payload, which may be a megabyte. */
export const ROW_COLUMNS_WITHOUT_DATA = ROW_COLUMNS.replace('job.data', 'NULL')

/** Returns the queue that drops its oldest jobs, for the index by arrival; 0 once the job was dropped. A job whose handler has begun stays. */
function droppingOf({ dropped, lane: { queue }, extras }: Job): number | null {
  if (dropped) return 0
  return queue.settings.onFull === undefined || extras?.steps !== undefined ? null : queue.id
}

/** The engine's 0 stands for "never" and "none". */
export function orNull(value: number): number | null {
  return value === 0 ? null : value
}

export function isPayload(name: string): name is PayloadName {
  return PAYLOADS.some((payload) => payload === name)
}

export function extrasText(extras: JobExtras | undefined): string | null {
  return extras === undefined ? null : JSON.stringify(extras)
}

/** Throws StoreFailure if the payload has left memory: once a job is handed out, its row must be there. Another row may have it. */
export function dataOf({ data, payloadOf, seq }: Job): SqlValue {
  if (data === undefined && payloadOf > 0) return null
  if (data === undefined) throw new StoreFailure('broken', 'statement', `the payload of job ${seq} left memory before it was written`)
  return data
}

/** A row as `raw()` returns it. */
export type RawRow = [
  seq: number,
  node: number,
  lane: number,
  state: StateCode,
  rank: number,
  weight: number,
  runAt: number,
  run: number,
  uncounted: number,
  session: number | null,
  enqueuedAt: number,
  startedAt: number | null,
  finishedAt: number | null,
  expiresAt: number | null,
  cancelRequested: number,
  policy: string | null,
  extras: string | null,
  data: Data,
  checkpoint: Data,
  progress: string | null,
  output: Data,
  gate: number | null,
  dropping: number | null,
  ...more: unknown[],
]

export function rowFrom(raw: RawRow): JobRow {
  return {
    seq: raw[0],
    node: raw[1],
    laneId: raw[2],
    state: raw[3],
    priority: 0 - raw[4],
    weight: raw[5],
    runAt: raw[6],
    run: raw[7],
    uncounted: raw[8],
    sessionId: raw[9] ?? 0,
    enqueuedAt: raw[10],
    startedAt: raw[11] ?? 0,
    finishedAt: raw[12] ?? 0,
    expiresAt: raw[13] ?? 0,
    cancelRequested: raw[14] === 1,
    dropped: raw[22] === 0,
    policy: raw[15],
    extras: extrasFrom(raw[16]),
    data: raw[17],
    checkpoint: raw[18],
    progress: raw[19],
    output: raw[20],
    backlogId: raw[21] ?? 0,
  }
}

/** Returns a row whose payloads were read in part, with the stored bytes of each. */
export function cutRow(row: JobRow, bytes: PayloadSizes, bytesMax: number): JobRow {
  const cut = (payload: Data): Data => (typeof payload === 'string' ? utf8Start(payload, bytesMax) : payload)
  return { ...row, data: cut(row.data), output: cut(row.output), checkpoint: cut(row.checkpoint), bytes }
}

/** Returns undefined if the stored extras are broken, as if there were none: one row must not hold up all others. */
export function extrasFrom(text: string | null): JobExtras | undefined {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as JobExtras
  } catch {
    return undefined
  }
}

/** Returns the approximate size of a row's payloads in bytes. */
export function payloadBytes(raw: RawRow): number {
  return (raw[17]?.length ?? 0) + (raw[18]?.length ?? 0) + (raw[20]?.length ?? 0)
}
