/** Reads everything that the engine's tables are built from: none of it grows with the number of waiting or finished jobs. */
import type { BucketRow, ExportCursor, KeptCounts, Loaded, PauseEndRow } from '@millrace/core/kernel'
import {
  activeFrom,
  definitionFrom,
  isThere,
  laneFrom,
  presentFrom,
  queueFrom,
  type RawDefinition,
  type RawLane,
  type RawPresent,
  type RawQueue,
  type RawRow,
  ROW_COLUMNS_WITHOUT_DATA,
  replayRuns,
  seqsIn,
  unpackRanges,
} from '@millrace/sql'
import type { Database } from '../driver.ts'
import { prepareLastMinutes } from './history.ts'
import { prepareFreed } from './schedules.ts'

export function prepareLoad(db: Database): () => Loaded {
  // Takes the larger of each: a turn without events writes the one, all others the other.
  const meta = db
    .prepare(
      `SELECT meta.node, max(meta.next_seq, coalesce(last.next_seq, 1)), max(meta.next_event, coalesce(last.first_event + last.count, 1)),
max(meta.next_session, coalesce(last.next_session, 1)), meta.paused
FROM meta LEFT JOIN journal AS last ON last.first_event = (SELECT max(first_event) FROM journal)`,
    )
    .raw()
  const lanes = db
    .prepare(`SELECT lane.*, queue.name FROM lane JOIN queue ON queue.id = lane.queue WHERE ${isThere('queue.name')} ORDER BY lane.id`)
    .raw()
  const numbers = db.prepare('SELECT (SELECT coalesce(max(id), 0) + 1 FROM lane), (SELECT coalesce(max(id), 0) + 1 FROM queue)').raw()
  const active = db
    .prepare(
      `SELECT ${ROW_COLUMNS_WITHOUT_DATA}, session.uuid, session.worker,
(SELECT max(number) + 1 FROM (SELECT number FROM log WHERE log.seq = job.seq AND log.run = job.run ORDER BY slot DESC LIMIT 100)), session.remote
FROM json_each(?) AS listed CROSS JOIN job ON job.seq = listed.value LEFT JOIN session ON session.id = job.session
WHERE job.state = 2 ORDER BY job.seq`,
    )
    .raw()
  const present = db.prepare("SELECT id, uuid, worker, remote, presence, process FROM session WHERE presence <> 'gone'").raw()
  const queues = db
    .prepare(
      'SELECT queue.id, queue.name, settings, paused, missing_ms, missing_at FROM queue_settings JOIN queue ON queue.id = queue_settings.queue',
    )
    .raw()
  const gates = db.prepare('SELECT id, lane, key, parked FROM gate').raw()
  const buckets = db.prepare('SELECT queue AS queueId, key, missing_ms AS missingMs, missing_at AS missingAt FROM key_bucket')
  const pausedKeys = db.prepare('SELECT key FROM paused_key WHERE queue = ?').pluck()
  const pauseEnds = db.prepare('SELECT queue AS queueId, part, what, until FROM pause_end')
  const running = prepareRunningSeqs(db)
  const flowWork = db.prepare('SELECT EXISTS (SELECT 1 FROM flow_due) OR EXISTS (SELECT 1 FROM flow_gone)').pluck()
  const definitions = db.prepare('SELECT name, defaults, session, worker, host, said_at, first_seq, settling FROM definition').raw()
  const exports = db.prepare('SELECT name, cursor FROM export ORDER BY name')
  const freed = prepareFreed(db)
  const minutes = prepareLastMinutes(db)
  const kept = db.prepare('SELECT queue AS queueId, completed, failed, cancelled FROM kept_count')
  return () => {
    const [node, nextSeq, nextEvent, nextSession, paused] = meta.get() as [number, number, number, number, number, number]
    const [nextLane, nextQueue] = numbers.get() as [number, number]
    return {
      node,
      nextSeq,
      nextEvent,
      nextSession,
      nextLane,
      nextQueue,
      paused: paused === 1,
      queues: (queues.all() as RawQueue[]).map((raw) => queueFrom(raw, pausedKeys.all(raw[0]) as string[])),
      pauseEnds: pauseEnds.all() as PauseEndRow[],
      backlogs: (gates.all() as RawGate[]).map(([id, laneId, key, parked]) => ({ id, laneId, key, parked })),
      buckets: buckets.all() as BucketRow[],
      lanes: (lanes.all() as RawLane[]).map(laneFrom),
      active: (active.all(JSON.stringify(running())) as RawRow[]).map(activeFrom),
      // Sorted here: ORDER BY would scan the whole table. Every store tells of lost sessions in this order.
      present: (present.all() as RawPresent[]).map(presentFrom).sort((a, b) => a.id - b.id),
      definitions: (definitions.all() as RawDefinition[]).map(definitionFrom),
      exports: exports.all() as ExportCursor[],
      freed: freed(),
      flowWork: flowWork.get() === 1,
      minutes: minutes(),
      kept: kept.all() as KeptCounts[],
    }
  }
}

/** Returns the jobs that ran when they were last noted, brought up to date from the journal. */
function prepareRunningSeqs(db: Database): () => number[] {
  const noted = db.prepare('SELECT event, seqs FROM running').raw()
  const journal = db.prepare('SELECT first_event, at, count, packed FROM journal WHERE first_event > ? ORDER BY first_event').raw()
  return () => {
    const [event, seqs] = noted.get() as [number, Uint8Array]
    const running = new Set(seqsIn(unpackRanges(seqs)))
    for (const [firstEvent, at, count, packed] of journal.iterate(event) as Iterable<[number, number, number, Uint8Array]>)
      replayRuns({ firstEvent, at, count, packed }, running)
    return [...running].sort((a, b) => a - b)
  }
}

type RawGate = [id: number, laneId: number, key: string, parked: number]
