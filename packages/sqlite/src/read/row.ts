/** How a row of `job` becomes a JobRow: the one place that knows the order of its columns. */
import type { Data, JobExtras, JobRow, StateCode } from '@millrace/core'

const NAMES = [
  'seq',
  'node',
  'lane',
  'state',
  'rank',
  'weight',
  'run_at',
  'run',
  'uncounted',
  'session',
  'enqueued_at',
  'started_at',
  'finished_at',
  'expires_at',
  'cancel_requested',
  'policy',
  'extras',
  'data',
  'checkpoint',
  'progress',
  'output',
  'gate',
  'dropping',
] as const

export const ROW_WIDTH = NAMES.length

/** To be selected first, from a table called `job`, by a statement in raw mode. */
export const ROW_COLUMNS = NAMES.map((name) => `job.${name}`).join(', ')

/** The same without the payload, which may be a megabyte. */
export const ROW_COLUMNS_WITHOUT_DATA = ROW_COLUMNS.replace('job.data', 'NULL')

/** As `raw()` hands it out. */
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
    gateId: raw[21] ?? 0,
  }
}

/** What somebody has broken is as if it had not been set: one row is no reason for all others to wait. */
export function extrasFrom(text: string | null): JobExtras | undefined {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as JobExtras
  } catch {
    return undefined
  }
}

/** Bytes of a row's payloads, roughly. */
export function payloadBytes(raw: RawRow): number {
  return (raw[17]?.length ?? 0) + (raw[18]?.length ?? 0) + (raw[20]?.length ?? 0)
}
