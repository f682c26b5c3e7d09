// Every statement on a large table goes through a key or an index: what a plan scans grows with the file, and stops the writer's thread.
import { expect, test } from 'vitest'
import type { Database } from './driver.ts'
import { connectWriter } from './open/connect.ts'
import { migrate } from './open/migrate.ts'
import { prepareReads } from './read/reads.ts'
import { planOf, statementsOf } from './testing/plan.ts'
import { prepareWrite } from './write/write.ts'

const db: Database = connectWriter(':memory:', { durability: 'normal', cacheKib: 1024, platform: 'test' })
migrate(db, { file: ':memory:', now: 1 })

const reads = statementsOf(db, (recording) => prepareReads(recording))
const writes = statementsOf(db, (recording) => prepareWrite(recording, { epoch: 1, node: 1 })).filter(
  (sql) => !/^(BEGIN|COMMIT|ROLLBACK)/.test(sql),
)

/** Tables that stay small: their rows do not come with jobs, or are a thousand at most, or only until the next turns have done with them, which read them from the front. A key's bucket has a row until it is full; all are read when the file is opened. */
const SMALL =
  /^SCAN (meta|lane|queue|queue_settings|gate|key_bucket|definition|migration|running|export|flow_due|flow_gone|failure|pause_end|kept_count)\b/
/** What a statement brings with it: VALUES, lists, and its own steps. */
const OWN =
  /^SCAN (wanted|shown|listed|passed|shared|started|completed|new|noted|json_each|hop|line|\d+ CONSTANT ROWS?|CONSTANT ROW|\d+-ROW VALUES CLAUSE|\(.*\))/

function scansOf(sql: string): string[] {
  return planOf(db, sql).filter((line) => line.startsWith('SCAN') && !SMALL.test(line) && !OWN.test(line))
}

/** A statement with a name that fits a line. */
function named(statements: readonly string[]): [string, string][] {
  return statements.map((sql) => [
    sql.replace(/(\((\?(, )?)+\)(, )?)+/g, (rows) => `${rows.split('(').length - 1} rows`).replace(/(job\.\w+, )+/, '..., '),
    sql,
  ])
}

/** These read an index from its beginning: as many entries as they may, or all of one that is small. */
const WHOLE_INDEX = /^SELECT (?:(?:seq|CASE .* END) FROM job INDEXED BY|.* FROM session WHERE presence <> 'gone'$)/

test.each(named(writes))('write: %s', (_name, sql) => {
  expect(scansOf(sql)).toEqual([])
})

test.each(named(reads))('read: %s', (_name, sql) => {
  const scans = scansOf(sql)
  if (WHOLE_INDEX.test(sql)) for (const line of scans) expect(line).toMatch(/USING (COVERING )?INDEX/)
  else expect(scans).toEqual([])
})

/** A statement by a piece of its text. */
function plan(statements: readonly string[], piece: string): string {
  const found = statements.filter((sql) => sql.includes(piece))
  expect(found.length, `statements with ${piece}`).toBeGreaterThan(0)
  return found.map((sql) => planOf(db, sql).join('\n')).join('\n')
}

test('a window is read in the order of its index, from a place in it', () => {
  expect(plan(reads, 'job.run_at = ? AND job.seq > ?')).toBe(
    `SEARCH job USING INDEX job_waiting (lane=? AND rank=? AND run_at=? AND rowid>?)
SEARCH job USING INDEX job_parked (gate=? AND rank=? AND run_at=? AND rowid>?)`,
  )
  expect(plan(reads, '(job.rank, job.run_at) > (?, ?)')).toBe(
    `SEARCH job USING INDEX job_waiting (lane=? AND (rank,run_at)>(?,?))
SEARCH job USING INDEX job_parked (gate=? AND (rank,run_at)>(?,?))`,
  )
  expect(plan(reads, 'WHERE job.state = 1 AND job.gate IS NULL AND job.lane = ? ORDER')).toBe('SEARCH job USING INDEX job_waiting (lane=?)')
  expect(plan(reads, 'WHERE job.gate = ? ORDER')).toBe('SEARCH job USING INDEX job_parked (gate=?)')
})

