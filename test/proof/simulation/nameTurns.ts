/**
 * Names of a fair queue take turns, from committed turns alone: no name has a second hand-out while a job of another name waits in memory,
 * unheld, that is served too, has room in the session, is of no lower priority, and whose name has had none in between.
 */
import type { Tables } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'
import { type HandOut, handOutsOf, passedOverBy } from './shares.ts'

export class NameTurns {
  readonly #history: History
  readonly #model: Model
  /** Of a job that waits: names that had a hand-out since its own had one. */
  #passed = new Map<Tracked, ReadonlySet<string>>()
  /** Turns begin anew with other tables. */
  #tables: Tables | undefined

  constructor(history: History, model: Model) {
    this.#history = history
    this.#model = model
  }

  /** After the model. */
  commit(tables: Tables, wall: number): void {
    const before = tables === this.#tables ? this.#passed : new Map<Tracked, ReadonlySet<string>>()
    this.#tables = tables
    this.#passed = new Map()
    const waiting = passedOverBy(this.#model, tables, wall).filter(({ queue }) => this.#model.limits.settings(queue).fairness === 'name')
    if (waiting.length === 0) return
    const handOuts = handOutsOf(this.#model, tables)
    for (const other of waiting) {
      const known = this.#isNew(other) ? undefined : before.get(other)
      this.#passed.set(other, this.#goOn(other, handOuts, known ?? new Set()))
    }
  }

  /** Whoever has been told something, or has lined up anew, begins from the front. */
  #isNew({ changedTurn, queue }: Tracked): boolean {
    const { limits, turns } = this.#model
    return changedTurn === turns || limits.toldNow(queue)
  }

  #goOn(other: Tracked, handOuts: readonly HandOut[], known: ReadonlySet<string>): ReadonlySet<string> {
    const passed = new Set(known)
    for (const { job, group, room } of handOuts) {
      if (job.queue !== other.queue) continue
      if (job.name === other.name) {
        passed.clear()
        continue
      }
      const isBehind = group.serves(other.queue, other.name) && job.priority <= other.priority && other.weight <= room
      if (isBehind) this.#history.meet('namesInTurn')
      this.#history.hold(
        !isBehind || !passed.has(job.name),
        24,
        () => `job ${job.seq} of name ${job.name} is handed out again, and job ${other.seq} of name ${other.name} waits for its turn`,
      )
      passed.add(job.name)
    }
    return passed
  }
}
