/** The base of the sources whose queue keeps its jobs in tables of Postgres. */
import { NotFoundError, SourceError } from '../errors.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { quoted, type Row, type Snapshot } from './snapshot.ts'

/** Tells by the tables whether a schema is that of the queue, and of a version that can be read. */
export interface Layout {
  readonly title: string
  /** A table and a column that the schema has since the version `since`. */
  readonly table: string
  readonly column: string
  readonly since: string
  /** A table that it had before as well. */
  readonly before: string
}

export abstract class PostgresSource implements Source {
  abstract readonly features: Readonly<Record<string, string>>
  protected abstract readonly layout: Layout
  readonly at: string
  protected readonly includeActive: boolean
  /** The name of the schema, quoted for SQL. */
  protected readonly schema: string
  readonly #snapshot: Snapshot
  readonly #namespace: string
  readonly #only: readonly string[] | null
  #isRead = false

  constructor(snapshot: Snapshot, { namespace, only, includeActive }: SourceOptions) {
    this.#snapshot = snapshot
    this.at = snapshot.at
    this.#namespace = namespace
    this.schema = quoted(namespace)
    this.#only = only === undefined ? null : [...only]
    this.includeActive = includeActive
  }

  abstract ended(): Promise<readonly Ended[]>
  abstract settings(): Promise<readonly Setting[]>
  abstract found(): AsyncIterable<readonly Found[]>
  /** Reads rows that differ after jobs have come or gone. Nothing in them may depend on the time. */
  protected abstract counts(): Promise<readonly Row[]>

  async check(): Promise<void> {
    const { title, table, column, since, before } = this.layout
    if ((await this.#snapshot.columns(this.#namespace, table)).has(column)) return
    const place = `the schema '${this.#namespace}' at ${this.at}`
    if ((await this.#snapshot.columns(this.#namespace, before)).size === 0)
      throw new NotFoundError('namespace', `there is no ${title} in ${place}: name another schema`)
    throw new SourceError(`${place} is of a ${title} before ${since}: start version ${since} or later once to migrate it`)
  }

  async version(): Promise<string> {
    if (this.#isRead) await this.#snapshot.renew()
    this.#isRead = true
    return JSON.stringify(await this.counts())
  }

  close(): Promise<void> {
    return this.#snapshot.close()
  }

  /** Reads the rows of a query. Its `$1`, if it has one, is the array of the names to import; null for all of them. */
  protected rows(sql: string): Promise<readonly Row[]> {
    return this.#snapshot.rows(sql, sql.includes('$1') ? [this.#only] : [])
  }

  /** Reads the rows of a query with `$1` in pages, and translates them. */
  protected async *pages(sql: string, translate: (row: Row) => Found): AsyncGenerator<readonly Found[]> {
    for await (const page of this.#snapshot.pages(sql, [this.#only])) yield page.map(translate)
  }
}
