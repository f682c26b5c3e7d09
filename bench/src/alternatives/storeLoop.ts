/**
 * The statements of a busy writer without the rest of the engine: turns that insert jobs as running, complete those of the turn
 * before, and prune the oldest once so many are kept. What is asked is what each way of doing one of these costs per job.
 */
import Database from 'better-sqlite3'
import type { Figures } from '../measurement.ts'
import { payloadOf } from '../payload.ts'

export interface StoreLoop {
  readonly file: string
  readonly jobs: number
  /** Jobs per turn. */
  readonly turn: number
  /** Finished jobs that are kept; the oldest go as new ones finish. */
  readonly keep: number
  readonly pageSize: number
  readonly checkpointPages: number
  readonly autoVacuum: 'none' | 'incremental'
  readonly insert: 'values' | 'row'
  readonly update: 'range' | 'list' | 'values' | 'json' | 'row'
  readonly indexes: 'neither' | 'active' | 'finished' | 'both'
  /** `two`: finished jobs move to a table of their own. */
  readonly tables: 'one' | 'two'
  readonly checks: boolean
  readonly journal: boolean
}

export const AS_THE_ENGINE: Omit<StoreLoop, 'file'> = {
  jobs: 300_000,
  turn: 250,
  keep: 100_000,
  pageSize: 4096,
  checkpointPages: 4000,
  autoVacuum: 'incremental',
  insert: 'values',
  update: 'range',
  indexes: 'neither',
  tables: 'one',
  checks: true,
  journal: true,
}

const ROWS = 50
const NODE = 12_345
const BYTES_PER_JOB_IN_JOURNAL = 8
const COLUMNS =
  'seq, node, lane, state, rank, weight, run_at, run, uncounted, session, enqueued_at, started_at, finished_at, expires_at, cancel_requested, policy, extras, data, checkpoint, progress, output'

export function runStoreLoop(loop: StoreLoop): Figures {
  const db = open(loop)
  const steps = prepareSteps(db, loop)
  const spentMs = { insert: 0, update: 0, prune: 0, commit: 0 }
  const timed = (step: keyof typeof spentMs, work: () => void) => {
    const beginMs = performance.now()
    work()
    spentMs[step] += performance.now() - beginMs
  }
  const { jobs, turn, keep } = loop
  const packed = Buffer.alloc(turn * BYTES_PER_JOB_IN_JOURNAL)
  let pruned = 1
  for (let first = 1; first <= jobs + turn; first += turn) {
    const before = first - turn
    steps.begin.run()
    if (loop.journal) steps.journal.run(first, first, turn * 2, packed)
    if (first <= jobs) timed('insert', () => steps.insert(first, first + turn - 1))
    if (before > 0) timed('update', () => steps.complete(before, before + turn - 1, first))
    if (before > keep) {
      timed('prune', () => steps.prune(pruned, pruned + turn - 1))
      pruned += turn
    }
    timed('commit', () => steps.commit.run())
  }
  const left = db
    .prepare(`SELECT count(*) FROM ${loop.tables === 'two' ? 'finished_job' : 'job'}`)
    .pluck()
    .get() as number
  db.close()
  if (left !== jobs - pruned + 1) throw new Error(`${left} jobs are left of ${jobs}, of which ${pruned - 1} were pruned`)
  const perJob = (ms: number) => (ms * 1_000) / jobs
  const { insert, update, prune, commit } = spentMs
  return {
    totalMicros: perJob(insert + update + prune + commit),
    insertMicros: perJob(insert),
    updateMicros: perJob(update),
    pruneMicros: perJob(prune),
    commitMicros: perJob(commit),
  }
}

function open({ file, pageSize, autoVacuum, checkpointPages, checks, indexes, tables }: StoreLoop): Database.Database {
  const db = new Database(file)
  db.pragma(`page_size = ${pageSize}`)
  db.pragma(`auto_vacuum = ${autoVacuum}`)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  db.pragma('cache_size = -16384')
  const check = (text: string) => (checks ? text : '')
  const table = (name: string) => `CREATE TABLE ${name} (
  seq INTEGER PRIMARY KEY, node INTEGER NOT NULL, lane INTEGER NOT NULL, state INTEGER NOT NULL ${check('CHECK (state BETWEEN 0 AND 6)')},
  rank INTEGER NOT NULL, weight INTEGER NOT NULL, run_at INTEGER NOT NULL, run INTEGER NOT NULL,
  uncounted INTEGER NOT NULL ${check('CHECK (uncounted BETWEEN 0 AND run)')}, session INTEGER, enqueued_at INTEGER NOT NULL, started_at INTEGER,
  finished_at INTEGER, expires_at INTEGER, cancel_requested INTEGER NOT NULL ${check('CHECK (cancel_requested IN (0, 1))')}, policy TEXT,
  extras TEXT, data ANY, checkpoint ANY, progress TEXT, output ANY
  ${check(', CHECK ((state >= 4) = (finished_at IS NOT NULL)), CHECK (state <> 2 OR (run > 0 AND session IS NOT NULL AND started_at IS NOT NULL))')}
) STRICT`
  db.exec(table('job'))
  db.exec(
    'CREATE INDEX job_waiting ON job (lane, rank, run_at) WHERE state = 1; CREATE INDEX job_scheduled ON job (run_at) WHERE state = 0',
  )
  db.exec('CREATE INDEX job_expiry ON job (expires_at) WHERE expires_at IS NOT NULL AND state IN (0, 1, 3)')
  db.exec('CREATE TABLE journal (first_event INTEGER PRIMARY KEY, at INTEGER, count INTEGER, packed BLOB) STRICT')
  if (tables === 'two') db.exec(table('finished_job'))
  if (indexes === 'active' || indexes === 'both') db.exec('CREATE INDEX job_active ON job (state) WHERE state = 2')
  if (indexes === 'finished' || indexes === 'both')
    db.exec('CREATE INDEX job_finished ON job (lane, state, finished_at) WHERE finished_at IS NOT NULL')
  return db
}

