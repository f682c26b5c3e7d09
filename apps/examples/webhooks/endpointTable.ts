/** Endpoints in a table of the app's own database. */
import type { Endpoint, EndpointChange, EndpointStore } from '@millrace/webhooks'

/** A Database of better-sqlite3, or a DatabaseSync of node:sqlite. */
interface Connection {
  exec(sql: string): unknown
  prepare(sql: string): { all(...values: unknown[]): unknown[]; run(...values: unknown[]): unknown }
}

const TABLE = `CREATE TABLE IF NOT EXISTS endpoints (
  id TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  said TEXT NOT NULL
) STRICT`

interface Row {
  readonly id: string
  readonly cursor: number
  readonly enabled: number
  readonly disabled_reason: Endpoint['disabledReason'] | null
  readonly failing_since: number | null
  readonly created_at: number
  /** What the app has said of it, as JSON: url, secret, headers, events, queues, names. */
  readonly said: string
}

export class EndpointTable implements EndpointStore {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
    db.exec(TABLE)
  }

  async list(): Promise<readonly Endpoint[]> {
    return (this.#db.prepare('SELECT * FROM endpoints ORDER BY id').all() as Row[]).map(endpointOf)
  }

  async save({ id, cursor, enabled, disabledReason, failingSince, createdAt, ...said }: Endpoint): Promise<void> {
    this.#db
      .prepare('INSERT OR REPLACE INTO endpoints VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(id, cursor, Number(enabled), disabledReason ?? null, failingSince?.getTime() ?? null, createdAt.getTime(), JSON.stringify(said))
  }

  async delete(id: string): Promise<boolean> {
    return this.#db.prepare('DELETE FROM endpoints WHERE id = ? RETURNING id').all(id).length > 0
  }

  async update(changes: readonly EndpointChange[]): Promise<void> {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      for (const change of changes) {
        const { id, cursor, enabled } = change
        if (cursor !== undefined) this.#set('cursor', cursor, id)
        if (enabled !== undefined) this.#set('enabled', Number(enabled), id)
        // Undefined where they are given: there is none any more.
        if ('failingSince' in change) this.#set('failing_since', change.failingSince?.getTime() ?? null, id)
        if ('disabledReason' in change) this.#set('disabled_reason', change.disabledReason ?? null, id)
      }
      this.#db.exec('COMMIT')
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  #set(column: 'cursor' | 'enabled' | 'failing_since' | 'disabled_reason', value: unknown, id: string): void {
    this.#db.prepare(`UPDATE endpoints SET ${column} = ? WHERE id = ?`).run(value, id)
  }
}

function endpointOf({ id, cursor, enabled, disabled_reason, failing_since, created_at, said }: Row): Endpoint {
  return {
    ...(JSON.parse(said) as Pick<Endpoint, 'url' | 'events'>),
    id,
    cursor,
    enabled: enabled === 1,
    disabledReason: disabled_reason ?? undefined,
    failingSince: failing_since === null ? undefined : new Date(failing_since),
    createdAt: new Date(created_at),
  }
}
