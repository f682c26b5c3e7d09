/** Reads everything that the engine's tables are built from: none of it grows with the number of waiting or finished jobs. */
import type { Loaded } from '@millrace/core/kernel'
import {
  activeFrom,
  COUNTERS,
  isThere,
  loadedFrom,
  NEXT_NUMBERS,
  type RawLane,
  type RawLoaded,
  type RawRow,
  type RawTurn,
  ROW_WIDTH,
  runningFrom,
} from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { BARE_JOB_ROW, JOB_ROW_WIDTH, jobFrom } from '../tables/job.ts'

const META = `SELECT meta.node, last.next_seq, last.next_event, last.next_session, meta.paused, ${NEXT_NUMBERS},
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
const RUNNING = 'SELECT seqs FROM running'
const JOURNAL = `SELECT first_event, at, count, packed FROM journal
WHERE count > 0 AND first_event > (SELECT event FROM running) ORDER BY first_event`
const ACTIVE = `SELECT ${BARE_JOB_ROW}, session.uuid, session.worker,
(SELECT max(number) + 1 FROM (SELECT number FROM log WHERE log.seq = job.seq AND log.run = job.run ORDER BY slot DESC LIMIT 100) AS newest), session.remote
FROM job LEFT JOIN session ON session.id = job.session
WHERE job.seq = ANY ($1::bigint[]) AND job.state = 2 ORDER BY job.seq`

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
    const [noted] = rows<[seqs: Uint8Array]>(RUNNING)
    const running = runningFrom(noted?.[0] ?? new Uint8Array(), rows<RawTurn>(JOURNAL))
    const unfolded = new Map(rows<[number, ...number[]]>(UNFOLDED).map(([id, ...counters]) => [id, counters]))
    return loadedFrom({
      meta: rows(META)[0],
      queues: rows(QUEUES),
      pauseEnds: rows(PAUSE_ENDS),
      gates: rows(GATES),
      buckets: rows(BUCKETS),
      lanes: rows<RawLane>(LANES).map((row) => counted(row, unfolded.get(row[0]))),
      active: connection.all<unknown[]>(ACTIVE, running).map(activeRow),
      present: rows(PRESENT),
      definitions: rows(DEFINITIONS),
      exports: rows(EXPORTS),
      freed: rows(FREED),
      minutes: rows(MINUTES),
      kept: rows(KEPT),
    } as RawLoaded)
  }
}

function counted(row: RawLane, counters: readonly number[] | undefined): RawLane {
  if (counters === undefined) return row
  const [id, queue, name] = row
  return [id, queue, name, ...counters.slice(0, -3), row.at(-5), ...counters.slice(-3), row.at(-1)] as unknown as RawLane
}

/** Leaves out the columns of bytes, as SQLite has none. */
function activeRow(row: readonly unknown[]): Loaded['active'][number] {
  const raw = [...row.slice(0, ROW_WIDTH), ...row.slice(JOB_ROW_WIDTH)] as unknown as RawRow
  return { ...activeFrom(raw), ...jobFrom(row) }
}
