/** Makes rows into what the engine's tables are built from. */
import type { Defaults } from '@millrace/core'
import type { ActiveRow, Counts, DefinitionRow, LaneRow, PresentRow, QueueRow } from '@millrace/core/kernel'
import { type RawRow, ROW_WIDTH, rowFrom } from '../tables/job.ts'

export type RawQueue = [id: number, name: string, settings: string, paused: number, missingMs: number, missingAt: number]
export type RawDefinition = [
  name: string,
  defaults: string,
  session: string,
  worker: string,
  host: string,
  saidAt: number,
  firstSeq: number,
  settling: number,
]

export function definitionFrom([name, defaults, session, worker, host, saidAt, firstSeq, settling]: RawDefinition): DefinitionRow {
  return { name, definition: { defaults: defaultsFrom(defaults), session, worker, host, saidAt, firstSeq }, settling }
}

export function queueFrom([id, name, text, paused, missingMs, missingAt]: RawQueue, pausedKeys: readonly string[]): QueueRow {
  const settings = JSON.parse(text)
  if (settings.defaults !== undefined) settings.defaults = withTimeout(settings.defaults)
  return { id, name, settings, paused: paused === 1, pausedKeys, missingMs, missingAt }
}

/** The columns: id, queue, name, seven counters, four totals, the paused flag, the jobs that wait for a retry, the last use, the queue's name. */
export type RawLane = [id: number, queueId: number, name: string, ...numbers: number[], queue: string]

export function laneFrom(raw: RawLane): LaneRow {
  const [id, queueId, name] = raw
  const [enqueued, completed, failed, cancelled] = raw.slice(10, 14) as [number, number, number, number]
  return {
    id,
    queueId,
    queue: raw[18] as string,
    name,
    paused: raw[14] === 1,
    counts: raw.slice(3, 10) as Counts,
    totals: { enqueued, completed, failed, cancelled },
    retrying: raw[15] as number,
    usedAt: raw[16] as number,
    usedEvent: raw[17] as number,
  }
}

/** Leaves out the payload: the worker that runs the job has it already. */
export function activeFrom(raw: RawRow): ActiveRow {
  return {
    ...rowFrom(raw),
    sessionUuid: (raw[ROW_WIDTH] as string | null) ?? '',
    worker: (raw[ROW_WIDTH + 1] as string | null) ?? '',
    logLines: (raw[ROW_WIDTH + 2] as number | null) ?? 0,
    remote: raw[ROW_WIDTH + 3] === 1,
  }
}

export type RawPresent = [id: number, uuid: string, worker: string, remote: number, presence: string, process: string]

export function presentFrom([id, uuid, worker, remote, presence, process]: RawPresent): PresentRow {
  return { id, uuid, worker, remote: remote === 1, draining: presence === 'draining', process }
}

function defaultsFrom(text: string): Defaults {
  return withTimeout(JSON.parse(text))
}

/** JSON has no Infinity: null stands for it. */
function withTimeout(defaults: Defaults & { timeout?: number | null }): Defaults {
  return defaults.timeout === null ? { ...defaults, timeout: Number.POSITIVE_INFINITY } : defaults
}
