/** Graphile Worker as a source: its tables in a schema of Postgres. */
import { NotFoundError } from '../../cli/errors.ts'
import { SourceError } from '../errors.ts'
import { proposed } from '../proposed.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { FEATURES, graphileFound } from './graphileJob.ts'
import { quoted, Snapshot } from './snapshot.ts'

/** A lock that is older is void: the worker is taken for dead, and another may take the job. */
const LOCKED = `(j.locked_at IS NOT NULL AND j.locked_at >= now() - interval '4 hours')`
const STATE = `CASE WHEN ${LOCKED} THEN 'locked' WHEN j.run_at > now() THEN 'scheduled' ELSE 'available' END`

export async function openGraphileWorker({ url, namespace, only, includeActive }: SourceOptions): Promise<Source> {
  const snapshot = await Snapshot.open(url)
  try {
    const columns = await snapshot.columns(namespace, '_private_jobs')
    if (columns.size === 0) {
      const older = await snapshot.columns(namespace, 'jobs')
      if (older.size === 0)
        throw new NotFoundError(`there is no Graphile Worker in the schema '${namespace}' at ${snapshot.at}: --namespace names another`)
      throw new SourceError(
        `the schema '${namespace}' at ${snapshot.at} is of a Graphile Worker before 0.16: start version 0.16 once to migrate it`,
      )
    }
    return new GraphileSource(snapshot, quoted(namespace), only, includeActive)
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

class GraphileSource implements Source {
  readonly features = FEATURES
  readonly at: string
  readonly #snapshot: Snapshot
  readonly #schema: string
  readonly #tasks: readonly string[] | null
  readonly #includeActive: boolean
  #isRead = false

  constructor(snapshot: Snapshot, schema: string, only: ReadonlySet<string> | undefined, includeActive: boolean) {
    this.#snapshot = snapshot
    this.at = snapshot.at
    this.#schema = schema
    this.#tasks = only === undefined ? null : [...only]
    this.#includeActive = includeActive
  }

  async ended(): Promise<readonly Ended[]> {
    const schema = this.#schema
    const rows = await this.#snapshot.rows(
      `SELECT t.identifier AS queue, count(*)::int AS count FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
       WHERE NOT ${LOCKED} AND j.attempts >= j.max_attempts AND ($1::text[] IS NULL OR t.identifier = ANY($1)) GROUP BY 1`,
      [this.#tasks],
    )
    return rows.map(({ queue, count }) => ({ queue: queue as string, state: 'failed', count: count as number }))
  }

  async settings(): Promise<readonly Setting[]> {
    const schema = this.#schema
    const named = await this.#snapshot.rows(
      `SELECT count(DISTINCT j.job_queue_id)::int AS count FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
       WHERE $1::text[] IS NULL OR t.identifier = ANY($1)`,
      [this.#tasks],
    )
    const crontabs = await this.#snapshot.rows(`SELECT identifier FROM ${schema}._private_known_crontabs ORDER BY identifier`)
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

  async *found(): AsyncGenerator<readonly Found[]> {
    const schema = this.#schema
    const pages = this.#snapshot.pages(
      `SELECT j.id::text AS id, t.identifier AS task, j.payload::text AS payload, j.priority, j.attempts, j.max_attempts, j.run_at, j.key,
              q.queue_name, j.flags, extract(epoch FROM j.created_at)::text AS created, ${STATE} AS state
       FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
       LEFT JOIN ${schema}._private_job_queues q ON q.id = j.job_queue_id
       WHERE (${LOCKED} OR j.attempts < j.max_attempts) AND ($1::text[] IS NULL OR t.identifier = ANY($1))
       ORDER BY j.priority, j.run_at, j.id`,
      [this.#tasks],
    )
    for await (const page of pages) yield page.map((row) => graphileFound(row, this.#includeActive))
  }

  /** Nothing of it depends on the time, which makes scheduled jobs available. */
  async version(): Promise<string> {
    // The first call is for the snapshot, and the second for the tables as they are then.
    if (this.#isRead) await this.#snapshot.release()
    this.#isRead = true
    const schema = this.#schema
    return JSON.stringify(
      await this.#snapshot.rows(
        `SELECT count(*)::int, count(j.locked_at)::int AS locked, sum(j.attempts)::int AS attempts, max(j.id)::text AS last
         FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
         WHERE $1::text[] IS NULL OR t.identifier = ANY($1)`,
        [this.#tasks],
      ),
    )
  }

  close(): Promise<void> {
    return this.#snapshot.close()
  }
}