test('jobs with a tag are found block by block, newest first, and a tag goes by its place', () => {
  const ways = (part: string) => [...new Set(plan(reads, part).split('\n'))].filter((line) => line.startsWith('SEARCH'))
  expect(ways('AS (\n  SELECT max(tag.block)')).toEqual([
    'SEARCH tag USING PRIMARY KEY (block<?)',
    'SEARCH tag USING PRIMARY KEY (block=? AND tag=?)',
    'SEARCH hop',
  ])
  expect(ways('FROM tag CROSS JOIN job')).toEqual([
    'SEARCH tag USING PRIMARY KEY (block=? AND tag=? AND seq<?)',
    'SEARCH job USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH lane USING INTEGER PRIMARY KEY (rowid=?)',
  ])
  const gone = new Set(plan(writes, 'DELETE FROM tag').split('\n'))
  expect([...gone]).toEqual(['SEARCH tag USING PRIMARY KEY (block=? AND tag=? AND seq=?)'])
})

test('whose turn a key has: by its key, and else by arrival over an index of such gates alone', () => {
  expect(plan(reads, 'FROM key_turn WHERE queue = ?')).toBe('SEARCH key_turn USING PRIMARY KEY (queue=? AND key=?)')
  expect(plan(reads, 'INDEXED BY job_strict')).toBe('SEARCH job USING COVERING INDEX job_strict (gate=?)')
  expect(plan(writes, 'DELETE FROM key_turn')).toBe('SEARCH key_turn USING PRIMARY KEY (queue=? AND key=?)')
})

test('of a queue that drops its oldest, these come by arrival over an index of such jobs alone', () => {
  expect(plan(reads, 'job.dropping = ?')).toBe('SEARCH job USING INDEX job_arrival (dropping=?)')
})

