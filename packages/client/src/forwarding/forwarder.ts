/** Sends the entries of a source to the engine, in order, until each entry is in the queue or among the refusals. */
import {
  type Clock,
  type Command,
  errorFrom,
  type Forwarded,
  InternalError,
  type JobKey,
  LIMITS,
  type Logger,
  type Refusal,
  refusalFrom,
  type SourceEntry,
  sourcedNode,
} from '@millrace/core'
import { apart } from '@millrace/worker'

/** The origin of forwarded jobs. Each process starts a new one, so that a copy never speaks for its original. */
export interface Source {
  /** A random UUID. */
  readonly uuid: string
  /** The number that stands for the source in the ids of its jobs. */
  readonly number: number
}

/** The oldest entries that are not dropped yet. */
export interface Chunk {
  readonly source: Source
  /** The place of the first job. */
  readonly first: number
  readonly entries: readonly SourceEntry[]
}

/** The log in which entries are kept until they are forwarded. */
export interface SourceLog<Read extends Chunk = Chunk> {
  /** Resolves to undefined if there are no entries. */
  read(): Promise<Read | undefined>
  /** Drops a chunk that was forwarded. */
  drop(chunk: Read): Promise<void>
}

/** The record of entries that the engine has refused permanently. */
export interface SourceRefusals {
  has(source: Source, place: number, entry: SourceEntry): boolean
  /** Resolves when the refusal is safe: from then on the log need not keep the entry. */
  note(source: Source, place: number, entry: SourceEntry, refusal: Refusal): Promise<void>
  /** Called when the log no longer has the entry. */
  forget(source: Source, place: number, entry: SourceEntry): void
}

export interface ForwarderOptions<Read extends Chunk = Chunk> {
  /** The source's name in log messages. */
  readonly what: 'journal' | 'outbox'
  readonly log: SourceLog<Read>
  readonly refusals: SourceRefusals
  readonly clock: Clock
  readonly logger: Logger | undefined
  readonly call: (command: Command & { readonly op: 'forward' }) => Promise<Forwarded>
}

interface Placed {
  readonly place: number
  readonly entry: SourceEntry
}

interface Waiter {
  readonly resolve: (job: JobKey) => void
  readonly reject: (error: Error) => void
}

/** Codes of errors about the call itself: if repeated, it would be refused again. For an internal error, that is unknown. */
const CONTENT: ReadonlySet<string> = new Set(['TOO_LARGE', 'VALIDATION', 'INTERNAL'])
const RETRY_MS = 250
/**
 * The number of tries for an entry that ends in an internal error, with pauses that double: 8 s in all. Later entries
 * must not pass it meanwhile: the offset would move beyond it, and the engine would count it as received.
 */
const INTERNAL_TRIES = 6
/** The maximum number of fates that are kept for jobs that nobody has asked for yet; the oldest are dropped. */
const FATES_MAX = 10_000

export class Forwarder<Read extends Chunk = Chunk> {
  readonly #options: ForwarderOptions<Read>
  /** Waiters by the node number that stands for their job. */
  readonly #waiters = new Map<number, Waiter[]>()
  /** The fates of jobs that were merged or refused. */
  readonly #fates = new Map<number, JobKey | Refusal>()
  /** The last place that is done, by the number of its source. */
  readonly #done = new Map<number, number>()
  #arrived = () => {}
  #idle: (() => void)[] = []
  #busy = true
  /** True if entries have arrived since the log was last read. */
  #hasMore = false
  #closed: Refusal | undefined
  /** The code of the last delay that was logged. */
  #lastReported: string | undefined
  readonly #running: Promise<void>

  constructor(options: ForwarderOptions<Read>) {
    this.#options = options
    this.#running = apart(() => this.#run())
  }

  /** Reports new entries in the log. */
  wake(): void {
    this.#busy = true
    this.#hasMore = true
    this.#arrived()
  }

  /** Resolves when the log is empty, when the engine takes nothing from it for an unknown time, or when `letGo` is called. */
  forwarded(): Promise<void> {
    return this.#busy ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve()
  }

  /** Ends the waits for `forwarded`, whatever is left. */
  letGo(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Resolves to the job as the engine knows it, once it does. Rejects if the engine has refused it. */
  settled({ seq: place, node: number, enqueuedAt }: JobKey): Promise<JobKey> {
    const node = sourcedNode(place, number)
    const fate = this.#fates.get(node)
    if (fate !== undefined) return 'code' in fate ? Promise.reject(errorFrom(fate)) : Promise.resolve(fate)
    if (place <= (this.#done.get(number) ?? 0)) return Promise.resolve({ seq: place, node: number, enqueuedAt })
    if (this.#closed !== undefined) return Promise.reject(errorFrom(this.#closed))
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject }
      const others = this.#waiters.get(node)
      if (others === undefined) this.#waiters.set(node, [waiter])
      else others.push(waiter)
    })
  }

  /** Waits for a call that is under way. Entries that were not forwarded stay in the log. */
  async close(reason: Refusal): Promise<void> {
    this.#closed = reason
    this.#arrived()
    await this.#running
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(errorFrom(reason))
    this.#waiters.clear()
  }

  async #run(): Promise<void> {
    while (this.#closed === undefined) {
      this.#hasMore = false
      try {
        await this.#step()
        this.#lastReported = undefined
      } catch (error) {
        // Everything is still in the log. The engine skips entries that it already has when they come again.
        await this.#putOff(error)
      }
    }
    this.#release()
  }

