/** Agenda as a source: its collection in MongoDB. */
import { systemClock } from '@millrace/worker'
import { type Collection, type FindOptions, MongoClient } from 'mongodb'
import { NotFoundError, SourceError } from '../errors.ts'
import { addressOf } from '../mapping.ts'
import type { Ended, Found, Setting, Source, SourceOptions } from '../source.ts'
import { type AgendaDocument, agendaFound, FEATURES, stateOf } from './job.ts'

const PAGE = 250
const CONNECT_MS = 5_000
/** Ended jobs are counted as they are read, and not kept. */
const FIELDS = { projection: { name: 1, lockedAt: 1, nextRunAt: 1, repeatInterval: 1, repeatAt: 1 } }

/** @throws SourceError */
export async function connectAgenda(options: SourceOptions): Promise<Source> {
  const at = addressOf(options.url)
  try {
    const client = new MongoClient(options.url, { serverSelectionTimeoutMS: CONNECT_MS })
    return new AgendaSource(await client.connect(), at, options)
  } catch (cause) {
    throw new SourceError(`cannot connect to ${at}: ${(cause as Error).message}`, { cause })
  }
}

class AgendaSource implements Source {
  readonly features = FEATURES
  readonly at: string
  readonly #client: MongoClient
  readonly #collection: Collection<AgendaDocument>
  readonly #filter: object
  readonly #includeActive: boolean

  constructor(client: MongoClient, at: string, { namespace, only, includeActive }: SourceOptions) {
    this.#client = client
    this.#collection = client.db().collection(namespace)
    this.at = at
    this.#filter = only === undefined ? {} : { name: { $in: [...only] } }
    this.#includeActive = includeActive
  }

  async check(): Promise<void> {
    for await (const _ of this.#documents({ limit: 1 })) return
    const { collectionName } = this.#collection
    throw new NotFoundError('namespace', `there are no jobs in the collection '${collectionName}' at ${this.at}: name another collection`)
  }

  async ended(): Promise<readonly Ended[]> {
    const counts = new Map<string, number>()
    for await (const document of this.#documents(FIELDS))
      if (stateOf(document, systemClock.read().wall) === 'ended') counts.set(document.name, (counts.get(document.name) ?? 0) + 1)
    return [...counts].map(([queue, count]) => ({ queue, state: 'ended', count }))
  }

  async settings(): Promise<readonly Setting[]> {
    return []
  }

  async *found(): AsyncGenerator<readonly Found[]> {
    let page: Found[] = []
    for await (const document of this.#documents({ sort: { _id: 1 } })) {
      if (stateOf(document, systemClock.read().wall) === 'ended') continue
      page.push(agendaFound(document, systemClock.read().wall, this.#includeActive))
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

  async *#documents(options: FindOptions): AsyncGenerator<AgendaDocument> {
    try {
      yield* this.#collection.find(this.#filter, options)
    } catch (cause) {
      throw new SourceError(`cannot read ${this.at}: ${(cause as Error).message}`, { cause })
    }
  }
}
