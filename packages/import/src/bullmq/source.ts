/** BullMQ as a source: its queues in Redis, state by state. */
import { systemClock } from '@millrace/worker'
import { NotFoundError, UnfitError } from '../errors.ts'
import { scheduleId } from '../mapping.ts'
import { proposed } from '../proposed.ts'
import { ACTIVE_LEFT, type Ended, type Found, type Outcome, type Setting, type Source, type SourceOptions } from '../source.ts'
import { unfitOf, unlessUnfit } from '../unfit.ts'
import { flowOf } from './flow.ts'
import { deduplicationOf, FEATURES, type Feature, jobOf, type NextRun, scheduleOf } from './job.ts'
import { delayedUntil, Keys } from './keys.ts'
import { type Command, globOf, type Hash, RedisReader } from './redis.ts'

/** The keys of jobs that have yet to end, in the order in which BullMQ starts them. `paused` was `wait` of a paused queue before version 6. */
const LISTS = ['wait', 'paused', 'active'] as const
const SETS = ['prioritized', 'delayed', 'waiting-children'] as const
const STATES = ['wait', 'paused', 'prioritized', 'delayed', 'active', 'waiting-children'] as const
type StateKey = (typeof STATES)[number]

const PAGE = 250
/** Each of these may be a flow of thousands of jobs, all of which are in memory. */
const FLOWS_PAGE = 10

interface Entry {
  readonly queue: string
  readonly state: string
  readonly id: string
  readonly hash: Hash
  readonly runAt: number | undefined
}

/** The relations of a job to others that still exist. */
interface Links {
  /** True if its parent waits for it. */
  readonly isChild: boolean
  /** True if it holds the key of its deduplication. */
  readonly holdsKey: boolean
  readonly hasScheduler: boolean
}

/** A job of a list or of a sorted set. */
interface Member {
  readonly id: string
  readonly score?: string
}

/** @throws SourceError */
export async function connectBullmq(options: SourceOptions): Promise<Source> {
  return new BullmqSource(await RedisReader.open(options.url), options)
}

class BullmqSource implements Source {
  readonly features = FEATURES
  readonly at: string
  readonly #redis: RedisReader
  readonly #keys: Keys
  readonly #only: ReadonlySet<string> | undefined
  readonly #includeActive: boolean
  #queues: readonly string[] = []
  /** The outcome for the children of each job, for one page: most share a parent. */
  readonly #flows = new Map<string, Promise<Outcome>>()

  constructor(redis: RedisReader, { namespace, only, includeActive }: SourceOptions) {
    this.#redis = redis
    this.#keys = new Keys(namespace)
    this.#only = only
    this.#includeActive = includeActive
    this.at = redis.at
  }

