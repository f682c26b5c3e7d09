/** Configures, inspects, pauses, drains and purges queues. */
import {
  type Clock,
  checkNone,
  DrainIncompleteError,
  type DrainOptions,
  nameOption,
  type PauseOptions,
  type PurgeOptions,
  type PurgeResult,
  type QueueKeysOptions,
  type QueueOptions,
  type QueuesPageOptions,
  type ResumeOptions,
  type QueueKey as StoredQueueKey,
  type QueueKeys as StoredQueueKeys,
  type QueueView as StoredQueueView,
  validateDrainOptions,
  validatePauseOptions,
  validateQueueKeysOptions,
  validateQueueOptions,
  validateQueuesPageOptions,
  validateResumeOptions,
} from '@millrace/core'
import { allQueues } from './all.ts'
import { inTime } from './inTime.ts'
import type { Mailbox } from './mailbox.ts'
import { runPurge } from './purge.ts'
import { dateOf } from './view.ts'

/** A token bucket: of a queue with a `rateLimit`, or of a key in a queue with a `perKeyRateLimit`. */
export interface QueueRate {
  /** The number of tokens that are available. A job takes one to start, unless its option `tokens` says more. */
  readonly tokens: number
  /** When there is one token more; undefined if the bucket is full. */
  readonly nextAt: Date | undefined
}

/** The end of a timed pause of a job name or a key. */
export interface PauseEnd {
  readonly job?: string
  readonly key?: string
  readonly until: Date
}

/** A queue as `queues.get` and `queues.list` return it. */
export interface QueueView extends Omit<StoredQueueView, 'rate' | 'pausedUntil' | 'pauseEnds'> {
  /** When the pause of the whole queue ends; undefined if it has no end, or there is none. */
  readonly pausedUntil?: Date
  /** When pauses of names and keys end, the next first; undefined for none. */
  readonly pauseEnds?: readonly PauseEnd[]
  /** Undefined without a `rateLimit`. */
  readonly rate?: QueueRate
}

/** A concurrency key as `queues.keys` returns it. */
export interface QueueKey extends Omit<StoredQueueKey, 'rate' | 'pausedUntil'> {
  /** When its pause ends; undefined if it has no end, or there is none. */
  readonly pausedUntil?: Date
  /** The token bucket of the key, in a queue with a `perKeyRateLimit`. */
  readonly rate?: QueueRate
}

/** The keys of a queue that have the most waiting jobs. */
export interface QueueKeys extends Omit<StoredQueueKeys, 'keys'> {
  /** The most waiting jobs first, then the most running ones. */
  readonly keys: readonly QueueKey[]
}

/** `engine.queues`. A queue exists from its first job, or from the first call that configures it. */
export class Queues {
  readonly #mailbox: Mailbox
  readonly #clock: Clock

