/** Warns of jobs that no worker takes: once for each name and queue, some seconds after the first of them was enqueued. */
import type { Clock, Logger, NewJob, Stats } from '@millrace/core'
import type { EngineSetup } from './setup.ts'

const AFTER_MS = 5_000
/** Pairs of a queue and a name that are known; those beyond are nobody's first steps. */
const KNOWN_MAX = 1_000

export class Unserved {
  readonly #logger: Logger | undefined
  readonly #clock: Clock | undefined
  readonly #stats: () => Promise<Stats>
  /** Queues by name; '' stands for the queue that the name goes to by default. */
  readonly #known = new Map<string, Set<string>>()
  readonly #warned = new Set<string>()
  #pairs = 0
  /** Names to be looked after. */
  #names = new Set<string>()
  #cancel: (() => void) | undefined

  /** Without a logger, or without a clock that keeps no process alive, it does nothing. */
  constructor({ logger, quietClock }: Pick<EngineSetup, 'logger' | 'quietClock'>, stats: () => Promise<Stats>) {
    this.#logger = logger
    this.#clock = quietClock
    this.#stats = stats
  }

  note(jobs: readonly NewJob[]): void {
    if (this.#logger === undefined || this.#clock === undefined) return
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

  /** Who may not ask, or cannot be answered, is not warned either. */
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
      this.#logger?.warn(`no worker serves '${name}' in queue '${queue}': ${remedy}`, { waiting })
    }
  }
}
