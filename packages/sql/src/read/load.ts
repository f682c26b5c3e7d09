/** Makes rows into what the engine's tables are built from. */
import type { Defaults, PausePart } from '@millrace/core'
import type { ActiveRow, Counts, DefinitionRow, LaneRow, Loaded, PresentRow, QueueRow } from '@millrace/core/kernel'
import { replayRuns } from '../journal.ts'
import { seqsIn, unpackRanges } from '../seqs.ts'
import { type RawRow, ROW_WIDTH, rowFrom } from '../tables/job.ts'
import { type RawTurn, turnFrom } from './events.ts'

/** The counters of numbers that no lane and no queue has had, as columns of `RawMeta`. */
export const NEXT_NUMBERS = '(SELECT coalesce(max(id), 0) + 1 FROM lane), (SELECT coalesce(max(id), 0) + 1 FROM queue)'

type RawMeta = [
  node: number,
  nextSeq: number,
  nextEvent: number,
  nextSession: number,
  paused: number,
  nextLane: number,
  nextQueue: number,
  flowWork: number,
]
type RawQueue = [
  id: number,
  name: string,
  settings: string,
  paused: number,
  missingMs: number,
  missingAt: number,
  pausedKeys: readonly string[],
]
type RawDefinition = [
  name: string,
  defaults: string,
  session: string,
  worker: string,
  host: string,
  saidAt: number,
  firstSeq: number,
  settling: number,
]

/** The rows that a store selects of each table, as they come. */
export interface RawLoaded {
  readonly meta: RawMeta
  readonly queues: readonly RawQueue[]
  readonly pauseEnds: readonly (readonly [queueId: number, part: PausePart, what: string, until: number])[]
  readonly gates: readonly (readonly [id: number, laneId: number, key: string, parked: number])[]
  readonly buckets: readonly (readonly [queueId: number, key: string, missingMs: number, missingAt: number])[]
  readonly lanes: readonly RawLane[]
  readonly active: readonly ActiveRow[]
  readonly present: readonly RawPresent[]
  readonly definitions: readonly RawDefinition[]
  readonly exports: readonly (readonly [name: string, cursor: number])[]
  readonly freed: readonly (readonly [id: string])[]
  readonly minutes: readonly (readonly [queueId: number, at: number])[]
  readonly kept: readonly (readonly [queueId: number, completed: number, failed: number, cancelled: number])[]
}

export function loadedFrom(raw: RawLoaded): Loaded {
  const [node, nextSeq, nextEvent, nextSession, paused, nextLane, nextQueue, flowWork] = raw.meta
  return {
    ...{ node, nextSeq, nextEvent, nextSession, nextLane, nextQueue },
    paused: paused === 1,
    queues: raw.queues.map(queueFrom),
    pauseEnds: raw.pauseEnds.map(([queueId, part, what, until]) => ({ queueId, part, what, until })),
    backlogs: raw.gates.map(([id, laneId, key, parked]) => ({ id, laneId, key, parked })),
    buckets: raw.buckets.map(([queueId, key, missingMs, missingAt]) => ({ queueId, key, missingMs, missingAt })),
    lanes: raw.lanes.map(laneFrom),
    active: raw.active,
    // Sorted here: in a file, ORDER BY would scan the whole table. Every store tells of lost sessions in this order.
    present: raw.present.map(presentFrom).sort((a, b) => a.id - b.id),
    definitions: raw.definitions.map(definitionFrom),
    exports: raw.exports.map(([name, cursor]) => ({ name, cursor })),
    freed: raw.freed.map(([id]) => id),
    flowWork: flowWork === 1,
    minutes: raw.minutes.map(([queueId, at]) => ({ queueId, at })),
    kept: raw.kept.map(([queueId, completed, failed, cancelled]) => ({ queueId, completed, failed, cancelled })),
  }
}

function definitionFrom([name, defaults, session, worker, host, saidAt, firstSeq, settling]: RawDefinition): DefinitionRow {
  return { name, definition: { defaults: defaultsFrom(defaults), session, worker, host, saidAt, firstSeq }, settling }
}

function queueFrom([id, name, text, paused, missingMs, missingAt, pausedKeys]: RawQueue): QueueRow {
  const settings = JSON.parse(text)
  if (settings.defaults !== undefined) settings.defaults = withTimeout(settings.defaults)
  return { id, name, settings, paused: paused === 1, pausedKeys, missingMs, missingAt }
}

/** The columns: id, queue, name, seven counters, four totals, the paused flag, the jobs that wait for a retry, the last use, the queue's name. */
export type RawLane = [id: number, queueId: number, name: string, ...numbers: number[], queue: string]

function laneFrom(raw: RawLane): LaneRow {
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

type RawPresent = [id: number, uuid: string, worker: string, remote: number, presence: string, process: string]

function presentFrom([id, uuid, worker, remote, presence, process]: RawPresent): PresentRow {
  return { id, uuid, worker, remote: remote === 1, draining: presence === 'draining', process }
}

function defaultsFrom(text: string): Defaults {
  return withTimeout(JSON.parse(text))
}

/** JSON has no Infinity: null stands for it. */
function withTimeout(defaults: Defaults & { timeout?: number | null }): Defaults {
  return defaults.timeout === null ? { ...defaults, timeout: Number.POSITIVE_INFINITY } : defaults
}

/** Returns the jobs that ran when they were last noted, brought up to date from the turns since. */
export function runningFrom(noted: Uint8Array, turns: Iterable<RawTurn>): number[] {
  const running = new Set(seqsIn(unpackRanges(noted)))
  for (const turn of turns) replayRuns(turnFrom(turn), running)
  return [...running].sort((a, b) => a - b)
}
