/** Reads tables of Postgres as they were at one moment, page by page, in a transaction that cannot write. */
import pg from 'pg'
import { SourceError } from '../errors.ts'
import { addressOf } from '../mapping.ts'

export type Row = Readonly<Record<string, unknown>>

const PAGE = 250
/** The user may take a while to confirm, and a policy must not hide rows. A pooler would hand settings of a session to the next application. */
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL statement_timeout = 0; SET LOCAL row_security = off`

export class Snapshot {
  readonly at: string
  readonly #client: pg.Client

  constructor(client: pg.Client, url: string) {
    this.#client = client
    this.at = addressOf(url)
  }

  /** @throws SourceError */
  static async open(url: string): Promise<Snapshot> {
    const at = addressOf(url)
    const client = new pg.Client({ connectionString: url, application_name: 'millrace import' })
    // The query under way, or the next one, is rejected with it.
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query(BEGIN)
    } catch (cause) {
      await client.end().catch(() => {})
      throw new SourceError(`cannot connect to ${at}: ${(cause as Error).message}`, { cause })
    }
    return new Snapshot(client, url)
  }

  async rows(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#client.query<Row>(sql, [...values])).rows
    } catch (cause) {
      throw this.#failure(cause as Error)
    }
  }

  /** Yields the rows of a query in pages, from a cursor of the server. */
  async *pages(sql: string, values: readonly unknown[] = []): AsyncGenerator<readonly Row[]> {
    await this.rows(`DECLARE found NO SCROLL CURSOR FOR ${sql}`, values)
    for (;;) {
      const page = await this.rows(`FETCH ${PAGE} FROM found`)
      if (page.length === 0) break
      yield page
    }
    await this.rows('CLOSE found')
  }

  /** Returns the names of a table's columns: none if there is no such table. */
  async columns(schema: string, table: string): Promise<ReadonlySet<string>> {
    const rows = await this.rows('SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2', [
      schema,
      table,
    ])
    return new Set(rows.map(({ column_name: name }) => name as string))
  }

  /** Begins another transaction: later queries see the tables as they are now. */
  async renew(): Promise<void> {
    await this.rows(`ROLLBACK; ${BEGIN}`)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  #failure(cause: Error): SourceError {
    return new SourceError(`cannot read ${this.at}: ${cause.message}`, { cause })
  }
}

/** Quotes a name for SQL. */
export const quoted = (name: string): string => pg.escapeIdentifier(name)