  async #step(): Promise<void> {
    const { log, refusals } = this.#options
    const chunk = await log.read()
    if (chunk === undefined) return this.#rest()
    await this.#forward(chunk)
    await log.drop(chunk)
    for (const { place, entry } of placed(chunk.entries, chunk.first)) refusals.forget(chunk.source, place, entry)
  }

  async #rest(): Promise<void> {
    if (this.#closed !== undefined || this.#hasMore) return
    const more = new Promise<void>((resolve) => {
      this.#arrived = resolve
    })
    this.#release()
    await more
  }

  async #putOff(error: unknown): Promise<void> {
    const { code, message } = refusalFrom(error)
    // The mailbox holds the next call until there is a connection.
    if (this.#closed !== undefined || code === 'CONNECTION_LOST') return
    if (this.#lastReported !== code) this.#options.logger?.warn(`the ${this.#options.what} cannot be forwarded yet`, { code, message })
    this.#lastReported = code
    const { retryAfter } = error as { retryAfter?: number }
    if (retryAfter === undefined) this.#release()
    await this.#pause(Math.max(retryAfter ?? 0, RETRY_MS))
    this.#busy = true
  }

  /** Ends all waits for the log. */
  #release(): void {
    this.#busy = false
    this.letGo()
  }

  async #forward({ source, first, entries }: Chunk): Promise<void> {
    const { refusals } = this.#options
    let rest = placed(entries, first).filter(({ place, entry }) => !refusals.has(source, place, entry))
    let most = Number.POSITIVE_INFINITY
    let tries = 0
    while (rest.length > 0) {
      const some = consecutive(rest, most)
      const reply = await this.#ask(source, some)
      most = Number.POSITIVE_INFINITY
      if ('code' in reply) {
        // One of these entries is at fault.
        if (some.length > 1) most = Math.ceil(some.length / 2)
        else if (reply.code === 'INTERNAL' && ++tries < INTERNAL_TRIES) {
          await this.#pause(RETRY_MS * 2 ** (tries - 1))
          if (this.#closed !== undefined) throw errorFrom(this.#closed)
          most = 1
        } else {
          await this.#refuse(source, some[0] as Placed, reply)
          rest = rest.slice(1)
          tries = 0
        }
        continue
      }
      tries = 0
      for (const { place, job } of reply.merged) this.#fate(sourcedNode(place, source.number), job)
      const { mark: offset, refused } = reply
      this.#reach(source, offset)
      for (const { place, entry } of rest) if (place <= offset) this.#tell(source, place, entry)
      const to = refused && rest.find(({ place }) => place === refused.place)
      if (refused !== undefined && to !== undefined) await this.#refuse(source, to, refused.refusal)
      const left = rest.filter(({ place }) => place > offset && place !== refused?.place)
      if (left.length === rest.length)
        throw new InternalError(`the engine has answered the offset ${offset} to the entry at ${left[0]?.place}`)
      rest = left
    }
    this.#reach(source, entries.reduce((place, { jobs }) => place + jobs.length, first) - 1)
  }

  /** Moves the last place that is done. Refused entries up to it already have their fate. */
  #reach({ number }: Source, place: number): void {
    this.#done.set(number, Math.max(place, this.#done.get(number) ?? 0))
  }

  /** Returns the answer, or a refusal of the entries sent. */
  async #ask(source: Source, some: readonly Placed[]): Promise<Forwarded | Refusal> {
    const entries = some.map(({ entry }) => entry)
    const first = (some[0] as Placed).place
    try {
      return await this.#options.call({ op: 'forward', source: source.uuid, number: source.number, first, entries })
    } catch (error) {
      const refusal = refusalFrom(error)
      if (CONTENT.has(refusal.code)) return refusal
      throw error
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.setTimer(ms, resolve)
      this.#arrived = () => {
        if (this.#closed === undefined) return
        cancel()
        resolve()
      }
    })
  }

  async #refuse(source: Source, { place, entry }: Placed, refusal: Refusal): Promise<void> {
    const { refusals, logger, what } = this.#options
    await refusals.note(source, place, entry, refusal)
    logger?.warn(`the engine has refused an entry of the ${what}`, { code: refusal.code, message: refusal.message })
    for (let index = 0; index < entry.jobs.length; index++) this.#fate(sourcedNode(place + index, source.number), refusal)
  }

  #fate(node: number, fate: JobKey | Refusal): void {
    const waiters = this.#waiters.get(node)
    this.#waiters.delete(node)
    for (const { resolve, reject } of waiters ?? []) {
      if ('code' in fate) reject(errorFrom(fate))
      else resolve(fate)
    }
    this.#fates.set(node, fate)
    if (this.#fates.size > FATES_MAX) this.#fates.delete(this.#fates.keys().next().value as number)
  }

  /** Notifies waiters that their jobs are in the queue. */
  #tell({ number }: Source, place: number, { at, jobs }: SourceEntry): void {
    if (this.#waiters.size === 0) return
    for (let index = 0; index < jobs.length; index++) {
      const node = sourcedNode(place + index, number)
      for (const { resolve } of this.#waiters.get(node) ?? []) resolve({ seq: place + index, node: number, enqueuedAt: at })
      this.#waiters.delete(node)
    }
  }
}

function placed(entries: readonly SourceEntry[], first: number): Placed[] {
  let next = first
  return entries.map((entry) => {
    const place = next
    next += entry.jobs.length
    return { place, entry }
  })
}

/** Returns the first entries, without a gap between them, and with no more jobs than one answer can name. */
function consecutive(entries: readonly Placed[], most: number): readonly Placed[] {
  const first = entries[0]?.place ?? 0
  const gap = entries.findIndex(({ place, entry }, index) => {
    const before = entries[index - 1]
    if (before === undefined) return false
    return place !== before.place + before.entry.jobs.length || place + entry.jobs.length - first > LIMITS.jobsPerCommand
  })
  return entries.slice(0, Math.min(gap < 0 ? entries.length : gap, most))
}
