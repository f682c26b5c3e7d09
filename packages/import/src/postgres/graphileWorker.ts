/** Graphile Worker as a source: its tables in a schema of Postgres. */
import { proposed } from '../proposed.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { FEATURES, graphileFound } from './graphileJob.ts'
import { type Row, Snapshot } from './snapshot.ts'
import { PostgresSource } from './source.ts'

/** A lock that is older is void: the worker is taken for dead, and another may take the job. */
const LOCKED = `(j.locked_at IS NOT NULL AND j.locked_at >= now() - interval '4 hours')`
const STATE = `CASE WHEN ${LOCKED} THEN 'locked' WHEN j.run_at > now() THEN 'scheduled' ELSE 'available' END`
const SHOWN = '($1::text[] IS NULL OR t.identifier = ANY($1))'

/** @throws SourceError */
export async function connectGraphileWorker(options: SourceOptions): Promise<Source> {
  return new GraphileSource(await Snapshot.open(options.url), options)
}

class GraphileSource extends PostgresSource {
  readonly features = FEATURES
  protected readonly layout = { title: 'Graphile Worker', table: '_private_jobs', column: 'id', since: '0.16', before: 'jobs' }

  async ended(): Promise<readonly Ended[]> {
    const rows = await this.rows(
      `SELECT t.identifier AS queue, count(*)::int AS count FROM ${this.#jobs}
       WHERE NOT ${LOCKED} AND j.attempts >= j.max_attempts AND ${SHOWN} GROUP BY 1`,
    )
    return rows.map(({ queue, count }) => ({ queue: queue as string, state: 'failed', count: count as number }))
  }

  async settings(): Promise<readonly Setting[]> {
    const named = await this.rows(`SELECT count(DISTINCT j.job_queue_id)::int AS count FROM ${this.#jobs} WHERE ${SHOWN}`)
    const crontabs = await this.rows(`SELECT identifier FROM ${this.schema}._private_known_crontabs ORDER BY identifier`)
    const queues = named[0]?.['count'] as number
    return [
      ...(queues === 0
        ? []
        : [{ queue: `${queues} queues`, what: 'one job at a time', command: 'millrace queues set default --per-key-limit 1' }]),
      ...crontabs.map(({ identifier }) => ({
        ...{ queue: identifier as string, what: 'crontab, which is in the code' },
        command: proposed(['schedules', 'set', '--cron', '<pattern>'], identifier as string, '<task>'),
      })),
    ]
  }

  found(): AsyncIterable<readonly Found[]> {
    return this.pages(
      `SELECT j.id::text AS id, t.identifier AS task, j.payload::text AS payload, j.priority, j.attempts, j.max_attempts, j.run_at, j.key,
              q.queue_name, j.flags, extract(epoch FROM j.created_at)::text AS created, ${STATE} AS state
       FROM ${this.#jobs} LEFT JOIN ${this.schema}._private_job_queues q ON q.id = j.job_queue_id
       WHERE (${LOCKED} OR j.attempts < j.max_attempts) AND ${SHOWN} ORDER BY j.priority, j.run_at, j.id`,
      (row) => graphileFound(row, this.includeActive),
    )
  }

  /** Without the states, because the time makes scheduled jobs available. */
  protected counts(): Promise<readonly Row[]> {
    return this.rows(
      `SELECT count(*)::int, count(j.locked_at)::int AS locked, sum(j.attempts)::int AS attempts, max(j.id)::text AS last
       FROM ${this.#jobs} WHERE ${SHOWN}`,
    )
  }

  get #jobs(): string {
    return `${this.schema}._private_jobs j JOIN ${this.schema}._private_tasks t ON t.id = j.task_id`
  }
}
