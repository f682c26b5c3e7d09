/** Where events are delivered to, and how far each endpoint has come: the `EndpointStore` of @millrace/webhooks. */
import type { Endpoint, EndpointChange, EndpointStore } from '@millrace/webhooks'
import type { ControlDatabase, EndpointRow } from './database.ts'

export class Endpoints implements EndpointStore {
  readonly #db: ControlDatabase

  constructor(db: ControlDatabase) {
    this.#db = db
  }

  async list(): Promise<readonly Endpoint[]> {
    return this.#db.endpoints.all.all().map((row) => endpointOf(row))
  }

  /** A new one, or one in place of that of its id. Resolves when it is on the disk. */
  async save(endpoint: Endpoint): Promise<void> {
    this.#db.endpoints.save.run(rowOf(endpoint))
  }

  /** All of it or nothing: only the fields that are given, of those that are still there. Resolves when it is on the disk. */
  async update(changes: readonly EndpointChange[]): Promise<void> {
    this.#db.write(() => {
      for (const change of changes) {
        const row = this.#db.endpoints.one.get(change.id)
        if (row !== undefined) this.#db.endpoints.save.run(rowOf({ ...endpointOf(row), ...change }))
      }
    })
  }

  /** Answers whether there was one. */
  async delete(id: string): Promise<boolean> {
    return this.#db.endpoints.delete.run(id).changes === 1
  }
}

function rowOf({ id, cursor, ...settings }: Endpoint): EndpointRow {
  return { id, cursor, settings: JSON.stringify(settings) }
}

function endpointOf({ id, cursor, settings }: EndpointRow): Endpoint {
  const { createdAt, failingSince, ...rest } = JSON.parse(settings) as { readonly createdAt: string; readonly failingSince?: string }
  return {
    ...rest,
    id,
    cursor,
    createdAt: new Date(createdAt),
    ...(failingSince !== undefined && { failingSince: new Date(failingSince) }),
  } as Endpoint
}
