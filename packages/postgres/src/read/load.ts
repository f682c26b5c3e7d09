/** Reads everything that the engine's tables are built from: none of it grows with the number of waiting or finished jobs. */
import type { PausePart } from '@millrace/core'
import type { Loaded } from '@millrace/core/kernel'
import {
  activeFrom,
  COUNTERS,
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
  ROW_WIDTH,
  replayRuns,
  seqsIn,
  unpackRanges,
} from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { BARE_JOB_ROW, JOB_ROW_WIDTH, jobFrom } from '../tables/job.ts'

const META = `SELECT meta.node, last.next_seq, last.next_event, last.next_session, meta.paused,
(SELECT coalesce(max(id), 0) + 1 FROM lane), (SELECT coalesce(max(id), 0) + 1 FROM queue),
(EXISTS (SELECT 1 FROM flow_due) OR EXISTS (SELECT 1 FROM flow_gone))::int
FROM meta CROSS JOIN journal AS last ORDER BY last.turn DESC LIMIT 1`
/** In the order of `RawLane`. */
const LANES = `SELECT lane.id, lane.queue, lane.name, ${COUNTERS.filter((name) => name !== 'retrying')
  .map((name) => `lane.${name}`)
  .join(', ')}, lane.paused, lane.retrying, lane.used_at, lane.used_event, queue.name
FROM lane JOIN queue ON queue.id = lane.queue WHERE ${isThere('queue.name')} ORDER BY lane.id`
/** `retrying` comes last of the counters, and behind the pause in `RawLane`. */
const UNFOLDED = `SELECT id, ${COUNTERS.join(', ')}, used_at, used_event FROM unfolded`
const QUEUES = `SELECT queue.id, queue.name, settings, paused, missing_ms, missing_at,
  (SELECT coalesce(array_agg(key), '{}') FROM paused_key WHERE paused_key.queue = queue.id)
FROM queue_settings JOIN queue ON queue.id = queue_settings.queue ORDER BY queue.id`
const GATES = 'SELECT id, lane, key, parked FROM gate ORDER BY id'
const BUCKETS = 'SELECT queue, key, missing_ms, missing_at FROM key_bucket ORDER BY queue, key'
const PAUSE_ENDS = 'SELECT queue, part, what, until FROM pause_end ORDER BY queue, part, what'
const PRESENT = "SELECT id, uuid, worker, remote, presence, process FROM session WHERE presence <> 'gone' ORDER BY id"
const DEFINITIONS = 'SELECT name, defaults, session, worker, host, said_at, first_seq, settling FROM definition ORDER BY name'
const EXPORTS = 'SELECT name, cursor FROM export ORDER BY name'
const FREED =
  'SELECT id FROM schedule LEFT JOIN job ON job.seq = schedule.job_seq WHERE held = 1 AND (job.state IS NULL OR job.state >= 4) ORDER BY id'
const MINUTES = `SELECT queue.id, last.at FROM queue CROSS JOIN LATERAL (
  SELECT max(at) AS at FROM history WHERE history.queue = queue.id AND history.step = 0
) AS last WHERE last.at IS NOT NULL ORDER BY queue.id`
const KEPT = 'SELECT queue, completed, failed, cancelled FROM kept_count ORDER BY queue'
const RUNNING = 'SELECT event, seqs FROM running'
const JOURNAL = `SELECT first_event, at, count, packed FROM journal
WHERE count > 0 AND first_event > (SELECT event FROM running) ORDER BY first_event`
const ACTIVE = `SELECT ${BARE_JOB_ROW}, session.uuid, session.worker,
(SELECT max(number) + 1 FROM (SELECT number FROM log WHERE log.seq = job.seq AND log.run = job.run ORDER BY slot DESC LIMIT 100) AS newest), session.remote
FROM job LEFT JOIN session ON session.id = job.session
WHERE job.seq = ANY ($1::bigint[]) AND job.state = 2 ORDER BY job.seq`