test('due, expired and finished jobs come from their indexes, already sorted', () => {
  expect(plan(reads, 'job.run_at <= ?')).toBe('SEARCH job USING INDEX job_scheduled (run_at<?)')
  expect(plan(reads, 'job.expires_at <= ?')).toBe('SEARCH job USING INDEX job_expiry (expires_at>? AND expires_at<?)')
  expect(plan(reads, '(finished_at, seq) > (?, ?)')).toMatch(/^SEARCH job USING COVERING INDEX job_failed \(lane=\? AND .*finished_at/)
  expect(plan(reads, 'FROM finished WHERE queue = ? AND state = ? AND (turn, lane) >')).toBe(
    'SEARCH finished USING PRIMARY KEY (queue=? AND state=? AND (turn,lane)>(?,?))',
  )
  const byRow = 'SEARCH job USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'
  expect(plan(reads, 'SELECT count(*), coalesce(sum').split('\n')).toEqual([byRow, byRow])
})

test('jobs with a time of their own come from an index by that time, already sorted, and leave it by their place', () => {
  expect(plan(reads, '(until, turn, lane) >')).toBe(
    'SEARCH kept USING INDEX kept_until (queue=? AND state=? AND (until,turn,lane)>(?,?,?) AND until<?)',
  )
  expect(plan(writes, '(until, turn, lane) <')).toMatch(
    /^(SEARCH kept USING (COVERING )?INDEX kept_until \(queue=\? AND state=\? AND \(until,turn,lane\)<\(\?,\?,\?\)\)\n?){2}$/,
  )
  expect(plan(writes, 'UPDATE kept SET seqs')).toBe('SEARCH kept USING PRIMARY KEY (queue=? AND state=? AND turn=? AND lane=? AND until=?)')
})

test('orders by time come from their indexes, already sorted, from a place in them', () => {
  expect(plan(reads, '(run_at, seq) > (?, ?)')).toBe(
    `SEARCH job USING COVERING INDEX job_scheduled (run_at>?)
SEARCH job USING INDEX job_retrying (run_at>?)`,
  )
  expect(plan(reads, '(finished_at, seq) < (?, ?)')).toMatch(/^SEARCH job USING COVERING INDEX job_failed \(lane=\? AND .*finished_at/)
  expect(plan(reads, 'AND turn < ?').split('\n')).toEqual([
    ...['MERGE (UNION ALL)', 'LEFT', 'SEARCH finished USING PRIMARY KEY (queue=? AND state=? AND turn<?)'],
    ...['RIGHT', 'SEARCH kept USING PRIMARY KEY (queue=? AND state=? AND turn<?)'],
  ])
  expect(plan(reads, 'job.finished_at = ?')).toContain('SEARCH job USING INTEGER PRIMARY KEY (rowid=?)')
})

test('a look goes through rows by their numbers, and through failed jobs of a span by their index', () => {
  expect(plan(reads, 'job.seq BETWEEN ? AND ?')).toContain('SEARCH job USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)')
  expect(plan(reads, 'SELECT max(seq) FROM job').split('\n')).toContain('SEARCH job USING INTEGER PRIMARY KEY (rowid<?)')
  expect(plan(reads, 'finished_at >= ? AND finished_at < ? ORDER')).toContain(
    'SEARCH job USING COVERING INDEX job_failed (lane=? AND finished_at>? AND finished_at<?)',
  )
})

test('the last runs that a filter judges are found row by row', () => {
  const found = plan(reads, 'fingerprint(error_name')
  expect(found).toContain('SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (seq=?)')
  expect(found).toContain('SEARCH session USING INTEGER PRIMARY KEY (rowid=?)')
  expect(found).not.toContain('TEMP B-TREE')
})

test('active jobs come by row number', () => {
  expect(plan(reads, 'session.uuid')).toContain('SEARCH job USING INTEGER PRIMARY KEY (rowid=?)')
})

test('sessions that are there come from an index of those alone, and change by row number', () => {
  expect(plan(reads, "presence <> 'gone'")).toBe('SCAN session USING INDEX session_present')
  expect(plan(writes, 'UPDATE session SET presence')).toBe('SEARCH session USING INTEGER PRIMARY KEY (rowid=?)')
})

test('jobs are started, completed and deleted by row number', () => {
  for (const piece of [
    'SET state = 2, run = run',
    'SET state = 4, finished_at = at',
    'SET state = 4, finished_at = ?',
    'DELETE FROM job WHERE seq',
  ]) {
    expect(plan(writes, piece)).toMatch(/SEARCH job USING INTEGER PRIMARY KEY \(rowid(=\?|>\? AND rowid<\?)\)/)
  }
})

test('no query sorts what it has read, but for the pages that are chosen small, the kinds of failures, and the queues by what they have counted', () => {
  const sorting = [...reads, ...writes].filter((sql) => planOf(db, sql).some((line) => line.includes('USE TEMP B-TREE FOR ORDER BY')))
  for (const sql of sorting)
    expect(sql).toMatch(
      /^SELECT seq FROM job [\s\S]*ORDER BY seq DESC(?: LIMIT \?)?$|^SELECT seq, run, |session\.uuid|^WITH (?:noted|wanted)\b|FROM failure NOT INDEXED /,
    )
})

test('keys that have run out come by their time, and their jobs by row number', () => {
  for (const piece of ['DELETE FROM idempotency WHERE (name, key) IN', 'SET lapsed = 1']) {
    const found = plan(writes, piece)
    expect(found).toContain('SEARCH idempotency USING PRIMARY KEY (name=? AND key=?)')
    expect(found).toContain('SEARCH idempotency USING INDEX idempotency_expiry (expires_at<?)')
    expect(found).toMatch(/SEARCH job (EXISTS )?USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/)
  }
  expect(plan(reads, 'held.lapsed')).toContain('SEARCH held USING PRIMARY KEY (name=? AND key=?)')
})

test('the newest lines of a run are found by their places, however many there are', () => {
  const found = plan(reads, 'AS own WHERE own.seq')
  expect(found).toContain('SEARCH log USING INDEX sqlite_autoindex_log_1 (seq=? AND run=? AND slot>?)')
  expect(found).toContain('SEARCH own USING COVERING INDEX sqlite_autoindex_log_1 (seq=? AND run=?)')
})

test('a job of a journal is found by its index', () => {
  expect(plan(reads, 'job.node = wanted.value')).toContain('SEARCH job USING COVERING INDEX job_sourced (node=?)')
})

test('schedules are found by their ids, the time at which they fire, and their jobs', () => {
  expect(plan(reads, 'schedule.id = wanted.value')).toContain('SEARCH schedule USING INDEX sqlite_autoindex_schedule_1 (id=?)')
  expect(plan(reads, 'AND fire_at <= ?')).toBe('SEARCH schedule USING INDEX schedule_due (fire_at>? AND fire_at<?)')
  expect(plan(reads, 'min(fire_at)')).toMatch(/^SEARCH schedule USING INDEX schedule_due/)
  expect(plan(reads, 'id > ? AND id >= ? AND id < ?')).toMatch(
    /^SEARCH schedule USING INDEX sqlite_autoindex_schedule_1 \(id>\? AND id<\?\)/,
  )
  expect(plan(reads, 'held = 1 AND')).toMatch(
    /^SEARCH schedule USING INDEX schedule_held \(held=\?\)\nSEARCH job USING INTEGER PRIMARY KEY/,
  )
  expect(plan(writes, 'UPDATE schedule SET')).toContain('SEARCH schedule USING INDEX sqlite_autoindex_schedule_1 (id=?)')
  expect(plan(writes, 'DELETE FROM schedule')).toContain('SEARCH schedule USING INDEX sqlite_autoindex_schedule_1 (id=?)')
})

test('of flows, children are met by their parent, parents by their child, and both in order', () => {
  const due = plan(reads, 'FROM flow_due ')
  expect(due).toContain('SCAN flow_due')
  expect(due).toContain('SEARCH edge USING PRIMARY KEY (parent=? AND child>?)')
  expect(due).toContain('SEARCH gate USING INTEGER PRIMARY KEY (rowid=?)')
  expect(due).not.toContain('TEMP B-TREE')
  expect(plan(reads, 'FROM flow_gone LEFT JOIN')).toContain('SEARCH edge USING COVERING INDEX flow_edge_child (child=?)')
  expect(plan(reads, 'edge.child = ? AND edge.place > ?')).toContain(
    'SEARCH edge USING COVERING INDEX flow_edge_child (child=? AND place>?)',
  )
  for (const piece of ['job.seq >= ? AND job.seq < ? ORDER', 'SELECT min(job.seq), max(job.finished_at)'])
    expect(new Set(plan(reads, piece).split('\n'))).toEqual(new Set(['SEARCH job USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']))
  expect(plan(reads, 'SELECT edge.parent, edge.told')).toBe('SEARCH edge USING INDEX flow_edge_child (child=? AND place>?)')
  expect(plan(reads, 'ended.ref, job.extras')).toBe(`SCAN wanted VIRTUAL TABLE INDEX 1:
SEARCH job USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN
SEARCH ended USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN`)
  expect(plan(reads, 'FROM flow_gate AS gate CROSS JOIN job')).toBe(`SEARCH gate USING INTEGER PRIMARY KEY (rowid<?)
SEARCH job USING INTEGER PRIMARY KEY (rowid=?)`)
  expect(plan(writes, 'SET told = ?')).toBe('SEARCH flow_edge USING PRIMARY KEY (parent=? AND child=?)')
})

test('history is read and forgotten by queue and time; failures by when they were seen', () => {
  expect(plan(reads, 'FROM history WHERE queue = ? AND step = ? AND at >= ?')).toBe(
    'SEARCH history USING PRIMARY KEY (queue=? AND step=? AND at>?)',
  )
  const ranked = plan(reads, 'WITH noted')
    .split('\n')
    .filter((line) => /history|lane/.test(line))
  expect(ranked).toEqual([
    'SEARCH history USING PRIMARY KEY (queue=? AND step=? AND at>? AND at<?)',
    'SEARCH history USING PRIMARY KEY (queue=? AND step=? AND at>?)',
    expect.stringMatching(/^SEARCH lane USING INDEX \w+ \(queue=\?\)$/),
  ])
  expect(plan(reads, 'max(at) FROM history')).toContain('SEARCH history USING PRIMARY KEY (queue=? AND step=?)')
  expect(plan(writes, 'DELETE FROM history WHERE queue = ?')).toContain('SEARCH history USING PRIMARY KEY (queue=?')
  expect(plan(writes, 'DELETE FROM failure WHERE lane')).toBe('SEARCH failure USING PRIMARY KEY (lane=?)')
  expect(plan(writes, 'DELETE FROM history WHERE queue = ? AND')).toBe(
    `SEARCH history USING PRIMARY KEY (queue=? AND step=? AND at<?)
SEARCH history USING PRIMARY KEY (queue=? AND step=? AND at>?)`,
  )
  expect([...new Set(plan(writes, 'UPDATE failure').split('\n'))]).toEqual(['SEARCH failure USING PRIMARY KEY (lane=? AND fingerprint=?)'])
  expect(plan(writes, 'DELETE FROM failure WHERE last_at')).toBe('SEARCH failure USING INDEX failure_last (last_at<?)')
  const failures = plan(reads, 'FROM failure')
  expect(failures).toContain('SEARCH job USING INTEGER PRIMARY KEY (rowid=?)')
  expect(failures).toContain('SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (seq=? AND run=?)')
})

test('the last runs of a page are found job by job', () => {
  expect([...new Set(plan(reads, 'session.worker, attempt.run').split('\n'))]).toEqual([
    'SCAN wanted VIRTUAL TABLE INDEX 1:',
    'SEARCH job USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH session USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN',
    'SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (seq=? AND run=?) LEFT-JOIN',
    'CORRELATED SCALAR SUBQUERY 1',
    'SEARCH each USING COVERING INDEX sqlite_autoindex_attempt_1 (seq=?)',
  ])
})
