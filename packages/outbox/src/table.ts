/** The outbox's table in the app's database, with all SQL that runs there. */
import type { Source } from '@millrace/client'
import { type Data, LIMITS, type NewJob, OptionRangeError, OptionTypeError, type Refusal, type SourceEntry, weighJob } from '@millrace/core'
import type { Connection } from './connection.ts'

export const TABLE = 'millrace_outbox'
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const NAME_LENGTH = 64

/** A job with its place in its source. */
export interface Row {
  readonly seq: number
  readonly source: Source
  readonly place: number
  readonly entry: SourceEntry
}

export interface RefusedRow extends Row {
  readonly code: string
  readonly message: string
}

/** Accepts a name that needs no quotes: 1 to 64 of the characters `A-Z a-z 0-9 _`, no digit first, and none of SQLite's own. */
export function tableOption(value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError('table', `table must be a string, got ${typeof value}`)
  if (value.length === 0 || value.length > NAME_LENGTH)
    throw new OptionRangeError('table', NAME_LENGTH, `table must have 1 to ${NAME_LENGTH} characters, got ${value.length}`)
  if (!NAME.test(value) || /^sqlite_/i.test(value))
    throw new OptionTypeError('table', 'table must have only the characters A-Z a-z 0-9 _, and must not begin with a digit or with sqlite_')
  return value
}

/**
 * Returns the SQL that creates the outbox's table if it does not exist, for an app's migrations.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export function outboxSchema(table = TABLE): string {
  const name = tableOption(table)
  return `CREATE TABLE IF NOT EXISTS ${name} (
  seq INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  number INTEGER NOT NULL,
  place INTEGER NOT NULL,
  at INTEGER NOT NULL,
  job TEXT NOT NULL,
  data ANY,
  code TEXT,
  message TEXT,
  UNIQUE (source, place)
) STRICT;
CREATE INDEX IF NOT EXISTS ${name}_refused ON ${name} (seq) WHERE code IS NOT NULL;
`
}

export const BEGIN = 'BEGIN IMMEDIATE'

export class OutboxTable {
  readonly #insert
  readonly #newest
  readonly #leftOf
  readonly #own
  readonly #forget
  readonly #refuse
  readonly #refused
  readonly #dismiss

  /** @throws OptionTypeError if there is no such table */
  constructor(connection: Connection, table: string) {
    const prepare = (sql: string) => connection.prepare(sql)
    const columns = 'seq, source, number, place, at, job, data'
    try {
      this.#insert = prepare(`INSERT INTO ${table} (source, number, place, at, job, data) VALUES (?, ?, ?, ?, ?, ?)`)
      this.#newest = prepare(`SELECT max(seq) AS newest FROM ${table}`)
      this.#leftOf = prepare(`SELECT source FROM ${table} WHERE seq <= ? AND code IS NULL ORDER BY seq LIMIT 1`)
      this.#own = prepare(`SELECT ${columns} FROM ${table} WHERE source = ? AND place > ? AND code IS NULL ORDER BY place`)
      this.#forget = prepare(`DELETE FROM ${table} WHERE source = ? AND place >= ? AND place <= ? AND code IS NULL`)
      this.#refuse = prepare(`UPDATE ${table} SET code = ?, message = ? WHERE source = ? AND place = ? AND code IS NULL`)
      this.#refused = prepare(`SELECT ${columns}, code, message FROM ${table} WHERE code IS NOT NULL ORDER BY seq LIMIT ?`)
      this.#dismiss = prepare(`DELETE FROM ${table} WHERE number = ? AND place = ? AND at = ? AND code IS NOT NULL RETURNING seq`)
    } catch (cause) {
      const message = `the table ${table} cannot be used (${(cause as Error).message}): run outboxSchema() on the database once, or give createTable: true`
      throw Object.assign(new OptionTypeError('table', message), { cause })
    }
  }

  insert({ uuid, number }: Source, place: number, { data, ...job }: NewJob, at: number): void {
    this.#insert.run(uuid, number, place, at, JSON.stringify(job), data)
  }

  /** Returns the last row's number; 0 if there is none. */
  newest(): number {
    const [row] = this.#newest.all()
    if (Array.isArray(row))
      throw new OptionTypeError(
        'connection',
        'connection answers rows as arrays: open it without returnArrays, the outbox reads them by name',
      )
    return Number((row as { readonly newest: unknown }).newest ?? 0)
  }

  /**
   * Returns rows of the source that has the oldest row up to `upTo`, all of them from its first place on. Numbers of deleted rows
   * are reused, and the offset must not move beyond a place that is still in the table.
   */
  left(upTo: number, most: number): Row[] {
    const [row] = this.#leftOf.all(upTo) as { readonly source: string }[]
    return row === undefined ? [] : take(this.#own.iterate(row.source, 0), most)
  }

  own({ uuid }: Source, after: number, most: number): Row[] {
    return take(this.#own.iterate(uuid, after), most)
  }

  forget({ uuid }: Source, first: number, last: number): void {
    this.#forget.run(uuid, first, last)
  }

  refuse({ uuid }: Source, place: number, { code, message }: Refusal): void {
    this.#refuse.run(code, message, uuid, place)
  }

  /** Returns the oldest refused rows. */
  refused(most: number): RefusedRow[] {
    return (this.#refused.all(most) as Columns[]).map((columns) => ({ ...rowOf(columns), code: columns.code, message: columns.message }))
  }

  /** Returns true if there was such a row. */
  dismiss(number: number, place: number, at: number): boolean {
    return this.#dismiss.all(number, place, at).length > 0
  }
}

/** A row as the connection returns it; integers are BigInt if the connection is set so. */
interface Columns {
  readonly seq: number | bigint
  readonly source: string
  readonly number: number | bigint
  readonly place: number | bigint
  readonly at: number | bigint
  readonly job: string
  readonly data: Data
  readonly code: string
  readonly message: string
}

/** Takes the rows of one source, with nothing missing between, and no more than one call takes well. */
function take(rows: Iterable<unknown>, most: number): Row[] {
  const taken: Row[] = []
  let bytes = 0
  for (const columns of rows) {
    const row = rowOf(columns as Columns)
    const last = taken.at(-1)
    bytes += weighJob(row.entry.jobs[0] as NewJob)
    if (last !== undefined) {
      if (bytes > BYTES || row.source.uuid !== last.source.uuid || row.place !== last.place + 1) break
    }
    if (taken.push(row) === most) break
  }
  return taken
}

const BYTES = LIMITS.bytesPerCommand / 16

function rowOf({ seq, source, number, place, at, job, data }: Columns): Row {
  const jobs = [{ ...(JSON.parse(job, fromJson) as Omit<NewJob, 'data'>), data }]
  return {
    seq: Number(seq),
    source: { uuid: source, number: Number(number) },
    place: Number(place),
    entry: { at: Number(at), jobs },
  }
}

/** A timeout may be infinite, for which JSON says null; nothing else of a job is null there. */
function fromJson(_name: string, value: unknown): unknown {
  return value === null ? Number.POSITIVE_INFINITY : value
}
