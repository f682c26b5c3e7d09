/** Reads everything that the engine's tables are built from: none of it grows with the number of waiting or finished jobs. */
import type { Loaded } from '@millrace/core/kernel'
import {
  activeFrom,
  isThere,
  loadedFrom,
  NEXT_NUMBERS,
  type RawLoaded,
  type RawRow,
  type RawTurn,
  ROW_COLUMNS_WITHOUT_DATA,
  runningFrom,
} from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareLoad(db: Database): () => Loaded {
  // Takes the larger of each: a turn without events writes the one, all others the other.
  const meta = db
    .prepare(
      `SELECT meta.node, max(meta.next_seq, coalesce(last.next_seq, 1)), max(meta.next_event, coalesce(last.first_event + last.count, 1)),
max(meta.next_session, coalesce(last.next_session, 1)), meta.paused, ${NEXT_NUMBERS},
EXISTS (SELECT 1 FROM flow_due) OR EXISTS (SELECT 1 FROM flow_gone)
FROM meta LEFT JOIN journal AS last ON last.first_event = (SELECT max(first_event) FROM journal)`,
    )
    .raw()
  const lanes = db
    .prepare(`SELECT lane.*, queue.name FROM lane JOIN queue ON queue.id = lane.queue WHERE ${isThere('queue.name')} ORDER BY lane.id`)
    .raw()
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
  const buckets = db.prepare('SELECT queue, key, missing_ms, missing_at FROM key_bucket').raw()
  const pausedKeys = db.prepare('SELECT key FROM paused_key WHERE queue = ?').pluck()
  const pauseEnds = db.prepare('SELECT queue, part, what, until FROM pause_end').raw()
  const running = prepareRunningSeqs(db)
  const definitions = db.prepare('SELECT name, defaults, session, worker, host, said_at, first_seq, settling FROM definition').raw()
  const exports = db.prepare('SELECT name, cursor FROM export ORDER BY name').raw()
  const freed = db
    .prepare('SELECT id FROM schedule LEFT JOIN job ON job.seq = schedule.job_seq WHERE held = 1 AND (job.state IS NULL OR job.state >= 4)')
    .raw()
  const minutes = db
    .prepare(
      'SELECT id, (SELECT max(at) FROM history WHERE history.queue = queue.id AND history.step = 0) AS at FROM queue WHERE at IS NOT NULL',
    )
    .raw()
  const kept = db.prepare('SELECT queue, completed, failed, cancelled FROM kept_count').raw()
  return () =>
    loadedFrom({
      meta: meta.get(),
      queues: (queues.all() as [id: number][]).map((raw): unknown => [...raw, pausedKeys.all(raw[0])]),
      pauseEnds: pauseEnds.all(),
      gates: gates.all(),
      buckets: buckets.all(),
      lanes: lanes.all(),
      active: (active.all(JSON.stringify(running())) as RawRow[]).map(activeFrom),
      present: present.all(),
      definitions: definitions.all(),
      exports: exports.all(),
      freed: freed.all(),
      minutes: minutes.all(),
      kept: kept.all(),
    } as RawLoaded)
}

/** Returns the jobs that ran when they were last noted, brought up to date from the journal. */
function prepareRunningSeqs(db: Database): () => number[] {
  const noted = db.prepare('SELECT event, seqs FROM running').raw()
  const journal = db.prepare('SELECT first_event, at, count, packed FROM journal WHERE first_event > ? ORDER BY first_event').raw()
  return () => {
    const [event, seqs] = noted.get() as [number, Uint8Array]
    return runningFrom(seqs, journal.iterate(event) as Iterable<RawTurn>)
  }
}
