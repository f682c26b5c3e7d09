/** Sends what a source holds to the engine, in its order, until each entry is in the queue or among the refusals. */
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

/** What jobs come from: begun anew with each process, so that a copy never speaks for its original. */
export interface Source {
  /** Random. */
  readonly uuid: string
  /** Stands for it in the ids of its jobs. */
  readonly number: number
}

/** The oldest entries that are not dropped yet. */
export interface Chunk {
  readonly source: Source
  /** The place of the first job. */
  readonly first: number
  readonly entries: readonly SourceEntry[]
}

/** Where the entries are kept until they are forwarded. */
export interface SourceLog<Read extends Chunk = Chunk> {
  /** Undefined where there are none. */
  read(): Promise<Read | undefined>
  /** What was read is done with. */
  drop(chunk: Read): Promise<void>
}

/** Where those are noted that the engine refused, for good. */
export interface SourceRefusals {
  has(source: Source, place: number, entry: SourceEntry): boolean
  /** Resolves when it is safe: from then on the log need not have it. */
  note(source: Source, place: number, entry: SourceEntry, refusal: Refusal): Promise<void>
  /** The log has it no more. */
  forget(source: Source, place: number, entry: SourceEntry): void
}

export interface ForwarderOptions<Read extends Chunk = Chunk> {
  /** What is forwarded, as the logger calls it. */
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

/** About the call itself: said again, it would be refused again. Of an internal error nobody knows. */
const CONTENT: ReadonlySet<string> = new Set(['TOO_LARGE', 'INTERNAL'])
const RETRY_MS = 250
/**
 * An entry that ends in an internal error is said so many times, after pauses that double: 8 s in all. None that follows may pass it
 * meanwhile: the mark would move beyond it, and it would be taken for one that the engine has had.
 */
const INTERNAL_TRIES = 6
/** Fates of jobs that nobody has asked for yet, so many of the last ones. */
const FATES_MAX = 10_000

export class Forwarder<Read extends Chunk = Chunk> {
  readonly #options: ForwarderOptions<Read>
  /** By what stands for the node of their jobs. */
  readonly #waiters = new Map<number, Waiter[]>()
  /** Of jobs that were merged or refused. */
  readonly #fates = new Map<number, JobKey | Refusal>()
  /** The last place that is done with, by the number of its source. */
  readonly #done = new Map<number, number>()
  #arrived = () => {}
  #idle: (() => void)[] = []
  #busy = true
  /** Since the log was last read. */
  #news = false
  #closed: Refusal | undefined
  /** What it was put off for, as people were told. */
  #told: string | undefined
  readonly #running: Promise<void>

  constructor(options: ForwarderOptions<Read>) {
    this.#options = options
    this.#running = this.#run()
  }

  /** There is more in the log. */
  wake(): void {
    this.#busy = true
    this.#news = true
    this.#arrived()
  }

  /** Resolves when the log is empty, the engine takes nothing from it for a time that nobody knows, or `letGo` is called. */
  forwarded(): Promise<void> {
    return this.#busy ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve()
  }

  /** Ends the waits for `forwarded`, however much is left. */
  letGo(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** The job as the engine knows it, once it does. Rejects where the engine has refused it. */
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

  /** A call that is under way is waited for. What was not forwarded stays in the log. */
  async close(reason: Refusal): Promise<void> {
    this.#closed = reason
    this.#arrived()
    await this.#running
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(errorFrom(reason))
    this.#waiters.clear()
  }

  async #run(): Promise<void> {
    while (this.#closed === undefined) {
      this.#news = false
      try {
        await this.#step()
        this.#told = undefined
      } catch (error) {
        // Everything is still in the log, and what the engine has had of it is skipped when it comes again.
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
    if (this.#closed !== undefined || this.#news) return
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
    if (this.#told !== code) this.#options.logger?.warn(`the ${this.#options.what} cannot be forwarded yet`, { code, message })
    this.#told = code
    const { retryAfter } = error as { retryAfter?: number }
    if (retryAfter === undefined) this.#release()
    await this.#pause(retryAfter ?? RETRY_MS)
    this.#busy = true
  }

  /** Nobody is to wait for it any longer. */
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
        // One of them is to blame.
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
      const { mark, refused } = reply
      this.#reach(source, mark)
      for (const { place, entry } of rest) if (place <= mark) this.#tell(source, place, entry)
      const to = refused && rest.find(({ place }) => place === refused.place)
      if (refused !== undefined && to !== undefined) await this.#refuse(source, to, refused.refusal)
      const left = rest.filter(({ place }) => place > mark && place !== refused?.place)
      if (left.length === rest.length) throw new InternalError(`the engine has answered the mark ${mark} to the entry at ${left[0]?.place}`)
      rest = left
    }
    this.#reach(source, entries.reduce((place, { jobs }) => place + jobs.length, first) - 1)
  }

  /** What was refused in between has its fate. */
  #reach({ number }: Source, place: number): void {
    this.#done.set(number, Math.max(place, this.#done.get(number) ?? 0))
  }

  /** The answer, or a refusal of what was sent. */
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

  /** That the jobs are in the queue, to those who wait for it. */
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

/** The first of them, with nothing missing between, and no more jobs than one answer can name. */
function consecutive(entries: readonly Placed[], most: number): readonly Placed[] {
  const first = entries[0]?.place ?? 0
  const gap = entries.findIndex(({ place, entry }, index) => {
    const before = entries[index - 1]
    if (before === undefined) return false
    return place !== before.place + before.entry.jobs.length || place + entry.jobs.length - first > LIMITS.jobsPerCommand
  })
  return entries.slice(0, Math.min(gap < 0 ? entries.length : gap, most))
}