  /** @internal */
  constructor(mailbox: Mailbox, clock: Clock) {
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /** Returns all queues in the order of their names. They are read page by page, so that no answer is too large and no turn too long. */
  async list(): Promise<readonly QueueView[]> {
    return (await allQueues(this.#mailbox)).map(viewOf)
  }

  /**
   * Returns a page of `list`. `after` is the name of the last queue of the previous page; `limit` is 1 to 500, default
   * 500. A page with fewer queues is the last.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async page(options?: QueuesPageOptions): Promise<readonly QueueView[]> {
    return (await this.#mailbox.call<'queues'>({ op: 'queues', ...validateQueuesPageOptions(options) })).map(viewOf)
  }

  /** Returns the queue, or undefined if there is none with that name. */
  async get(name: string): Promise<QueueView | undefined> {
    const [queue] = await this.#mailbox.call<'queues'>({ op: 'queues', queue: nameOption('name', name) })
    return queue && viewOf(queue)
  }

  /**
   * Returns the concurrency keys of the queue that have the most waiting jobs, with their running jobs and whether they are
   * paused. Undefined if there is no queue with that name. Only a queue that limits or pauses keys counts them (`tracked`).
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async keys(name: string, options?: QueueKeysOptions): Promise<QueueKeys | undefined> {
    const command = { op: 'queueKeys' as const, queue: nameOption('name', name), ...validateQueueKeysOptions(options) }
    const found = await this.#mailbox.call<'queueKeys'>(command)
    return found === null ? undefined : { ...found, keys: found.keys.map(keyOf) }
  }

  /**
   * Changes the given settings and keeps the rest. They apply at once, for every worker, and are stored in the file. If a
   * limit is lowered, running jobs beyond it run to their end.
   *
   * @example
   * ```ts
   * await engine.queues.configure('mail', { concurrencyLimit: 4, rateLimit: { limit: 100, period: '1m' } })
   * ```
   * @throws OptionTypeError, OptionRangeError
   */
  async configure(name: string, options: QueueOptions): Promise<void> {
    await this.#mailbox.call<'configure'>({ op: 'configure', queue: nameOption('name', name), changes: validateQueueOptions(options) })
  }

  /**
   * Pauses the queue: none of its jobs starts until it is resumed. With `job` or `key`, only jobs of that name or key are
   * paused. With `for`, the pause ends by itself after that time; of two pauses the later end counts, and a pause without `for`
   * has none. Running jobs continue.
   *
   * @example
   * ```ts
   * await engine.queues.pause('mail', { for: '30s' })
   * ```
   * @throws OptionTypeError, OptionRangeError; QueueNotFoundError for a queue that was never used, perhaps misspelt: `configure(name, {})` creates it
   */
  async pause(name: string, options?: PauseOptions): Promise<void> {
    await this.#mailbox.call<'pause'>({
      op: 'pause',
      queue: nameOption('name', name),
      ...validatePauseOptions(options),
      paused: true,
      existing: true,
    })
  }

  /**
   * Undoes one `pause`: of the queue, or with `job` or `key` of that name or key. Without them, it also ends a `drain`.
   * Throws QueueNotFoundError.
   */
  async resume(name: string, options?: ResumeOptions): Promise<void> {
    await this.#mailbox.call<'pause'>({
      op: 'pause',
      queue: nameOption('name', name),
      ...validateResumeOptions(options),
      paused: false,
      existing: true,
    })
  }

  /**
   * Pauses all queues until `resumeAll`, including queues created later. Running jobs continue. The pause is stored in
   * the file. Each queue's own settings and pauses stay as they are, and apply again after `resumeAll`.
   */
  async pauseAll(): Promise<void>
  async pauseAll(...given: unknown[]): Promise<void> {
    checkNone('queues.pauseAll', given, 'queues.pause(name, { for }) pauses one queue for a time')
    await this.#mailbox.call<'pauseAll'>({ op: 'pauseAll', paused: true })
  }

  /** Undoes `pauseAll`, but no queue's own `pause` or `drain`. */
  async resumeAll(): Promise<void>
  async resumeAll(...given: unknown[]): Promise<void> {
    checkNone('queues.resumeAll', given, 'queues.resume(name, { job, key }) resumes one queue, or a part of it')
    await this.#mailbox.call<'pauseAll'>({ op: 'pauseAll', paused: false })
  }

  /**
   * Refuses new jobs until `resume`: enqueues throw QueueDrainingError, which is retryable, and the ticks of schedules
   * are skipped. Resolves when no job of the queue is scheduled, waiting, blocked or active. Jobs that its own running
   * jobs enqueue into it with their completion are accepted and waited for. The drain is stored in the file; a further
   * call waits again. With `timeout: 0`, it rejects unless the queue is empty already.
   *
   * @throws DrainIncompleteError after `timeout` (default: none), or if the queue is resumed before; OptionTypeError,
   * OptionRangeError
   */
  async drain(name: string, options?: DrainOptions): Promise<void> {
    const queue = nameOption('name', name)
    const { timeoutMs } = validateDrainOptions(options)
    const until = this.#clock.read().mono + timeoutMs
    const late = () =>
      new DrainIncompleteError(`queue '${queue}' has jobs left after ${timeoutMs} ms; it continues to drain until it is resumed`, { queue })
    const { id, reply } = this.#mailbox.track<'drainQueue'>({ op: 'drainQueue', queue })
    // An empty queue is drained also if there is no time to wait. The question about no request is answered right after the drain.
    if (timeoutMs === 0) await Promise.race([reply, this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: 0 })])
    await inTime(reply, { clock: this.#clock, until, late }, () => {
      if (this.#mailbox.forget(id)) this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: id }).catch(() => {})
    })
  }

  /**
   * Removes the queue's jobs, in slices of at most 500, as `deleteMany` does; with `dryRun` it only counts them. Running
   * jobs are kept and counted. Jobs that arrive meanwhile are not removed: `pause` or `drain` the queue first.
   *
   * @throws OptionTypeError
   */
  async purge(name: string, options?: PurgeOptions): Promise<PurgeResult> {
    return runPurge(this.#mailbox, name, options)
  }

  /**
   * Forgets an empty queue: its settings, pauses, counters and names. Returns true if it existed. Its next job creates it
   * again.
   *
   * @throws QueueNotEmptyError if it has jobs, including finished ones: `purge` it
   */
  async delete(name: string): Promise<boolean>
  async delete(name: string, ...given: unknown[]): Promise<boolean> {
    checkNone('queues.delete', given, 'queues.purge(name, { dryRun: true }) counts the jobs of a queue')
    return this.#mailbox.call<'deleteQueue'>({ op: 'deleteQueue', queue: nameOption('name', name) })
  }
}

function viewOf({ rate, pausedUntil, pauseEnds, ...queue }: StoredQueueView): QueueView {
  return {
    ...queue,
    ...(pausedUntil !== undefined && { pausedUntil: new Date(pausedUntil) }),
    ...(pauseEnds !== undefined && { pauseEnds: pauseEnds.map(({ until, ...place }) => ({ ...place, until: new Date(until) })) }),
    ...(rate !== undefined && { rate: rateOf(rate) }),
  }
}

function keyOf({ rate, pausedUntil, ...key }: StoredQueueKey): QueueKey {
  return {
    ...key,
    ...(pausedUntil !== undefined && { pausedUntil: new Date(pausedUntil) }),
    ...(rate !== undefined && { rate: rateOf(rate) }),
  }
}

function rateOf({ tokens, nextAt }: NonNullable<StoredQueueView['rate']>): QueueRate {
  return { tokens, nextAt: dateOf(nextAt) }
}