  /** Finds the queues by their keys. */
  async check(): Promise<void> {
    const { prefix } = this.#keys
    const found = new Set<string>()
    if (this.#only === undefined) {
      const name = (key: string) => key.slice(prefix.length + 1, -':meta'.length)
      for await (const key of this.#redis.keys(`${globOf(prefix)}:*:meta`)) found.add(name(key))
    } else {
      for (const queue of this.#only) {
        const exists = await this.#redis.one(['exists', ...['meta', ...STATES].map((state) => this.#keys.of(queue, state))])
        if (exists === 0)
          throw new NotFoundError('only', `there is no queue '${queue}' under the prefix '${prefix}' in Redis at ${this.at}`)
        found.add(queue)
      }
    }
    if (found.size === 0)
      throw new NotFoundError('namespace', `there are no queues under the prefix '${prefix}' in Redis at ${this.at}: name another prefix`)
    this.#queues = [...found].toSorted()
  }

  async ended(): Promise<readonly Ended[]> {
    const states = ['completed', 'failed']
    const places = this.#queues.flatMap((queue) => states.map((state) => ({ queue, state })))
    const counts = await this.#redis.ask(places.map(({ queue, state }) => ['zcard', this.#keys.of(queue, state)]))
    return places.map((place, index) => ({ ...place, count: counts[index] as number })).filter(({ count }) => count > 0)
  }

  async settings(): Promise<readonly Setting[]> {
    const metas = await this.#redis.hashes(this.#queues.map((queue) => this.#keys.of(queue, 'meta')))
    return this.#queues.flatMap((queue, index) => {
      const { paused, concurrency, max, duration } = metas[index] as Hash
      return [
        ...(paused === undefined ? [] : [{ queue, what: 'paused', command: proposed(['queues', 'pause'], queue) }]),
        ...(concurrency === undefined
          ? []
          : [
              {
                queue,
                what: `global concurrency ${concurrency}`,
                command: proposed(['queues', 'set', '--concurrency-limit', concurrency], queue),
              },
            ]),
        ...(max === undefined || duration === undefined
          ? []
          : [
              {
                queue,
                what: `rate limit ${max} in ${duration} ms`,
                command: proposed(['queues', 'set', '--rate-limit', `${max}/${duration}ms`], queue),
              },
            ]),
      ]
    })
  }

  async *found(): AsyncGenerator<readonly Found[]> {
    for (const queue of this.#queues) {
      for (const state of STATES) yield* this.#state(queue, state)
      yield* this.#schedulers(queue)
    }
  }

  async version(): Promise<string> {
    const commands = this.#queues.flatMap((queue): Command[] => [
      ['get', this.#keys.of(queue, 'id')],
      ...LISTS.map((state): Command => ['llen', this.#keys.of(queue, state)]),
      ...[...SETS, 'completed', 'failed', 'repeat'].map((state): Command => ['zcard', this.#keys.of(queue, state)]),
    ])
    return JSON.stringify(await this.#redis.ask(commands))
  }

  async close(): Promise<void> {
    this.#redis.close()
  }

  async *#state(queue: string, state: StateKey): AsyncGenerator<readonly Found[]> {
    const key = this.#keys.of(queue, state)
    const isList = (LISTS as readonly string[]).includes(state)
    const shown = state === 'wait' ? 'waiting' : state
    const limit = state === 'waiting-children' ? FLOWS_PAGE : PAGE
    for (let start = 0; ; start += limit) {
      const page = isList ? await this.#list(key, start, limit) : await this.#set(key, start, limit)
      if (page.length === 0) return
      const hashes = await this.#redis.hashes(page.map(({ id }) => this.#keys.of(queue, id)))
      const entries = page
        .map(({ id, score }, index): Entry => {
          const runAt = state === 'delayed' ? delayedUntil(Number(score)) : undefined
          return { queue, state: shown, id, hash: hashes[index] as Hash, runAt }
        })
        // A job that has been deleted meanwhile, or a marker of older versions.
        .filter(({ hash }) => hash['name'] !== undefined)
      yield await this.#foundOf(entries)
    }
  }

  /** The first job to start is the last of a list. */
  async #list(key: string, start: number, limit: number): Promise<Member[]> {
    const ids = (await this.#redis.one(['lrange', key, -(start + limit), -(start + 1)])) as string[]
    return ids.reverse().map((id) => ({ id }))
  }

  async #set(key: string, start: number, limit: number): Promise<Member[]> {
    const pairs = (await this.#redis.one(['zrange', key, start, start + limit - 1, 'WITHSCORES'])) as string[]
    return Array.from({ length: pairs.length / 2 }, (_, index) => ({
      id: pairs[2 * index] as string,
      score: pairs[2 * index + 1] as string,
    }))
  }

  async #foundOf(entries: readonly Entry[]): Promise<readonly Found[]> {
    const links = await this.#linksOf(entries)
    this.#flows.clear()
    const found: Found[] = []
    for (const [index, entry] of entries.entries()) {
      const uses = new Set<Feature>()
      const outcome = await this.#outcomeOf(entry, links[index] as Links, uses).catch(unfitOf)
      const { queue, state, id, hash } = entry
      // Redis may have been flushed, and numbers its jobs anew then.
      found.push({ queue, state, id: `${this.#keys.of(queue, id)}:${hash['timestamp'] ?? ''}`, uses: [...uses], outcome })
    }
    return found
  }

  /** Asks about the jobs that have a parent, a deduplication or a scheduler: most have none. */
  async #linksOf(entries: readonly Entry[]): Promise<readonly Links[]> {
    const links = entries.map((): { -readonly [Name in keyof Links]: boolean } => ({
      isChild: false,
      holdsKey: false,
      hasScheduler: false,
    }))
    const commands: Command[] = []
    const answered: ((answer: unknown) => void)[] = []
    for (const [index, { queue, id, hash }] of entries.entries()) {
      const { parentKey, deid, rjk } = hash
      const link = links[index] as (typeof links)[number]
      const ask = (command: Command, then: (answer: unknown) => void) => {
        commands.push(command)
        answered.push(then)
      }
      if (parentKey) ask(['sismember', `${parentKey}:dependencies`, this.#keys.of(queue, id)], (answer) => (link.isChild = answer === 1))
      if (deid) ask(['get', this.#keys.of(queue, `de:${deid}`)], (answer) => (link.holdsKey = answer === id))
      if (rjk) ask(['zscore', this.#keys.of(queue, 'repeat'), rjk], (answer) => (link.hasScheduler = answer !== null))
    }
    for (const [index, answer] of (await this.#redis.ask(commands)).entries()) answered[index]?.(answer)
    return links
  }

  async #outcomeOf({ queue, state, id, hash, runAt }: Entry, links: Links, uses: Set<Feature>): Promise<Outcome> {
    if (links.isChild) return this.#childOf(hash['parentKey'] as string)
    if (state === 'active' && !this.#includeActive) return { as: 'left', why: ACTIVE_LEFT }
    if (state === 'delayed' && links.hasScheduler) return { as: 'left', why: 'the schedule creates it' }
    if (state === 'waiting-children' || state === 'active') {
      const key = this.#keys.of(queue, id)
      if ((await this.#redis.one(['scard', `${key}:dependencies`])) !== 0) return this.#parentOf(key, state, uses)
    }
    const { job, uses: used } = jobOf(queue, hash)
    for (const feature of used) uses.add(feature)
    if (runAt !== undefined) uses.add('delay')
    const deduplication = links.holdsKey ? deduplicationOf(hash) : undefined
    if (deduplication !== undefined) uses.add(deduplication.timed ? 'deduplication with ttl' : 'deduplication')
    const unique = deduplication !== undefined && !deduplication.timed ? { key: deduplication.id, onConflict: 'error' as const } : undefined
    return { as: 'job', job: { ...job, options: { ...job.options, ...(runAt !== undefined && { runAt }), ...(unique && { unique }) } } }
  }

  async #parentOf(key: string, state: string, uses: Set<Feature>): Promise<Outcome> {
    if (state === 'active') throw new UnfitError('it runs, and has children that have yet to end: let BullMQ end it')
    const flow = await flowOf(key, { redis: this.#redis, keys: this.#keys, includeActive: this.#includeActive })
    for (const feature of flow.uses) uses.add(feature)
    return { as: 'flow', nodes: flow.nodes }
  }

  /** A job for which another waits comes with that one, if that one comes. */
  #childOf(parentKey: string, below: readonly string[] = []): Promise<Outcome> {
    if (below.includes(parentKey)) return Promise.reject(new UnfitError(`the job that waits for it waits for itself: ${parentKey}`))
    const known = this.#flows.get(parentKey)
    if (known !== undefined) return known
    const asked = this.#flowOf(parentKey, [...below, parentKey])
    this.#flows.set(parentKey, asked)
    return asked
  }

  /** @param path the jobs that wait for one another, from an entry to this one */
  async #flowOf(parentKey: string, path: readonly string[]): Promise<Outcome> {
    const place = this.#keys.split(parentKey)
    if (place === undefined) throw new UnfitError(`the job that waits for it is under another prefix: ${parentKey}`)
    const { queue, id } = place
    const [hash, waits] = (await this.#redis.ask([
      ['hgetall', parentKey],
      ['zscore', this.#keys.of(queue, 'waiting-children'), id],
    ])) as [Hash, string | null]
    if (waits === null) throw new UnfitError(`the job that has it as a child does not wait for it: ${parentKey}`)
    if (!this.#queues.includes(queue))
      throw new UnfitError(`the job that waits for it is in the queue '${queue}', which is not among those to import`)
    const above = hash['parentKey']
    if (above === undefined) return { as: 'node' }
    const isChild = await this.#redis.one(['sismember', `${above}:dependencies`, parentKey])
    return isChild === 1 ? this.#childOf(above, path) : { as: 'node' }
  }

  async *#schedulers(queue: string): AsyncGenerator<readonly Found[]> {
    const repeat = this.#keys.of(queue, 'repeat')
    for (let start = 0; ; start += PAGE) {
      const page = await this.#set(repeat, start, PAGE)
      if (page.length === 0) return
      const hashes = await this.#redis.hashes(page.map(({ id }) => `${repeat}:${id}`))
      const delayed = this.#keys.of(queue, 'delayed')
      const nexts = await this.#redis.ask(page.map(({ id, score }) => ['zscore', delayed, `repeat:${id}:${score}`]))
      yield page.map(({ id, score }, index): Found => {
        const place = { queue, state: 'scheduler', id: `${repeat}:${id}` }
        const next = nextRun(Number(score), nexts[index] as string | null)
        let used: readonly string[] = []
        const outcome = unlessUnfit(() => {
          const { uses, ...schedule } = scheduleOf(queue, id, hashes[index] as Hash, next)
          used = [...uses]
          return { as: 'schedule', id: scheduleId(queue, id), ...schedule }
        })
        return { ...place, uses: used, outcome }
      })
    }
  }
}

function nextRun(next: number, score: string | null): NextRun {
  if (score === null) return { at: next, as: 'job' }
  const at = delayedUntil(Number(score))
  return { at, as: at <= systemClock.read().wall ? 'due' : 'later' }
}
