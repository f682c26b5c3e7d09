/** What queues were told, from committed turns alone, and what has started since: never one over, nothing in a pause. */
import { ACTIVE, type QueueSettings, type RateLimit, type SharedLimit, WAITING } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Tracked } from './model.ts'
import { placeOf } from './pauses.ts'

interface Told {
  settings: QueueSettings
  paused: boolean
}

export class Limits {
  readonly #history: History
  readonly #queues = new Map<string, Told>()
  /** Queues that the last turn has told something. */
  readonly #toldNow = new Set<string>()
  #pausedAll = false
  readonly #pausedJobs = new Set<string>()
  readonly #pausedKeys = new Set<string>()
  /** When jobs of a queue, or of a key in it, have started, under the rate that it has now; monotonic. */
  readonly #starts = new Map<string, { readonly mono: number; readonly tokens: number }[]>()
  /** In queues that keep an order: jobs that have been let go, and are not final. */
  readonly #turns = new Map<string, Tracked>()
  /** A wall clock that jumps while the engine is down refills a bucket, or does not. */
  readonly #exactRates: boolean

  constructor(history: History, exactRates: boolean) {
    this.#history = history
    this.#exactRates = exactRates
  }

  /** Whether nothing holds any job back. */
  get none(): boolean {
    // An order holds nothing for good, and stays as it is while there are jobs; what has ended is held back by nothing, and a letter holds none.
    const held = [...this.#queues.values()].some(
      ({ settings: { keyOrder, retention, deadLetter, ...others }, paused }) => paused || Object.keys(others).length > 0,
    )
    return !held && !this.#pausedAll && this.#pausedJobs.size + this.#pausedKeys.size === 0
  }

  /** Nothing of any queue starts. */
  get pausedAll(): boolean {
    return this.#pausedAll
  }

