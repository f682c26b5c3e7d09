/**
 * Workers are paused, resumed and told how much may run, while connections break and engines die. A worker keeps its word from the
 * answer to a call until the next call is made.
 */
import type { Worker } from '@millrace/worker'
import type { Actor } from '../../../packages/engine/src/actor/actor.ts'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import type { EffectLog, Execution } from './effectLog.ts'
import type { History } from './history.ts'
import type { Model } from './model.ts'
import type { Operations } from './operations.ts'
import type { Timeline } from './timeline.ts'

export interface IntakesOptions {
  readonly chance: Chance
  readonly history: History
  readonly timeline: Timeline
  readonly model: Model
  readonly log: EffectLog
  readonly operations: Operations
}

/** What a worker has been asked last, once that is answered. */
interface Word {
  paused: boolean
  concurrency: number | undefined
  pauses: number
  sets: number
  /** The last run of each job when its concurrency was set: some begin later, in a batch, or because word of them was held back. */
  had: ReadonlyMap<number, number>
}

export class Intakes {
  readonly #options: IntakesOptions
  readonly #words = new WeakMap<Worker, Word>()

  constructor(options: IntakesOptions) {
    this.#options = options
    options.log.began = (execution) => this.#began(execution)
  }

  act(client: Client): void {
    const { worker } = client
    if (client.dead || worker === undefined) return
    const { chance, timeline } = this.#options
    if (chance.hits(0.65)) this.#pause(client, worker, chance.hits(worker.paused ? 0.1 : 0.9))
    else this.#set(client, worker, client.least + chance.small(6))
    // A change may come while the last one is still under way.
    if (chance.hits(0.6)) timeline.after(chance.small(400), () => this.act(client))
  }

  #pause(client: Client, worker: Worker, pauses: boolean): void {
    const { history, operations } = this.#options
    const word = this.#wordOf(worker)
    const call = ++word.pauses
    word.paused = false
    operations.call(client, pauses ? 'pause worker' : 'resume worker', pauses ? worker.pause() : worker.resume(), () => {
      if (word.pauses !== call) return
      word.paused = pauses
      if (pauses) history.meet('workerPaused')
    })
  }

  #set(client: Client, worker: Worker, concurrency: number): void {
    const { history, operations, model } = this.#options
    const word = this.#wordOf(worker)
    const call = ++word.sets
    word.concurrency = undefined
    operations.call(client, `set concurrency ${concurrency}`, worker.setConcurrency(concurrency), () => {
      if (word.sets !== call) return
      word.concurrency = concurrency
      word.had = new Map([...model.jobs].map(([seq, { run }]) => [seq, run]))
      history.meet('concurrencySet')
    })
  }

  #began({ client, seq, run }: Execution): void {
    const word = client.worker && this.#words.get(client.worker)
    if (word === undefined) return
    const { history, timeline, log, model } = this.#options
    history.hold(!word.paused, 52, () => `run ${run} of job ${seq} starts in ${client.name}, whose worker is paused`)
    const { concurrency, sets, had } = word
    if (concurrency === undefined || run <= (had.get(seq) ?? 0)) return
    // It may hear in the same moment that another run is no longer its own.
    timeline.after(0, () => {
      if (word.sets !== sets || client.dead) return
      const live = log.live(client)
      const weight = live.reduce((sum, other) => sum + (model.jobs.get(other.seq)?.weight ?? 0), 0)
      const isOver = weight > concurrency && live.length > 1 && live.some((other) => other.seq === seq && other.run === run)
      history.hold(!isOver, 52, () => `run ${run} of job ${seq} starts in ${client.name}, where ${weight} of ${concurrency} run`)
    })
  }

  /** Once all is answered, the engine acts by what each worker says. */
  audit({ tables }: Actor, clients: readonly Client[]): void {
    for (const { dead, name, worker } of clients) {
      const session = worker && tables.sessions.get(worker.session)
      // One that has yet to attach to this engine is only on record there, and takes nothing.
      if (dead || session === undefined || session.attachedAt === 0) continue
      const { paused = false, maxConcurrency } = session.intro
      const [told, said] = [`${paused} ${maxConcurrency}`, `${worker?.paused} ${worker?.concurrency}`]
      this.#options.history.hold(
        told === said,
        52,
        () => `the engine takes (paused, concurrency) of ${name} to be ${told}, and it is ${said}`,
      )
    }
  }

  #wordOf(worker: Worker): Word {
    const word = this.#words.get(worker) ?? { paused: false, concurrency: undefined, pauses: 0, sets: 0, had: new Map() }
    this.#words.set(worker, word)
    return word
  }
}
