/** pg-boss as a source: its tables in a schema of Postgres. */
import { NotFoundError } from '../../cli/errors.ts'
import { SourceError } from '../errors.ts'
import { proposed } from '../proposed.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { FEATURES, pgBossFound, scheduleFound } from './pgBossJob.ts'
import { quoted, type Row, Snapshot } from './snapshot.ts'

/** Queues of pg-boss itself have names that begin with this. */
const OWN = '__pgboss__'
const SHOWN = `left(name, ${OWN.length}) <> '${OWN}' AND ($1::text[] IS NULL OR name = ANY($1))`

export async function openPgBoss({ url, namespace, only, includeActive }: SourceOptions): Promise<Source> {
  const snapshot = await Snapshot.open(url)
  try {
    const columns = await snapshot.columns(namespace, 'job')
    if (columns.size === 0)
      throw new NotFoundError(`there is no pg-boss in the schema '${namespace}' at ${snapshot.at}: --namespace names another`)
    if (!columns.has('expire_seconds'))
      throw new SourceError(
        `the schema '${namespace}' at ${snapshot.at} is of a pg-boss before 11: start version 11 or later once to migrate it`,
      )
    return new PgBossSource(snapshot, quoted(namespace), only, includeActive)
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

class PgBossSource implements Source {
  readonly features = FEATURES
  readonly at: string
  readonly #snapshot: Snapshot
  readonly #schema: string
  readonly #queues: readonly string[] | null
  readonly #includeActive: boolean
  #isRead = false

  constructor(snapshot: Snapshot, schema: string, only: ReadonlySet<string> | undefined, includeActive: boolean) {
    this.#snapshot = snapshot
    this.at = snapshot.at
    this.#schema = schema
    this.#queues = only === undefined ? null : [...only]
    this.#includeActive = includeActive
  }

  async ended(): Promise<readonly Ended[]> {
    const rows = await this.#counts()
    return rows
      .map(({ queue, state, count }) => ({ queue: queue as string, state: state as string, count: count as number }))
      .filter(({ state }) => state === 'completed' || state === 'cancelled' || state === 'failed')
  }

  async settings(): Promise<readonly Setting[]> {
    const rows = await this.#snapshot.rows(
      `SELECT DISTINCT name, policy FROM ${this.#schema}.queue WHERE ${SHOWN} AND policy IN ('singleton', 'key_strict_fifo') ORDER BY name`,
      [this.#queues],
    )
    return rows.map(({ name, policy }) => {
      const strict = policy === 'key_strict_fifo' ? ['--key-order', 'strict'] : []
      const command = proposed(['queues', 'set', '--per-key-limit', '1', ...strict], name as string)
      return { queue: name as string, what: `policy ${policy}`, command }
    })
  }

  async *found(): AsyncGenerator<readonly Found[]> {
    const schema = this.#schema
    const pages = this.#snapshot.pages(
      `SELECT to_jsonb(j) - 'data' - 'output' - 'source_output' AS row, j.data::text AS data, j.start_after, j.start_after > now() AS later
       FROM ${schema}.job j WHERE ${SHOWN} AND state < 'completed' ORDER BY name, priority DESC, created_on, id`,
      [this.#queues],
    )
    for await (const page of pages) yield page.map(({ row, ...others }) => pgBossFound({ ...(row as Row), ...others }, this.#includeActive))
    const queues = new Map((await this.#snapshot.rows(`SELECT * FROM ${schema}.queue`)).map((queue) => [queue['name'], queue]))
    const schedules = await this.#snapshot.rows(
      `SELECT to_jsonb(s) - 'data' AS row, s.data::text AS data FROM ${schema}.schedule s WHERE ${SHOWN} ORDER BY name, cron`,
      [this.#queues],
    )
    yield schedules.map(({ row, data }) => scheduleFound({ ...(row as Row), data }, queues.get((row as Row)['name']) ?? {}))
  }

  async version(): Promise<string> {
    // The first call is for the snapshot, and the second for the tables as they are then.
    if (this.#isRead) await this.#snapshot.release()
    this.#isRead = true
    return JSON.stringify(await this.#counts())
  }

  close(): Promise<void> {
    return this.#snapshot.close()
  }

  #counts(): Promise<readonly Row[]> {
    return this.#snapshot.rows(
      `SELECT name AS queue, state::text AS state, count(*)::int AS count, max(created_on)::text AS last
       FROM ${this.#schema}.job WHERE ${SHOWN} GROUP BY 1, 2 ORDER BY 1, 2`,
      [this.#queues],
    )
  }
}