function prepareSteps(db: Database.Database, { insert, update, tables }: StoreLoop) {
  const data = JSON.stringify(payloadOf(1))
  const values = (width: number) =>
    Array(ROWS)
      .fill(`(${Array(width).fill('?').join(', ')})`)
      .join(', ')
  const insertValues = db.prepare(`WITH shared (node, at) AS (SELECT ?, ?) INSERT INTO job (${COLUMNS})
SELECT new.column1, node, new.column2, 2, 0, 1, at, 1, 0, new.column3, at, at, NULL, NULL, 0, NULL, NULL, new.column4, NULL, NULL, NULL
FROM shared, (VALUES ${values(4)}) AS new`)
  const insertRow = db.prepare(
    `INSERT INTO job (${COLUMNS}) VALUES (?, ?, ?, 2, 0, 1, ?, 1, 0, ?, ?, ?, NULL, NULL, 0, NULL, NULL, ?, NULL, NULL, NULL)`,
  )
  const set = 'UPDATE job SET state = 4, finished_at = ?, output = NULL WHERE +state = 2 AND'
  const updates = {
    range: db.prepare(`${set} seq BETWEEN ? AND ?`),
    list: db.prepare(`${set} seq IN (${Array(ROWS).fill('?').join(', ')})`),
    json: db.prepare(`${set} seq IN (SELECT value FROM json_each(?))`),
    row: db.prepare(`${set} seq = ?`),
    values: db.prepare(`WITH shared (at) AS (SELECT ?) UPDATE job SET state = 4, finished_at = at, output = done.column2
FROM shared, (VALUES ${values(2)}) AS done WHERE job.seq = done.column1 AND +job.state = 2`),
  }
  const table = tables === 'two' ? 'finished_job' : 'job'
  const remove = db.prepare(`DELETE FROM ${table} WHERE seq BETWEEN ? AND ?`)
  const look = db.prepare(`SELECT count(*), sum(octet_length(data)), count(extras) FROM ${table} WHERE seq BETWEEN ? AND ? AND +state = 4`)
  const leave =
    tables === 'two'
      ? db.prepare(
          `INSERT INTO finished_job SELECT ${COLUMNS.replace('state', '4').replace('finished_at', '?')} FROM job WHERE seq BETWEEN ? AND ?`,
        )
      : undefined
  const left = db.prepare('DELETE FROM job WHERE seq BETWEEN ? AND ?')

  const complete = (first: number, last: number, at: number): void => {
    if (leave !== undefined) {
      leave.run(at, first, last)
      left.run(first, last)
    } else if (update === 'range') updates.range.run(at, first, last)
    else if (update === 'json') updates.json.run(at, JSON.stringify(numbers(first, last)))
    else if (update === 'row') for (let seq = first; seq <= last; seq++) updates.row.run(at, seq)
    else
      for (let seq = first; seq <= last; seq += ROWS) {
        const seqs = numbers(seq, seq + ROWS - 1)
        if (update === 'list') updates.list.run(at, ...seqs)
        else updates.values.run(at, ...seqs.flatMap((one) => [one, null]))
      }
  }

  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    journal: db.prepare('INSERT INTO journal VALUES (?, ?, ?, ?)'),
    insert: (first: number, last: number): void => {
      if (insert === 'row') for (let seq = first; seq <= last; seq++) insertRow.run(seq, NODE, 1, first, 1, first, first, data)
      else
        for (let seq = first; seq <= last; seq += ROWS)
          insertValues.run(NODE, first, ...numbers(seq, seq + ROWS - 1).flatMap((one) => [one, 1, 1, data]))
    },
    complete,
    prune: (first: number, last: number): void => {
      look.get(first, last)
      remove.run(first, last)
    },
  }
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
