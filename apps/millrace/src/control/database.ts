/**
 * The control database: tokens, endpoints of events, secrets, what configurations have set, and the audit of changes. It is a small file
 * beside the queue's, with the only SQL of the app: docs/decisions/0020. Several processes may have it open at once.
 */
import { chmodSync, constants, copyFileSync, linkSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { FileTruncatedError, isErrorOf, NotADatabaseError, NotWritableError, SchemaTooNewError, SchemaTooOldError } from '@millrace/core'
import { assertWhole, type Database, MEMORY_FILE, openDatabase as openSqlite, WatchedFile } from '@millrace/sqlite'

export interface TokenRow {
  readonly id: string
  readonly name: string
  readonly sha256: Uint8Array
  /** A list separated by spaces, like the next two fields. */
  readonly scopes: string
  /** The job names that are allowed; null for every name. */
  readonly names: string | null
  /** The queues that are allowed; null for every queue. */
  readonly queues: string | null
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

export interface EndpointRow {
  readonly id: string
  /** All fields of the endpoint but its id and its cursor, as JSON. */
  readonly settings: string
  readonly cursor: number
}

export interface AuditRow {
  readonly at: number
  readonly who: string
  readonly operation: string
  /** JSON. */
  readonly target: string
  readonly outcome: string
  /** The HTTP status; 0 for a call by socket. */
  readonly status: number
  /** http or socket. */
  readonly via: string
  /** The code of an error by socket; null otherwise. */
  readonly code: string | null
}

/** An entry that the configuration of a daemon has set: a schedule, an endpoint, a setting of a queue. */
export interface ConfiguredRow {
  /** The daemon whose configuration it is. */
  readonly daemon: string
  /** The section of the configuration. */
  readonly section: string
  readonly name: string
  /** The state of the entry after it was set. If it differs later, somebody else has changed it. */
  readonly mark: string
}

/** Migrations are appended and never changed. The file's user_version is their number, after those from before 0.1.0. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE token (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     sha256 BLOB NOT NULL UNIQUE,
     scopes TEXT NOT NULL,
     names TEXT,
     queues TEXT,
     createdAt INTEGER NOT NULL,
     lastUsedAt INTEGER,
     revokedAt INTEGER
   ) STRICT;
   CREATE UNIQUE INDEX token_name ON token (name) WHERE revokedAt IS NULL;
   CREATE TABLE endpoint (
     id TEXT PRIMARY KEY,
     settings TEXT NOT NULL,
     cursor INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE audit (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     who TEXT NOT NULL,
     operation TEXT NOT NULL,
     target TEXT NOT NULL,
     outcome TEXT NOT NULL,
     status INTEGER NOT NULL,
     via TEXT NOT NULL,
     code TEXT
   ) STRICT;
   CREATE INDEX audit_refused ON audit (outcome = 'refused');
   CREATE TABLE secret (
     name TEXT PRIMARY KEY,
     value BLOB NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE ended_session (
     id TEXT PRIMARY KEY,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE configured (
     daemon TEXT NOT NULL,
     section TEXT NOT NULL,
     name TEXT NOT NULL,
     mark TEXT NOT NULL,
     PRIMARY KEY (daemon, section, name)
   ) STRICT, WITHOUT ROWID;`,
]
/** The last number from before 0.1.0. */
const EARLY = 7
const NEWEST = EARLY + MIGRATIONS.length

/** Deletes those whose cookies have expired, and beyond a number the first of the token that has the most. Ids begin with its mark and a dot. */
const FORGET_SESSIONS = `DELETE FROM ended_session WHERE until <= ? OR id IN (
  SELECT id FROM ended_session
  WHERE substr(id, 1, instr(id, '.')) = (
    SELECT substr(id, 1, instr(id, '.')) AS mark FROM ended_session GROUP BY mark ORDER BY count(*) DESC LIMIT 1
  )
  ORDER BY until LIMIT max(0, (SELECT count(*) FROM ended_session) - ?)
)`

/** 'Mill'. */
const APPLICATION_ID = 0x4d696c6d
/** The time to wait for a lock. Other processes write for milliseconds, and the daemon's thread must not wait for long. */
const BUSY_MS = 1_000

export type ControlDatabase = ReturnType<typeof openDatabase>

/**
 * Every write throws OwnerLostError once the file or its log was taken away. What was read before can still be read.
 *
 * @throws NotADatabaseError, FileTruncatedError, SchemaTooNewError, SchemaTooOldError, NotWritableError
 */
export function openDatabase(file: string) {
  const db = openFile(file)
  try {
    migrate(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  // The migration has read.
  const watched = file === MEMORY_FILE ? undefined : new WatchedFile(db, file)
  let fault: Error | undefined
  /** Remembers the fault if nothing can be written any more. */
  const noting = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (isFault(error)) fault = error
      throw error
    }
  }
  const write = <T>(work: () => T): T =>
    noting(() => {
      watched?.assert()
      const value = db.transaction(work).immediate()
      watched?.assert()
      fault = undefined
      return value
    })
  return {
    ...statementsOf(db),
    /** Runs `work` in one transaction that waits for other writers first. @throws OwnerLostError */
    write,
    /** Writes what the file has already, through to the disk. @throws OwnerLostError; the error of SQLite */
    probe: () => void write(() => db.pragma(`user_version = ${NEWEST}`)),
    /** @throws OwnerLostError if the file or its log was taken away */
    assertThere: () => noting(() => watched?.assert()),
    /** Returns why the last write failed; undefined if it did not. */
    fault: () => fault,
    /** Returns a number that changes whenever another process has written. */
    version: () => db.pragma('data_version', { simple: true }) as number,
    close: () => (watched ?? db).close(),
  }
}

/** True for an error after which nothing can be written. Another writer, who holds the file for a while, is none. */
function isFault(error: unknown): error is Error {
  if (isErrorOf(error, 'OwnerLostError')) return true
  const code = String((error as { readonly code?: unknown }).code)
  return code.startsWith('SQLITE_') && !code.startsWith('SQLITE_BUSY')
}

function statementsOf(db: Database) {
  const tokens = {
    byDigest: db.prepare<[Uint8Array], TokenRow>('SELECT * FROM token WHERE sha256 = ? AND revokedAt IS NULL'),
    inUse: db.prepare<[string, string], TokenRow>('SELECT * FROM token WHERE (id = ? OR name = ?) AND revokedAt IS NULL'),
    all: db.prepare<[], TokenRow>('SELECT * FROM token ORDER BY rowid'),
    any: db.prepare<[], { readonly found: number }>('SELECT EXISTS (SELECT 1 FROM token) AS found'),
    insert: db.prepare<[TokenRow]>(
      'INSERT INTO token (id, name, sha256, scopes, names, queues, createdAt, lastUsedAt, revokedAt) VALUES (@id, @name, @sha256, @scopes, @names, @queues, @createdAt, @lastUsedAt, @revokedAt)',
    ),
    revoke: db.prepare<[number, string]>('UPDATE token SET revokedAt = ? WHERE id = ? AND revokedAt IS NULL'),
    used: db.prepare<[number, string]>('UPDATE token SET lastUsedAt = ? WHERE id = ?'),
  }
  const endpoints = {
    all: db.prepare<[], EndpointRow>('SELECT * FROM endpoint ORDER BY id'),
    one: db.prepare<[string], EndpointRow>('SELECT * FROM endpoint WHERE id = ?'),
    save: db.prepare<[EndpointRow]>(
      'INSERT INTO endpoint (id, settings, cursor) VALUES (@id, @settings, @cursor) ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, cursor = excluded.cursor',
    ),
    delete: db.prepare<[string]>('DELETE FROM endpoint WHERE id = ?'),
  }
  const secrets = {
    one: db.prepare<[string], { readonly value: Uint8Array }>('SELECT value FROM secret WHERE name = ?'),
    /** Adds a secret unless there is one of that name, which another process may have added. */
    add: db.prepare<[string, Uint8Array]>('INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING'),
  }
  const sessions = {
    end: db.prepare<[string, number]>('INSERT INTO ended_session (id, until) VALUES (?, ?) ON CONFLICT (id) DO NOTHING'),
    isEnded: db.prepare<[string], { readonly found: 1 }>('SELECT 1 AS found FROM ended_session WHERE id = ?'),
    forget: db.prepare<[number, number]>(FORGET_SESSIONS),
  }
  const configured = {
    all: db.prepare<[string], ConfiguredRow>('SELECT daemon, section, name, mark FROM configured WHERE section = ? ORDER BY name'),
    save: db.prepare<[ConfiguredRow]>(
      'INSERT INTO configured (daemon, section, name, mark) VALUES (@daemon, @section, @name, @mark) ON CONFLICT (daemon, section, name) DO UPDATE SET mark = excluded.mark',
    ),
    delete: db.prepare<[ConfiguredRow]>('DELETE FROM configured WHERE daemon = @daemon AND section = @section AND name = @name'),
  }
  const audit = {
    insert: db.prepare<[AuditRow]>(
      'INSERT INTO audit (at, who, operation, target, outcome, status, via, code) VALUES (@at, @who, @operation, @target, @outcome, @status, @via, @code)',
    ),
    /** Counts the entries that were refused (1), or the others (0). */
    count: db.prepare<[number], { readonly count: number }>("SELECT count(*) AS count FROM audit WHERE (outcome = 'refused') = ?"),
    /** Deletes the given number of oldest entries, of those that were refused (1) or of the others (0). */
    forget: db.prepare<[number, number]>(
      "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE (outcome = 'refused') = ? ORDER BY number LIMIT ?)",
    ),
    newest: db.prepare<[number], AuditRow>(
      'SELECT at, who, operation, target, outcome, status, via, code FROM audit ORDER BY number DESC LIMIT ?',
    ),
  }
  return { tokens, endpoints, secrets, sessions, configured, audit }
}

function openFile(file: string): Database {
  try {
    if (file === ':memory:') return openSqlite(file)
    ownFile(file)
    const db = openSqlite(file, { timeout: BUSY_MS, fileMustExist: true })
    try {
      db.transaction(() => assertWhole(db, file))()
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = FULL')
      return db
    } catch (error) {
      db.close()
      throw error
    }
  } catch (cause) {
    if (isErrorOf(cause, 'MillraceError')) throw cause
    if ((cause as { code?: string }).code === 'SQLITE_NOTADB')
      throw new NotADatabaseError(`${file} is not a control database`, {}, { cause })
    throw new NotWritableError(`${file} cannot be opened: ${(cause as Error).message}`, {}, { cause })
  }
}

/** Creates a missing file, rejects an emptied one and one that was taken away from its log, and makes the file private to its owner. SQLite's files beside it get its mode. */
function ownFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) {
    // It would be read into the new file.
    const log = `${file}-wal`
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new FileTruncatedError(
        `${file} does not exist, and its log ${basename(log)} may hold tokens that are nowhere else. Stop the daemon and put the file back; or, to start with a new admin token, delete ${basename(log)}`,
        { path: file, bytes: 0 },
      )
    createWhole(file)
    return
  }
  // SQLite treats a file of one byte as empty, too.
  if (stats.size <= 1) {
    throw new FileTruncatedError(
      `${file} was emptied: it has ${stats.size} bytes, and the tokens, the endpoints and the audit that it held are gone. Restore a copy of it; or, to start with a new admin token, delete ${basename(file)}`,
      { path: file, bytes: stats.size },
    )
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(file, 0o600)
}

/** Creates the file elsewhere, and names it when it has its tables. So an empty file was emptied later, whenever a daemon was killed. */
function createWhole(file: string): void {
  const folder = mkdtempSync(`${file}.partial-`)
  const made = join(folder, 'control')
  try {
    writeFileSync(made, '', { mode: 0o600, flag: 'wx' })
    const db = openSqlite(made)
    try {
      migrate(db, made)
    } finally {
      db.close()
    }
    giveName(made, file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Gives the new file its name. If another process was first, its file stays. */
function giveName(made: string, file: string): void {
  try {
    linkSync(made, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    // The file system has no hard links.
    copyFileSync(made, file, constants.COPYFILE_EXCL)
  }
}

function migrate(db: Database, file: string): void {
  const versionOf = () => db.pragma('user_version', { simple: true }) as number
  const tables = db.prepare<[], { readonly found: number }>('SELECT count(*) AS found FROM sqlite_schema').get()?.found ?? 0
  if (tables > 0 && db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
    throw new NotADatabaseError(`${file} is not a control database`)
  if (tables > 0 && versionOf() <= EARLY)
    throw new SchemaTooOldError(`${file} was made before 0.1.0, and no release can open it: delete it, to start with a new admin token`)
  if (versionOf() > NEWEST) throw new SchemaTooNewError(`${file} was written by a newer version: use that version`)
  if (versionOf() === NEWEST) return
  db.transaction(() => {
    // Another process may have migrated the file meanwhile.
    for (const step of MIGRATIONS.slice(Math.max(0, versionOf() - EARLY))) db.exec(step)
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${NEWEST}`)
  }).immediate()
}
