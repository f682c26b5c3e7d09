/** Where events are delivered to, and how far each endpoint has come: the `EndpointStore` of @millrace/webhooks. */
import type { ControlDatabase, EndpointRow } from './database.ts'

export interface StoredEndpoint {
  readonly id: string
  readonly createdAt: Date
  /** Of the journal: what is behind it is yet to be delivered. */
  readonly cursor: number
  readonly failingSince?: Date | undefined
}

export class Endpoints<Endpoint extends StoredEndpoint = StoredEndpoint> {
  readonly #db: ControlDatabase

  constructor(db: ControlDatabase) {
    this.#db = db
  }

  async list(): Promise<readonly Endpoint[]> {
    return this.#db.endpoints.all.all().map((row) => endpointOf<Endpoint>(row))
  }

  /** A new one, or one in place of that of its id. Resolves when it is on the disk. */
  async save(endpoint: Endpoint): Promise<void> {
    this.#db.endpoints.save.run(rowOf(endpoint))
  }

  /** All of it or nothing: only the fields that are given, of those that are still there. Resolves when it is on the disk. */
  async update(changes: readonly ({ readonly id: string } & Partial<Endpoint>)[]): Promise<void> {
    this.#db.write(() => {
      for (const change of changes) {
        const row = this.#db.endpoints.one.get(change.id)
        if (row !== undefined) this.#db.endpoints.save.run(rowOf({ ...endpointOf<Endpoint>(row), ...change }))
      }
    })
  }

  /** Answers whether there was one. */
  async delete(id: string): Promise<boolean> {
    return this.#db.endpoints.delete.run(id).changes === 1
  }
}

function rowOf({ id, cursor, ...settings }: StoredEndpoint): EndpointRow {
  return { id, cursor, settings: JSON.stringify(settings) }
}

function endpointOf<Endpoint extends StoredEndpoint>({ id, cursor, settings }: EndpointRow): Endpoint {
  const { createdAt, failingSince, ...rest } = JSON.parse(settings) as { readonly createdAt: string; readonly failingSince?: string }
  return {
    ...rest,
    id,
    cursor,
    createdAt: new Date(createdAt),
    ...(failingSince !== undefined && { failingSince: new Date(failingSince) }),
  } as Endpoint
}
