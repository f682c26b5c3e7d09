/** Where events are delivered to, and how far each has come. */
import type { ControlDatabase } from './database.ts'

export interface StoredEndpoint {
  readonly id: string
  /** Of the journal: what is behind it is yet to be delivered. */
  readonly cursor: number
}

export class Endpoints {
  readonly #db: ControlDatabase

  constructor(db: ControlDatabase) {
    this.#db = db
  }

  async list<Endpoint extends StoredEndpoint>(): Promise<readonly Endpoint[]> {
    return this.#db.endpoints.all.all().map(({ id, settings, cursor }) => ({ ...JSON.parse(settings), id, cursor }) as Endpoint)
  }

  /** Resolves when it is on the disk. */
  async save<Endpoint extends StoredEndpoint>({ id, cursor, ...settings }: Endpoint): Promise<void> {
    this.#db.endpoints.save.run({ id, cursor, settings: JSON.stringify(settings) })
  }

  async delete(id: string): Promise<void> {
    this.#db.endpoints.delete.run(id)
  }
}