  /** Everything that is paused, each by its place (`placeOf`). */
  get paused(): ReadonlySet<string> {
    const whole = [...this.#queues].filter(([, { paused }]) => paused).map(([name]) => placeOf(name, 'queue', ''))
    const parts = (part: string, of: ReadonlySet<string>) =>
      [...of].map((text) => placeOf(text.split(' ')[0] as string, part, text.split(' ')[1] as string))
    return new Set([...whole, ...parts('name', this.#pausedJobs), ...parts('key', this.#pausedKeys)])
  }

  /** What is to be said so that nothing is held back any more, beside `resumeAll`. */
  get told(): { readonly queues: string[]; readonly jobs: [string, string][]; readonly keys: [string, string][] } {
    const split = (text: string) => text.split(' ') as [string, string]
    return { queues: [...this.#queues.keys()], jobs: [...this.#pausedJobs].map(split), keys: [...this.#pausedKeys].map(split) }
  }

  commit({ paused: all, queues, queuesGone, pausedLanes, pausedKeys }: Effects): void {
    this.#toldNow.clear()
    this.#pausedAll = all ?? this.#pausedAll
    for (const { name } of [...queuesGone, ...queues]) this.#toldNow.add(name)
    for (const { name } of queuesGone) this.#forget(name)
    for (const { name, settings, paused, gone } of queues) {
      if (gone) continue
      const before = this.#queues.get(name)?.settings
      if (JSON.stringify(before?.rateLimit) !== JSON.stringify(settings.rateLimit)) this.#starts.delete(name)
      const rates = ({ perKeyRateLimit, keyTiers }: QueueSettings) => JSON.stringify([perKeyRateLimit, keyTiers])
      if (before === undefined || rates(before) !== rates(settings)) this.#forgetKeys(name)
      this.#queues.set(name, { settings, paused })
    }
    for (const lane of pausedLanes) if (!lane.queue.gone) note(this.#pausedJobs, `${lane.queue.name} ${lane.name}`, lane.paused)
    for (const { queue, text, paused } of pausedKeys) if (!queue.gone) note(this.#pausedKeys, `${queue.name} ${text}`, paused)
  }

  settings(queue: string): QueueSettings {
    return this.#queues.get(queue)?.settings ?? NOTHING.settings
  }

  /** Whether its settings may have been others when something of the last turn was decided. */
  toldNow(queue: string): boolean {
    return this.#toldNow.has(queue)
  }

  /** What a queue was told, with the job names and keys that it holds back. */
  of(queue: string): Told & { readonly parts: string[] } {
    const of = (what: string, paused: Iterable<string>) =>
      [...paused].filter((text) => text.startsWith(`${queue} `)).map((text) => `${what} ${text.slice(queue.length + 1)}`)
    const { settings, paused } = this.#queues.get(queue) ?? { settings: {}, paused: false }
    return { settings, paused, parts: [...of('job', this.#pausedJobs), ...of('key', this.#pausedKeys)] }
  }

  #forget(queue: string): void {
    this.#queues.delete(queue)
    this.#starts.delete(queue)
    this.#forgetKeys(queue)
    for (const set of [this.#pausedJobs, this.#pausedKeys]) for (const what of set) if (what.startsWith(`${queue} `)) set.delete(what)
  }

  #forgetKeys(queue: string): void {
    for (const place of this.#starts.keys()) if (place.startsWith(`${queue} `)) this.#starts.delete(place)
  }

  /**
   * A turn has written the job. In a queue that keeps an order it is let go when no other has its key, and none that was parked before this
   * turn has come earlier; and it starts when it has been let go.
   */
  written(job: Tracked, waiting: Iterable<Tracked>, turn: number): void {
    const { queue, key, state, seq, parked } = job
    if (key === undefined || parked || this.#queues.get(queue)?.settings.keyOrder !== 'strict') return
    if (state !== WAITING && state !== ACTIVE) return
    const holder = this.#turns.get(`${queue} ${key}`)
    if (holder === job) return
    const history = this.#history
    history.hold(holder === undefined, 24, () => `job ${seq} is let go, and job ${holder?.seq} has its key ${key} in queue ${queue}`)
    for (const other of waiting) {
      const earlier = other.queue === queue && other.key === key && other.seq < seq && other.waitsSince < turn
      history.hold(!earlier, 24, () => `job ${seq} of key ${key} in queue ${queue} is let go before job ${other.seq}`)
    }
    history.meet('inOrder')
    this.#turns.set(`${queue} ${key}`, job)
  }

  /** The job is final or gone, or is put off before it has ever run. */
  turnOver(job: Tracked): void {
    const place = `${job.queue} ${job.key}`
    if (this.#turns.get(place) === job) this.#turns.delete(place)
  }

  #mayHaveTurn(job: Tracked): boolean {
    return (this.#turns.get(`${job.queue} ${job.key}`) ?? job) === job
  }

  /** Of one turn, in which runs end before others start. */
  started(jobs: readonly Tracked[], active: ReadonlySet<Tracked>, mono: number): void {
    const history = this.#history
    for (const { seq, queue, name, key, tokens } of jobs) {
      history.hold(!this.#pausedAll, 24, () => `job ${seq} starts, and all is paused`)
      const { settings, paused } = this.#queues.get(queue) ?? NOTHING
      const { concurrencyLimit = Number.POSITIVE_INFINITY } = settings
      history.hold(!paused, 24, () => `job ${seq} starts in queue ${queue}, which is paused`)
      history.hold(!this.#pausedJobs.has(`${queue} ${name}`), 24, () => `job ${seq} starts, and its name ${name} is paused`)
      const of = [...active].filter((job) => job.queue === queue)
      history.hold(of.length <= concurrencyLimit, 24, () => `${of.length} jobs of queue ${queue} run, and its limit is ${concurrencyLimit}`)
      this.#shared(settings, seq, jobs, active)
      this.#rate(queue, settings.rateLimit, mono, tokens)
      if (key === undefined) continue
      history.hold(!this.#pausedKeys.has(`${queue} ${key}`), 24, () => `job ${seq} starts, and its key ${key} is paused`)
      const { perKeyLimit = Number.POSITIVE_INFINITY, perKeyRateLimit } = limitsOfKey(settings, key)
      this.#rate(`${queue} ${key}`, perKeyRateLimit, mono, tokens)
      const ofKey = of.filter((job) => job.key === key).length
      if (ofKey === perKeyLimit && perKeyLimit !== settings.perKeyLimit) history.meet('tierFull')
      history.hold(ofKey <= perKeyLimit, 24, () => `${ofKey} jobs of key ${key} run, and its limit is ${perKeyLimit}`)
    }
  }

  /** Jobs that started behind it may be of a queue with a larger limit. */
  #shared({ sharedLimit }: QueueSettings, seq: number, started: readonly Tracked[], active: ReadonlySet<Tracked>): void {
    if (sharedLimit === undefined) return
    const beside = this.#beside(sharedLimit, active)
    const behind = started.slice(started.findIndex((job) => job.seq === seq) + 1).filter((job) => beside.includes(job))
    const count = beside.length - behind.length
    const { name, limit } = sharedLimit
    if (count === limit) this.#history.meet('sharedLimitReached')
    this.#history.hold(
      count <= limit,
      24,
      () => `job ${seq} starts as number ${count} under the limit ${name}, which is ${limit} for its queue`,
    )
  }

  #beside({ name }: SharedLimit, active: ReadonlySet<Tracked>): readonly Tracked[] {
    return [...active].filter(({ queue }) => this.settings(queue).sharedLimit?.name === name)
  }

  /** In no span of time more than the burst, and what the span has refilled; a start that takes more than the burst needs a full bucket. */
  #rate(place: string, rateLimit: RateLimit | undefined, mono: number, tokens: number): void {
    if (rateLimit === undefined || !this.#exactRates) return
    const starts = this.#starts.get(place) ?? []
    this.#starts.set(place, starts)
    const { limit, period, burst } = rateLimit
    starts.push({ mono, tokens })
    if (tokens > 1) this.#history.meet('dearStart')
    let count = Math.min(tokens, burst) - tokens
    for (const { mono: from, tokens: taken } of starts.toReversed()) {
      const most = burst + ((mono - from) * limit) / period + 1e-3
      count += taken
      const told = count
      this.#history.hold(
        told <= most,
        24,
        () => `starts in ${place} take ${told} tokens within ${mono - from} ms, and ${most} may be taken`,
      )
    }
  }

  /** Whether a waiting job may not start just now; where `rated`, or not for certain. */
  holds(job: Tracked, active: ReadonlySet<Tracked>, rated = true): boolean {
    const { queue, name, key, state } = job
    const { settings, paused } = this.#queues.get(queue) ?? NOTHING
    const { concurrencyLimit = Number.POSITIVE_INFINITY, rateLimit, keyOrder, sharedLimit } = settings
    const { perKeyLimit = Number.POSITIVE_INFINITY, perKeyRateLimit } = key === undefined ? {} : limitsOfKey(settings, key)
    if (key !== undefined && keyOrder === 'strict' && !this.#mayHaveTurn(job)) return true
    if (rated && (rateLimit ?? perKeyRateLimit) !== undefined) return true
    if (state !== WAITING || this.#pausedAll || paused || this.#pausedJobs.has(`${queue} ${name}`)) return true
    const of = [...active].filter((other) => other.queue === queue)
    if (of.length >= concurrencyLimit) return true
    if (sharedLimit !== undefined && this.#beside(sharedLimit, active).length >= sharedLimit.limit) return true
    return key !== undefined && (this.#pausedKeys.has(`${queue} ${key}`) || of.filter((other) => other.key === key).length >= perKeyLimit)
  }
}

/** What a key in a tier may run and start. */
function limitsOfKey(
  { keyTiers, perKeyLimit, perKeyRateLimit }: QueueSettings,
  key: string,
): Pick<QueueSettings, 'perKeyLimit' | 'perKeyRateLimit'> {
  const [tier, ...rest] = key.split(':')
  return { ...(perKeyLimit && { perKeyLimit }), ...(perKeyRateLimit && { perKeyRateLimit }), ...(rest.length > 0 && keyTiers?.[`${tier}`]) }
}

const NOTHING: Told = { settings: {}, paused: false }

function note(set: Set<string>, what: string, on: boolean): void {
  if (on) set.add(what)
  else set.delete(what)
}
