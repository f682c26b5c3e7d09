/** A producer's journal: the real forwarder, over entries that outlive the process as a folder's would. */
import { type Chunk, type EnqueueSink, Forwarder, type Source } from '@millrace/client'
import {
  type Clock,
  type Command,
  type Enqueued,
  type Forwarded,
  type JobKey,
  type NewJob,
  NODE_LIMIT,
  type SourceEntry,
  sourcedNode,
} from '@millrace/core'
import { numberOf } from './model.ts'
import type { Timeline } from './timeline.ts'

interface Kept {
  readonly source: Source
  readonly place: number
  readonly entry: SourceEntry
}

/** What is in a journal's folder. */
export class Folder {
  readonly kept: Kept[] = []
  readonly refused = new Set<string>()
  /** In the file of refusals, for good. */
  readonly noted = new Set<string>()
  /** Calls that were told to be safe, and have no key that would merge them with others. */
  readonly promised = new Set<number>()
  /** Calls whose entry is in the file of refusals. */
  readonly refusedNumbers = new Set<number>()
  processes = 0
}

export interface JournalOptions {
  readonly folder: Folder
  readonly timeline: Timeline
  readonly clock: Clock
  readonly random: () => number
  /** The process is no more. */
  readonly dead: () => boolean
}

/** Of a quick disk, and of a slow one. */
const SYNC_MS = [20, 500] as const
const CHUNK_ENTRIES = 4

export class SimulatedJournal implements EnqueueSink {
  readonly #options: JournalOptions
  readonly #source: Source
  readonly #syncMs: number
  #nextPlace = 1
  #syncedMono = 0
  #forwarder: Forwarder | undefined

  constructor(options: JournalOptions) {
    this.#options = options
    const { folder, random } = options
    this.#syncMs = SYNC_MS[random() < 0.7 ? 0 : 1]
    const uuid = `source-${++folder.processes}-${Math.floor(random() * 2 ** 48)}`
    this.#source = { uuid, number: 1 + Math.floor(random() * (NODE_LIMIT - 1)) }
  }

  start(call: (command: Command & { readonly op: 'forward' }) => Promise<Forwarded>): void {
    const { folder, clock } = this.#options
    const log = {
      read: async () => this.#read(),
      drop: async ({ entries }: Chunk) => void folder.kept.splice(0, entries.length),
    }
    const key = (source: Source, place: number) => `${source.uuid} ${place}`
    const refusals = {
      has: (source: Source, place: number) => folder.refused.has(key(source, place)),
      note: (source: Source, place: number, { jobs }: SourceEntry) =>
        this.#synced(() => {
          folder.refused.add(key(source, place))
          folder.noted.add(key(source, place))
          for (const { data } of jobs) folder.refusedNumbers.add(numberOf(data))
        }),
      forget: (source: Source, place: number) => void folder.refused.delete(key(source, place)),
    }
    this.#forwarder = new Forwarder({ what: 'journal', log, refusals, clock, logger: undefined, call })
  }

  async append(jobs: readonly NewJob[]): Promise<readonly Enqueued[]> {
    const { folder, clock } = this.#options
    const source = this.#source
    const place = this.#nextPlace
    this.#nextPlace += jobs.length
    const at = clock.read().wall
    await this.#synced(() => {
      folder.kept.push({ source, place, entry: { at, jobs } })
      for (const { data, idempotencyKey, unique, debounce, throttle } of jobs)
        if ((idempotencyKey ?? unique ?? debounce ?? throttle) === undefined) folder.promised.add(numberOf(data))
    })
    this.#forwarder?.wake()
    return jobs.map((_job, index) => ({ seq: 0, node: sourcedNode(place + index, source.number), enqueuedAt: at, created: true }))
  }

  settled({ node, enqueuedAt }: JobKey): Promise<JobKey> {
    return (this.#forwarder as Forwarder).settled({ seq: Math.floor(node / NODE_LIMIT), node: node % NODE_LIMIT, enqueuedAt })
  }

  async forwarded(): Promise<void> {
    await this.#forwarder?.forwarded()
  }

  async close(): Promise<void> {
    await this.#forwarder?.close({ code: 'ENGINE_STOPPED', message: 'stopped' })
  }

  /** In order, and never once the process is dead. */
  #synced(work: () => void): Promise<void> {
    const { timeline, random, dead } = this.#options
    this.#syncedMono = Math.max(this.#syncedMono, timeline.mono + random() * this.#syncMs)
    return new Promise((resolve) => {
      timeline.after(this.#syncedMono - timeline.mono, () => {
        if (dead()) return
        work()
        resolve()
      })
    })
  }

  #read(): Chunk | undefined {
    const { kept } = this.#options.folder
    const [first] = kept
    if (first === undefined) return undefined
    const other = kept.findIndex(({ source }, index) => source !== first.source || index === CHUNK_ENTRIES)
    const entries = kept.slice(0, other < 0 ? kept.length : other).map(({ entry }) => entry)
    return { source: first.source, first: first.place, entries }
  }
}
