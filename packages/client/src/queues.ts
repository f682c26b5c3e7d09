/** What is told to queues, and asked of them. */
import {
  nameOption,
  type PauseOptions,
  type QueueOptions,
  type QueueView,
  validatePauseOptions,
  validateQueueOptions,
} from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

/** `engine.queues`. A queue is there from its first job, or from the first thing that it is told. */
export class Queues {
  readonly #mailbox: Mailbox

  /** @internal */
  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox
  }

  list(): Promise<readonly QueueView[]> {
    return this.#mailbox.call<'queues'>({ op: 'queues' })
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

  /** Nothing of the queue starts until it is resumed; with `job` or `key`, nothing of that name or key. What runs goes on. */
  async pause(name: string, options?: PauseOptions): Promise<void> {
    await this.#mailbox.call<'pause'>({ op: 'pause', queue: nameOption('name', name), ...validatePauseOptions(options), paused: true })
  }

  /** Takes back one `pause`: that of the queue, or with `job` or `key` of that name or key. */
  async resume(name: string, options?: PauseOptions): Promise<void> {
    await this.#mailbox.call<'pause'>({ op: 'pause', queue: nameOption('name', name), ...validatePauseOptions(options), paused: false })
  }
}
