/**
 * Inspects a file read-only, whether or not an engine of another process has it open. Reports what the file is, and whether it
 * matches its own counters and lists. One read sees one commit. An audit reads every page, and keeps only the problems in memory.
 */
import { statSync } from 'node:fs'
import { isErrorOf, NotADatabaseError, STATES, type State } from '@millrace/core'
import { isThere, unpackRanges } from '@millrace/sql'
import { type Database, sqliteCode } from './driver.ts'
import { SCHEMA_VERSION } from './migrations/list.ts'
import { connectReader } from './open/connect.ts'
import { identify, translate } from './open/identify.ts'
import { assertOwnLog } from './open/log.ts'
import { ledger } from './open/migrate.ts'
import { checkFile, realFile } from './open/place.ts'
import { CREATION_SETTINGS } from './open/pragmas.ts'
import { probeOwner } from './owner/probe.ts'
import { prepareLoad } from './read/load.ts'
import { HAS_KEEP } from './read/prunable.ts'

export interface FileFacts {
  readonly schemaVersion: number
  /** The schema version that this version of Millrace upgrades a file to. */
  readonly knownVersion: number
  /** The migrations applied to the file, oldest first. Times are in milliseconds since 1970. */
  readonly migrations: readonly { readonly id: number; readonly name: string; readonly appliedAt: number }[]
  /** The number of engines that have owned the file. */
  readonly epoch: number
  readonly createdAt: number
  /** The time of the last turn with an event in the journal; 0 if there is none. */
  readonly lastEventAt: number
  readonly fileBytes: number
  readonly walBytes: number
  readonly pageBytes: number
  readonly freePages: number
  /** `wal` once an engine has opened the file; `delete` for a backup until then. */
  readonly journalMode: string
  /** The settings that the file got when it was created, and the values that they should have. */
  readonly settings: readonly { readonly name: string; readonly value: number | string; readonly wanted: number | string }[]
}

export interface FileProblems {
  /** The errors that SQLite finds: at most 100 in pages and rows, and at most 100 in references. */
  readonly integrity: readonly string[]
  /** Queues whose counters differ from their rows. */
  readonly counters: readonly string[]
  /** Finished jobs that retention would not find, and running jobs that opening the file would not find. */
  readonly lists: readonly string[]
}

const PROBLEMS_MAX = 100

/**
 * Returns the facts alone. Cheap: it does not read the whole file.
 *
 * @throws NotADatabaseError, SchemaTooNewError, StorageError, NotWritableError
 */
export function inspectFile(file: string): FileFacts {
  return looking(file, (db, path) => factsOf(db, path))
}

/**
 * Returns the facts and all problems. Reads the whole file.
 *
 * @throws as `inspectFile`
 */
export function auditFile(file: string): { readonly facts: FileFacts; readonly problems: FileProblems } {
  return looking(file, (db, path) => {
    const facts = factsOf(db, path)
    const integrity = [...readable('pages', () => integrityOf(db)), ...readable('references', () => referencesOf(db))]
    // A file with another schema has other tables.
    if (facts.schemaVersion !== SCHEMA_VERSION) return { facts, problems: { integrity, counters: [], lists: [] } }
    const counters = [...readable('counters', () => countersOf(db)), ...readable('kept jobs', () => keptOf(db))]
    const lists = [...readable('finished jobs', () => finishedOf(db)), ...readable('running jobs', () => runningOf(db))]
    return { facts, problems: { integrity, counters, lists } }
  })
}

/**
 * Returns false if nothing is in the file yet, and true if an engine can open it or a process has it open. Cheap, and at once: an engine that
 * shares its file would first wait for another process that can open it.
 *
 * @throws as `inspectFile`
 */
export function isQueue(file: string): boolean {
  checkFile(file)
  const path = realFile(file)
  if (probeOwner(path) !== undefined) return true
  assertOwnLog(path)
  try {
    return identify(path)
  } catch (error) {
    // A process has just opened it, or closes it.
    if (isErrorOf(error, 'StorageBusyError')) return true
    throw error
  }
}

const CACHE_KIB = 16 * 1024

function looking<T>(file: string, look: (db: Database, path: string) => T): T {
  const path = realFile(file)
  checkFile(file)
  if (probeOwner(path) === undefined) assertOwnLog(path)
  if (!identify(path)) throw new NotADatabaseError(`there is no file ${path}, or nothing is in it yet`, { path })
  try {
    const db = connectReader(path, CACHE_KIB)
    try {
      db.exec('BEGIN')
      return look(db, path)
    } finally {
      db.close()
    }
  } catch (error) {
    throw translate(error, path)
  }
}

