/** Looks into a file that no engine has open, or breaks it, as another program might: for tests of the whole. */
import { seqsIn, unpackRanges } from '@millrace/sql'
import { type Database, openDatabase } from '../driver.ts'
import { SCHEMA_VERSION } from '../migrations/list.ts'
import { prepareLoad } from '../read/load.ts'

type Row = Readonly<Record<string, unknown>>

/** The states in the order of their codes, as a lane's counters name them. */
const STATES = ['scheduled', 'waiting', 'active', 'blocked', 'completed', 'failed', 'cancelled']

export interface FileAudit {
  /**
   * The findings of `PRAGMA integrity_check` and `foreign_key_check`, and every lane whose counters differ from its rows; empty
   * if all is well.
   */
  readonly problems: readonly string[]
  readonly jobs: readonly JobFacts[]
}

export interface JobFacts {
  readonly seq: number
  readonly node: number
  readonly enqueuedAt: number
  readonly state: string
  readonly run: number
  readonly attempt: number
}

export function auditFile(file: string): FileAudit {
  const db = openDatabase(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    return auditDatabase(db)
  } finally {
    db.close()
  }
}

/** Checks invariant 7. */
export function auditDatabase(db: Database): FileAudit {
  const integrity = (db.pragma('integrity_check') as Row[]).map((row) => String(row['integrity_check']))
  const keys = db.pragma('foreign_key_check') as Row[]
  const lanes = db.prepare('SELECT * FROM lane ORDER BY id').all() as Row[]
  const counted = db.prepare('SELECT lane, state, count(*) AS count FROM job GROUP BY lane, state').all() as Row[]
  const wrong = lanes.flatMap((lane) =>
    STATES.flatMap((state, code) => {
      const rows = counted.find((row) => row['lane'] === lane['id'] && row['state'] === code)?.['count'] ?? 0
      return rows === lane[state] ? [] : [`lane ${lane['name']}: ${lane[state]} ${state}, but ${rows} rows`]
    }),
  )
  const lost = unlisted(db)
  const timeless = badHistory(db)
  const ended = badTurns(db)
  const kept = badDrops(db)
  const jobs = db
    .prepare('SELECT seq, node, enqueued_at AS enqueuedAt, state, run, run - uncounted AS attempt FROM job ORDER BY seq')
    .all() as Row[]
  return {
    problems: [
      ...integrity.filter((line) => line !== 'ok'),
      ...keys.map((row) => JSON.stringify(row)),
      ...wrong,
      ...lost,
      ...timeless,
      ...ended,
      ...kept,
    ],
    jobs: jobs.map((job) => ({ ...job, state: STATES[job['state'] as number] }) as JobFacts),
  }
}

/** Reports finished jobs that no batch lists, and running jobs that opening the file would not find. */
function unlisted(db: Database): string[] {
  const batches = db.prepare('SELECT state, lane, at, seqs FROM finished UNION ALL SELECT state, lane, at, seqs FROM kept').all() as Row[]
  const listed = new Set(
    batches.flatMap(({ state, lane, at, seqs }) => seqsIn(unpackRanges(seqs as Uint8Array)).map((seq) => [seq, state, lane, at].join())),
  )
  const finished = db.prepare('SELECT seq, state, lane, finished_at AS at FROM job WHERE state >= 4').all() as Row[]
  const active = new Set(prepareLoad(db)().active.map(({ seq }) => seq))
  const running = db.prepare('SELECT seq FROM job WHERE state = 2').pluck().all() as number[]
  return [
    ...finished
      .filter(({ seq, state, lane, at }) => !listed.has([seq, state, lane, at].join()))
      .map(({ seq }) => `job ${seq} is in no batch`),
    ...running.filter((seq) => !active.has(seq)).map((seq) => `job ${seq} runs, and would not be found`),
  ]
}

/** Reports turns of keys that belong to final or deleted jobs: no other job of the key would ever start. */
function badTurns(db: Database): string[] {
  const turns = db.prepare('SELECT key, key_turn.seq, state FROM key_turn LEFT JOIN job ON job.seq = key_turn.seq').all() as Row[]
  return turns
    .filter(({ state }) => state === null || (state as number) >= 4)
    .map(({ key, seq }) => `key ${key} has its turn with job ${seq}, which lives no more`)
}

/** Reports dropped jobs that live, and jobs that the index has in another queue than their own. */
function badDrops(db: Database): string[] {
  const wrong = db
    .prepare(
      `SELECT seq FROM job JOIN lane ON lane.id = job.lane WHERE job.dropping IS NOT NULL
AND CASE job.dropping WHEN 0 THEN job.state <> 6 ELSE job.dropping <> lane.queue END`,
    )
    .pluck()
  return (wrong.all() as number[]).map((seq) => `job ${seq} is dropped in another state, or arrives in another queue`)
}

/** Reports totals that shrink. A queue's totals only grow: from each minute to the next, and from the last to the current ones. */
function badHistory(db: Database): string[] {
  const totals = ['enqueued', 'completed', 'failed', 'cancelled']
  const kept = db.prepare('SELECT * FROM history ORDER BY queue, step, at').all() as Row[]
  const sums = totals.map((total) => `sum(total_${total}) AS ${total}`).join(', ')
  const now = db.prepare(`SELECT queue, ${sums} FROM lane GROUP BY queue`).all() as Row[]
  return kept.flatMap((row, index) => {
    const after = kept[index + 1]
    const next =
      after?.['queue'] === row['queue'] && after?.['step'] === row['step'] ? after : now.find(({ queue }) => queue === row['queue'])
    const shrunk = totals.filter((total) => !((next?.[total] as number) >= (row[total] as number)))
    return shrunk.map((total) => `queue ${row['queue']}: ${row[total]} ${total} before ${row['at']}, and ${next?.[total]} after it`)
  })
}

export function tableRows(file: string, table: string): Row[] {
  const db = openDatabase(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    return db.prepare(`SELECT * FROM ${table} ORDER BY 1`).all() as Row[]
  } finally {
    db.close()
  }
}

/** Begins a read that lasts until it is ended, like that of a program that reads the file slowly. */
export function holdRead(file: string): () => void {
  const db = openDatabase(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  db.exec('BEGIN')
  db.prepare('SELECT count(*) FROM job').get()
  return () => void db.close()
}

/** Writes something that an engine never would. */
export function tamper(file: string, sql: string, ...values: unknown[]): void {
  const db = openDatabase(file, { fileMustExist: true, timeout: 5_000 })
  try {
    db.prepare(sql).run(...values)
  } finally {
    db.close()
  }
}

/** Acts like another engine that has somehow got past the lock. */
export function stealFile(file: string): void {
  tamper(file, 'UPDATE meta SET epoch = epoch + 1')
}

/** Leaves the file as a later version would, which this one must not open. */
export function makeTooNew(file: string): void {
  tamper(file, 'UPDATE meta SET schema_version = ?, min_reader = ?', SCHEMA_VERSION + 1, SCHEMA_VERSION + 1)
}

/** Creates a database of another program. */
export function makeForeign(file: string): void {
  const db = openDatabase(file)
  db.exec('CREATE TABLE diary (day INTEGER, entry TEXT)')
  db.close()
}
