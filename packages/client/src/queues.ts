/** What is told to queues, and asked of them. */
import {
  type Clock,
  DrainIncompleteError,
  type DrainOptions,
  nameOption,
  type PauseOptions,
  type PurgeOptions,
  type PurgeResult,
  type QueueOptions,
  type QueuesPageOptions,
  type QueueView,
  validateDrainOptions,
  validatePauseOptions,
  validateQueueOptions,
  validateQueuesPageOptions,
} from '@millrace/core'
import { allQueues } from './all.ts'
import { inTime } from './inTime.ts'
import type { Mailbox } from './mailbox.ts'
import { runPurge } from './purge.ts'

/** `engine.queues`. A queue is there from its first job, or from the first thing that it is told. */
export class Queues {
  readonly #mailbox: Mailbox
  readonly #clock: Clock

  /** @internal */
  constructor(mailbox: Mailbox, clock: Clock) {
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /** All queues, in the order of their names: asked for page by page, so that no answer is too large, and no turn too long. */
  list(): Promise<readonly QueueView[]> {
    return allQueues(this.#mailbox)
  }

  /**
   * A page of `list`: `after` is the name of the last queue of the page before; `limit` is 1 to 500, default 500. A page with fewer is the
   * last.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  page(options?: QueuesPageOptions): Promise<readonly QueueView[]> {
    return this.#mailbox.call<'queues'>({ op: 'queues', ...validateQueuesPageOptions(options) })
  }

  /** The queue, or undefined where there is none of that name. */
  async get(name: string): Promise<QueueView | undefined> {
    const [queue] = await this.#mailbox.call<'queues'>({ op: 'queues', queue: nameOption('name', name) })
    return queue
  }

  /**
   * Changes what is given, and keeps the rest; in force at once, for every worker, and kept with the file. What runs beyond a smaller
   * limit runs to its end.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async configure(name: string, options: QueueOptions): Promise<void> {
    await this.#mailbox.call<'configure'>({ op: 'configure', queue: nameOption('name', name), changes: validateQueueOptions(options) })
  }

  /**
   * Nothing of the queue starts until it is resumed; with `job` or `key`, nothing of that name or key. What runs goes on.
   *
   * @throws QueueNotFoundError for a queue that was never used, which may be a misspelt one: `configure(name, {})` creates it
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

  /** Takes back one `pause`: that of the queue, or with `job` or `key` of that name or key. Without them it ends a `drain`, too. Throws QueueNotFoundError. */
  async resume(name: string, options?: PauseOptions): Promise<void> {
    await this.#mailbox.call<'pause'>({
      op: 'pause',
      queue: nameOption('name', name),
      ...validatePauseOptions(options),
      paused: false,
      existing: true,
    })
  }

  /**
   * Nothing of any queue starts until `resumeAll`, queues of later included; what runs goes on. Kept with the file. What each queue was
   * told by itself stays as it is, and is in force again after `resumeAll`.
   */
  async pauseAll(): Promise<void> {
    await this.#mailbox.call<'pauseAll'>({ op: 'pauseAll', paused: true })
  }

  /** Takes back `pauseAll`, and no queue's own `pause` or `drain`. */
  async resumeAll(): Promise<void> {
    await this.#mailbox.call<'pauseAll'>({ op: 'pauseAll', paused: false })
  }

  /**
   * Takes no new jobs from now on, until `resume`: enqueues are refused with QueueDrainingError, which is retryable, and the ticks of
   * schedules are skipped. Resolves when no job of the queue is scheduled, waiting, blocked or active; what its own running jobs enqueue
   * into it with their completion is taken, and waited for. Kept with the file; to call it again waits again.
   *
   * @throws DrainIncompleteError after `timeout` (default: none), or when the queue is resumed before; OptionTypeError, OptionRangeError
   */
  async drain(name: string, options?: DrainOptions): Promise<void> {
    const queue = nameOption('name', name)
    const { timeoutMs } = validateDrainOptions(options)
    const until = this.#clock.read().mono + timeoutMs
    const late = () =>
      new DrainIncompleteError(`queue '${queue}' has jobs left after ${timeoutMs} ms; it continues to drain until it is resumed`, { queue })
    const { id, reply } = this.#mailbox.track<'drainQueue'>({ op: 'drainQueue', queue })
    await inTime(reply, { clock: this.#clock, until, late }, () => {
      if (this.#mailbox.forget(id)) this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: id }).catch(() => {})
    })
  }

  /**
   * Removes the queue's jobs, in slices of at most 500, as `deleteMany` does; with `dryRun` it only counts them. Jobs that run are left,
   * and counted. What comes meanwhile is not met: `pause` or `drain` the queue first.
   *
   * @throws OptionTypeError
   */
  async purge(name: string, options?: PurgeOptions): Promise<PurgeResult> {
    return runPurge(this.#mailbox, name, options)
  }

  /**
   * Forgets an empty queue: what it was told, its pauses, its counters and its names. Answers whether there was one. It begins anew with
   * its next job.
   *
   * @throws QueueNotEmptyError where it has jobs, finished ones included: `purge` it
   */
  async delete(name: string): Promise<boolean> {
    return this.#mailbox.call<'deleteQueue'>({ op: 'deleteQueue', queue: nameOption('name', name) })
  }
}