type Meta = [number, number, number, number, number, number, number, number, number]
type RawGate = [id: number, laneId: number, key: string, parked: number]
type RawTurn = [firstEvent: number, at: number, count: number, packed: Uint8Array]

export function prepareLoad(connection: Connection): () => Loaded {
  const texts = [
    META,
    LANES,
    UNFOLDED,
    QUEUES,
    GATES,
    BUCKETS,
    PAUSE_ENDS,
    PRESENT,
    DEFINITIONS,
    EXPORTS,
    FREED,
    MINUTES,
    KEPT,
    RUNNING,
    JOURNAL,
  ]
  const statements = texts.map((text) => ({ text, values: [] }))
  return () => {
    const read = connection.many(statements) as unknown as readonly unknown[][]
    const rows = <Raw>(text: string): Raw[] => read[texts.indexOf(text)] as Raw[]
    const [meta] = rows<Meta>(META)
    const [node, nextSeq, nextEvent, nextSession, paused, nextLane, nextQueue, flowWork] = meta as Meta
    const running = runningSeqs(rows<[number, Uint8Array]>(RUNNING), rows<RawTurn>(JOURNAL))
    const unfolded = new Map(rows<[number, ...number[]]>(UNFOLDED).map(([id, ...counters]) => [id, counters]))
    return {
      ...{ node, nextSeq, nextEvent, nextSession, nextLane, nextQueue },
      paused: paused === 1,
      queues: rows<[...RawQueue, string[]]>(QUEUES).map((row) =>
        queueFrom(row.slice(0, -1) as unknown as RawQueue, row.at(-1) as string[]),
      ),
      backlogs: rows<RawGate>(GATES).map(([id, laneId, key, parked]) => ({ id, laneId, key, parked })),
      buckets: rows<[number, string, number, number]>(BUCKETS).map(([queueId, key, missingMs, missingAt]) => ({
        ...{ queueId, key, missingMs, missingAt },
      })),
      pauseEnds: rows<[number, PausePart, string, number]>(PAUSE_ENDS).map(([queueId, part, what, until]) => ({
        ...{ queueId, part, what, until },
      })),
      lanes: rows<RawLane>(LANES).map((row) => laneFrom(counted(row, unfolded.get(row[0])))),
      active: connection.all<unknown[]>(ACTIVE, running).map(activeRow),
      present: rows<RawPresent>(PRESENT).map(presentFrom),
      definitions: rows<RawDefinition>(DEFINITIONS).map(definitionFrom),
      exports: rows<[string, number]>(EXPORTS).map(([name, cursor]) => ({ name, cursor })),
      freed: rows<[string]>(FREED).map(([id]) => id),
      flowWork: flowWork === 1,
      minutes: rows<[number, number]>(MINUTES).map(([queueId, at]) => ({ queueId, at })),
      kept: rows<[number, number, number, number]>(KEPT).map(([queueId, completed, failed, cancelled]) => ({
        ...{ queueId, completed, failed, cancelled },
      })),
    }
  }
}

function counted(row: RawLane, counters: readonly number[] | undefined): RawLane {
  if (counters === undefined) return row
  const [id, queue, name] = row
  return [id, queue, name, ...counters.slice(0, -3), row.at(-5), ...counters.slice(-3), row.at(-1)] as unknown as RawLane
}

/** Returns the jobs that ran when they were last noted, brought up to date from the journal. */
function runningSeqs(noted: readonly [number, Uint8Array][], turns: readonly RawTurn[]): readonly number[] {
  const running = new Set(noted.flatMap(([, seqs]) => seqsIn(unpackRanges(seqs))))
  for (const [firstEvent, at, count, packed] of turns) replayRuns({ firstEvent, at, count, packed }, running)
  return [...running].sort((a, b) => a - b)
}

/** Leaves out the columns of bytes, as SQLite has none. */
function activeRow(row: readonly unknown[]): Loaded['active'][number] {
  const raw = [...row.slice(0, ROW_WIDTH), ...row.slice(JOB_ROW_WIDTH)] as unknown as RawRow
  return { ...activeFrom(raw), ...jobFrom(row) }
}