function factsOf(db: Database, path: string): FileFacts {
  const meta = db.prepare('SELECT schema_version, epoch, created_at FROM meta').raw().get() as [number, number, number]
  const last = db.prepare('SELECT at FROM journal ORDER BY first_event DESC LIMIT 1').pluck().get() as number | undefined
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number | string
  return {
    schemaVersion: meta[0],
    knownVersion: SCHEMA_VERSION,
    migrations: ledger(db),
    epoch: meta[1],
    createdAt: meta[2],
    lastEventAt: last ?? 0,
    fileBytes: sizeOf(path),
    walBytes: sizeOf(`${path}-wal`),
    pageBytes: pragma('page_size') as number,
    freePages: pragma('freelist_count') as number,
    journalMode: String(pragma('journal_mode')),
    settings: CREATION_SETTINGS.map(({ name, value: wanted }) => ({ name, value: pragma(name), wanted })),
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Runs a check. If the pages are too damaged to read, the result says so. */
function readable(what: string, look: () => string[]): string[] {
  try {
    return look()
  } catch (error) {
    if (!sqliteCode(error)?.startsWith('SQLITE_CORRUPT')) throw error
    return [`the ${what} cannot be read: ${(error as Error).message}`]
  }
}

function integrityOf(db: Database): string[] {
  const found = db.pragma(`integrity_check(${PROBLEMS_MAX})`) as { readonly integrity_check: string }[]
  return found.map((row) => row.integrity_check).filter((line) => line !== 'ok')
}

function referencesOf(db: Database): string[] {
  const keys = db.pragma('foreign_key_check') as { readonly table: string; readonly rowid: number; readonly parent: string }[]
  return keys.slice(0, PROBLEMS_MAX).map(({ table, rowid, parent }) => `row ${rowid} of ${table} refers to nothing in ${parent}`)
}

const FINAL = ['completed', 'failed', 'cancelled'] as const

type LaneCounts = Readonly<Record<State | 'retrying', number>> & { readonly id: number; readonly name: string; readonly queue: string }

function countersOf(db: Database): string[] {
  const lanes = db
    .prepare(
      `SELECT lane.*, queue.name AS queue FROM lane JOIN queue ON queue.id = lane.queue WHERE ${isThere('queue.name')} ORDER BY lane.id`,
    )
    .all() as LaneCounts[]
  const retrying = db.prepare('SELECT lane, count(*) FROM job WHERE state = 0 AND run > uncounted GROUP BY lane').raw().all() as [
    number,
    number,
  ][]
  const waits = new Map(retrying)
  const counted = new Map<string, number>()
  const rows = db.prepare('SELECT lane, state, count(*) FROM job GROUP BY lane, state').raw().iterate() as Iterable<
    [number, number, number]
  >
  for (const [lane, state, count] of rows) counted.set(`${lane} ${state}`, count)
  return lanes.flatMap((lane) => {
    const wrong = (what: State | 'retrying', found = 0) =>
      found === lane[what] ? [] : [`queue ${lane.queue}, jobs ${lane.name}: counted ${lane[what]} ${what}, found ${found}`]
    return [...STATES.flatMap((state, code) => wrong(state, counted.get(`${lane.id} ${code}`))), ...wrong('retrying', waits.get(lane.id))]
  })
}

/** Counts the finished jobs that have a `keep` of their own. */
function keptOf(db: Database): string[] {
  const queues = db
    .prepare(
      `SELECT queue.name, ${FINAL.map((state) => `coalesce(${state}, 0)`).join(', ')}, ${FINAL.map((state) => `coalesce(found_${state}, 0)`).join(', ')}
FROM queue LEFT JOIN kept_count ON kept_count.queue = queue.id LEFT JOIN (
  SELECT lane.queue, ${FINAL.map((state) => `sum(state = ${STATES.indexOf(state)}) AS found_${state}`).join(', ')}
  FROM job JOIN lane ON lane.id = job.lane WHERE state >= 4 AND ${HAS_KEEP} GROUP BY lane.queue
) AS found ON found.queue = queue.id ORDER BY queue.id`,
    )
    .raw()
    .all() as [name: string, ...numbers: number[]][]
  return queues.flatMap(([name, ...numbers]) =>
    FINAL.flatMap((state, place) => {
      const [counted, found] = [numbers[place], numbers[place + FINAL.length]]
      return counted === found ? [] : [`queue ${name}: counted ${counted} ${state} jobs with a keep of their own, found ${found}`]
    }),
  )
}

/**
 * Counts finished jobs that no batch lists. Each belongs in the batch of the turn in which it finished; a batch may list more
 * jobs, which were brought back since.
 */
function finishedOf(db: Database): string[] {
  const finished = db.prepare('SELECT count(*) FROM job WHERE state >= 4').pluck().get() as number
  const named = db.prepare('SELECT count(*) FROM job WHERE seq BETWEEN ? AND ? AND state = ? AND lane = ? AND finished_at = ?').pluck()
  const batches = db
    .prepare('SELECT state, lane, at, seqs FROM finished UNION ALL SELECT state, lane, at, seqs FROM kept')
    .raw()
    .iterate() as Iterable<[number, number, number, Uint8Array]>
  let listed = 0
  for (const [state, lane, at, seqs] of batches)
    for (const [first, last] of unpackRanges(seqs)) listed += named.get(first, last, state, lane, at) as number
  return listed >= finished ? [] : [`${finished - listed} finished jobs are in no batch: retention would keep them for ever`]
}

function runningOf(db: Database): string[] {
  const found = new Set(prepareLoad(db)().active.map(({ seq }) => seq))
  const running = db.prepare('SELECT seq FROM job WHERE state = 2').pluck().iterate() as Iterable<number>
  const lost: string[] = []
  for (const seq of running)
    if (!found.has(seq) && lost.length < PROBLEMS_MAX)
      lost.push(`the job of row ${seq} runs, and would not be found when the file is opened`)
  return lost
}
