/** Agenda as a source: its collection in MongoDB. */
import { now } from '../../cli/clock.ts'
import { NotFoundError } from '../../cli/errors.ts'
import { loadClient } from '../clients.ts'
import { SourceError } from '../errors.ts'
import { addressOf } from '../mapping.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { type AgendaDocument, agendaFound, FEATURES, stateOf } from './job.ts'

/** The part of the driver of MongoDB that is used here. */
interface Driver {
  readonly MongoClient: new (url: string, options: object) => Client
}
interface Client {
  connect(): Promise<unknown>
  db(): { collection(name: string): Collection }
  close(): Promise<void>
}
interface Collection {
  find(filter: object, options: object): AsyncIterable<AgendaDocument>
}

const PAGE = 250
const CONNECT_MS = 5_000
/** Ended jobs are counted as they are read, and not kept. */
const FIELDS = { projection: { name: 1, lockedAt: 1, nextRunAt: 1, repeatInterval: 1, repeatAt: 1 } }

export async function openAgenda({ url, namespace, only, includeActive }: SourceOptions): Promise<Source> {
  const { MongoClient } = await loadClient<Driver>('mongodb', 'Agenda')
  const at = addressOf(url)
  let client: Client
  try {
    client = new MongoClient(url, { serverSelectionTimeoutMS: CONNECT_MS })
    await client.connect()
  } catch (cause) {
    throw new SourceError(`cannot connect to ${at}: ${(cause as Error).message}`, { cause })
  }
  const source = new AgendaSource(client, client.db().collection(namespace), at, only, includeActive)
  try {
    await source.check(namespace)
    return source
  } catch (error) {
    await client.close()
    throw error
  }
}

class AgendaSource implements Source {
  readonly features = FEATURES
  readonly at: string
  readonly #client: Client
  readonly #collection: Collection
  readonly #filter: object
  readonly #includeActive: boolean

  constructor(client: Client, collection: Collection, at: string, only: ReadonlySet<string> | undefined, includeActive: boolean) {
    this.#client = client
    this.#collection = collection
    this.at = at
    this.#filter = only === undefined ? {} : { name: { $in: [...only] } }
    this.#includeActive = includeActive
  }

  async check(collection: string): Promise<void> {
    for await (const _ of this.#documents({ limit: 1 })) return
    throw new NotFoundError(`there are no jobs in the collection '${collection}' at ${this.at}: --namespace names another`)
  }

  async ended(): Promise<readonly Ended[]> {
    const counts = new Map<string, number>()
    for await (const document of this.#documents(FIELDS))
      if (stateOf(document, now()) === 'ended') counts.set(document.name, (counts.get(document.name) ?? 0) + 1)
    return [...counts].map(([queue, count]) => ({ queue, state: 'ended', count }))
  }

  async settings(): Promise<readonly Setting[]> {
    return []
  }

  async *found(): AsyncGenerator<readonly Found[]> {
    let page: Found[] = []
    for await (const document of this.#documents({ sort: { _id: 1 } })) {
      if (stateOf(document, now()) === 'ended') continue
      page.push(agendaFound(document, now(), this.#includeActive))
      if (page.length < PAGE) continue
      yield page
      page = []
    }
    yield page
  }

  async version(): Promise<string> {
    let [count, locked, due] = [0, 0, 0]
    let last = ''
    for await (const { _id, lockedAt, nextRunAt } of this.#documents({ ...FIELDS, sort: { _id: 1 } })) {
      count++
      if (lockedAt) locked++
      if (nextRunAt) due += nextRunAt.getTime()
      last = _id.toString()
    }
    return JSON.stringify([count, locked, due, last])
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async *#documents(options: object): AsyncGenerator<AgendaDocument> {
    try {
      yield* this.#collection.find(this.#filter, options)
    } catch (cause) {
      throw new SourceError(`cannot read ${this.at}: ${(cause as Error).message}`, { cause })
    }
  }
}
