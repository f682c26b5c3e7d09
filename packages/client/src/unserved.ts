/** Warns of jobs that no worker takes: once for each name and queue, some seconds after the first of them was enqueued. */
import type { Clock, Logger, NewJob, Stats } from '@millrace/core'
import type { EngineSetup } from './setup.ts'

const AFTER_MS = 5_000
/** The maximum number of known pairs of a queue and a name. The warning is for first steps, which need no more. */
const KNOWN_MAX = 1_000

export class Unserved {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #stats: () => Promise<Pick<Stats, 'unserved'>>
  /** Queues by job name; '' stands for the name's default queue. */
  readonly #known = new Map<string, Set<string>>()
  readonly #warned = new Set<string>()
  #pairs = 0
  /** The names to check next. */
  #names = new Set<string>()
  #cancel: (() => void) | undefined

  private constructor(logger: Logger, clock: Clock, stats: () => Promise<Pick<Stats, 'unserved'>>) {
    this.#logger = logger
    this.#clock = clock
    this.#stats = stats
  }

  /** Returns undefined without a logger, or without a clock whose timers do not keep the process alive. */
  static open(
    { logger, quietClock }: Pick<EngineSetup, 'logger' | 'quietClock'>,
    stats: () => Promise<Pick<Stats, 'unserved'>>,
  ): Unserved | undefined {
    return logger === undefined || quietClock === undefined ? undefined : new Unserved(logger, quietClock, stats)
  }

  note(jobs: readonly NewJob[]): void {
    for (const { name, queue = '' } of jobs) {
      const queues = this.#known.get(name)
      if (queues?.has(queue) === true || this.#pairs >= KNOWN_MAX) continue
      this.#pairs++
      if (queues === undefined) this.#known.set(name, new Set([queue]))
      else queues.add(queue)
      this.#names.add(name)
      this.#cancel ??= this.#clock.setTimer(AFTER_MS, () => void this.#look())
    }
  }

  close(): void {
    this.#cancel?.()
    this.#pairs = KNOWN_MAX
  }

  /** Warns of unserved names. If the stats may not be read, or get no answer, there is no warning. */
  async #look(): Promise<void> {
    const names = this.#names
    this.#names = new Set()
    this.#cancel = undefined
    const stats = await this.#stats().catch(() => undefined)
    for (const { queue, name, waiting } of stats?.unserved ?? []) {
      const pair = JSON.stringify([queue, name])
      if (!names.has(name) || this.#warned.has(pair)) continue
      this.#warned.add(pair)
      const remedy = 'start a worker for it with engine.work, or correct the name or the queues of the worker'
      this.#logger.warn(`no worker serves '${name}' in queue '${queue}': ${remedy}`, { waiting })
    }
  }
}
