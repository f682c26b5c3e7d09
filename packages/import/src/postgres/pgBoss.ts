/** pg-boss as a source: its tables in a schema of Postgres. */
import { proposed } from '../proposed.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { FEATURES, pgBossFound, scheduleFound } from './pgBossJob.ts'
import { type Row, Snapshot } from './snapshot.ts'
import { PostgresSource } from './source.ts'

/** Queues of pg-boss itself have names that begin with this. */
const OWN = '__pgboss__'
const SHOWN = `left(name, ${OWN.length}) <> '${OWN}' AND ($1::text[] IS NULL OR name = ANY($1))`

/** @throws SourceError */
export async function connectPgBoss(options: SourceOptions): Promise<Source> {
  return new PgBossSource(await Snapshot.open(options.url), options)
}

class PgBossSource extends PostgresSource {
  readonly features = FEATURES
  protected readonly layout = { title: 'pg-boss', table: 'job', column: 'expire_seconds', since: '11', before: 'job' }

  async ended(): Promise<readonly Ended[]> {
    const rows = await this.counts()
    return rows
      .map(({ queue, state, count }) => ({ queue: queue as string, state: state as string, count: count as number }))
      .filter(({ state }) => state === 'completed' || state === 'cancelled' || state === 'failed')
  }

  async settings(): Promise<readonly Setting[]> {
    const rows = await this.rows(
      `SELECT DISTINCT name, policy FROM ${this.schema}.queue WHERE ${SHOWN} AND policy IN ('singleton', 'key_strict_fifo') ORDER BY name`,
    )
    return rows.map(({ name, policy }) => {
      const strict = policy === 'key_strict_fifo' ? ['--key-order', 'strict'] : []
      const command = proposed(['queues', 'set', '--per-key-limit', '1', ...strict], name as string)
      return { queue: name as string, what: `policy ${policy}`, command }
    })
  }

  async *found(): AsyncGenerator<readonly Found[]> {
    const { schema } = this
    yield* this.pages(
      `SELECT to_jsonb(j) - 'data' - 'output' - 'source_output' AS row, j.data::text AS data, j.start_after, j.start_after > now() AS later
       FROM ${schema}.job j WHERE ${SHOWN} AND state < 'completed' ORDER BY name, priority DESC, created_on, id`,
      ({ row, ...others }) => pgBossFound({ ...(row as Row), ...others }, this.includeActive),
    )
    const queues = new Map((await this.rows(`SELECT * FROM ${schema}.queue`)).map((queue) => [queue['name'], queue]))
    const schedules = await this.rows(
      `SELECT to_jsonb(s) - 'data' AS row, s.data::text AS data FROM ${schema}.schedule s WHERE ${SHOWN} ORDER BY name, cron`,
    )
    yield schedules.map(({ row, data }) => scheduleFound({ ...(row as Row), data }, queues.get((row as Row)['name']) ?? {}))
  }

  protected counts(): Promise<readonly Row[]> {
    return this.rows(
      `SELECT name AS queue, state::text AS state, count(*)::int AS count, max(created_on)::text AS last
       FROM ${this.schema}.job WHERE ${SHOWN} GROUP BY 1, 2 ORDER BY 1, 2`,
    )
  }
}
