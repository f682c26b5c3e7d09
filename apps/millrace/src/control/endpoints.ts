/** Stores the endpoints that events are delivered to, and the progress of each: the `EndpointStore` of @millrace/webhooks. */
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

  /** Adds an endpoint, or replaces the one with its id. Resolves when it is on disk. */
  async save(endpoint: Endpoint): Promise<void> {
    this.#db.write(() => this.#db.endpoints.save.run(rowOf(endpoint)))
  }

  /** Changes the given fields of the endpoints that still exist, all or none of them. Resolves when it is on disk. */
  async update(changes: readonly EndpointChange[]): Promise<void> {
    this.#db.write(() => {
      for (const change of changes) {
        const row = this.#db.endpoints.one.get(change.id)
        if (row !== undefined) this.#db.endpoints.save.run(rowOf({ ...endpointOf(row), ...change }))
      }
    })
  }

  /** Resolves to true if the endpoint existed. */
  async delete(id: string): Promise<boolean> {
    return this.#db.write(() => this.#db.endpoints.delete.run(id)).changes === 1
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
