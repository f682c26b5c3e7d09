/** Who waits for whom, as it was asked, and how each has ended: a job is let through after all of them, and fails by one that has failed. */
import { COMPLETED, isFinal, type OnParentFailure } from '@millrace/core'
import { DELETED, type FlowEffects } from '@millrace/core/kernel'
import type { Edge } from './database.ts'
import type { Model, ModelOptions, Tracked } from './model.ts'

interface Place {
  readonly id: string
  readonly parents: readonly number[]
  readonly onParentFailure: OnParentFailure
}

export class FlowBook {
  readonly #model: Model
  readonly #options: ModelOptions
  readonly #places = new Map<number, Place>()
  /** How jobs had ended whose rows are gone. */
  readonly #ends = new Map<number, number>()
  /** Jobs of whose children some are told, and others are not. */
  readonly #underWay = new Set<number>()

  constructor(model: Model, options: ModelOptions) {
    this.#model = model
    this.#options = options
  }

  /** Whether it waits for others. */
  enqueued({ seq, id, number }: Tracked): boolean {
    const waits = this.#options.requests.waitFor.get(number)
    if (waits === undefined) return false
    const { history } = this.#options
    const parents = waits.parents.map((parent) => this.#model.numbers.get(parent) ?? 0)
    history.hold(!parents.includes(0), 26, () => `job ${seq} is created before one that it waits for`)
    this.#places.set(seq, { id, parents, onParentFailure: waits.onParentFailure })
    return parents.length > 0
  }

  /** Those that it was asked to wait for; undefined where it is of no flow. */
  parentsOf(seq: number): readonly number[] | undefined {
    return this.#places.get(seq)?.parents
  }

  released({ seq }: Tracked): void {
    const { history } = this.#options
    history.meet('flowReleased')
    const { parents, onParentFailure } = this.#placeOf(seq)
    for (const parent of parents) {
      const state = this.#standing(parent)
      history.hold(state !== 0, 26, () => `job ${seq} is let through, and job ${parent}, which it waits for, has not ended`)
      const passes = state === COMPLETED || onParentFailure !== 'fail'
      history.hold(passes, 26, () => `job ${seq} is let through, and job ${parent}, which it waits for, is in state ${state}`)
    }
  }

  forsaken({ seq, run }: Tracked): void {
    const { history } = this.#options
    history.meet('forsaken')
    const { parents, onParentFailure } = this.#placeOf(seq)
    const failed = parents.some((parent) => this.#standing(parent) > COMPLETED)
    history.hold(failed && onParentFailure === 'fail', 26, () => `job ${seq} fails because of others, and none of them has failed`)
    history.hold(run === 0, 26, () => `job ${seq} fails because of others, and has run`)
  }

  /** A turn is committed. */
  commit({ progress, due }: FlowEffects): void {
    for (const { parent, next } of progress) {
      if (next !== undefined && next.after > 0) this.#underWay.add(parent)
      else this.#underWay.delete(parent)
    }
    for (const parent of due.keys()) if (this.#underWay.delete(parent)) this.#options.history.meet('changedAsItIsTold')
  }

  /** Each child knows how those that it waits for stand. */
  told(edges: readonly Edge[]): void {
    const { history } = this.#options
    for (const { parent, child, told } of edges) {
      const state = this.#standing(parent)
      history.hold(
        told === state,
        26,
        () => `job ${child} is told ${told} of job ${parent}, which it waits for, and that is in state ${state}`,
      )
    }
  }

  removed({ seq, state }: Tracked): void {
    if (this.#places.has(seq)) this.#ends.set(seq, isFinal(state) ? state : DELETED)
  }

  /** Whether somebody has asked so of this job, or of one that it waits for, however far up. */
  asked(op: 'cancelTree' | 'retryTree', { seq, id }: Tracked): boolean {
    if (this.#options.requests.askedTree(op, id)) return true
    const seen = new Set([seq])
    for (const next of seen) {
      const place = this.#places.get(next)
      if (place === undefined) continue
      if (this.#options.requests.askedTree(op, place.id)) return true
      for (const parent of place.parents) seen.add(parent)
    }
    return false
  }

  /** 0 while it lives. */
  #standing(seq: number): number {
    const state = this.#model.jobs.get(seq)?.state ?? this.#ends.get(seq) ?? DELETED
    return state < COMPLETED ? 0 : state
  }

  #placeOf(seq: number): Place {
    const place = this.#places.get(seq)
    this.#options.history.hold(place !== undefined, 26, () => `job ${seq} waits for others, and was never asked to`)
    return place ?? { id: '', parents: [], onParentFailure: 'fail' }
  }
}
