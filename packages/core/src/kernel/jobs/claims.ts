/** Checks the keys of one call's jobs before any is created: which are free, and which make a job a repeat of an earlier one. */
import type { NewJob } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import { placeOf } from '../records/exclusiveKey.ts'
import type { Facts } from '../state/facts.ts'
import { shapeOf } from './coalescing.ts'

/** Stands for another job of the same call, which has no id yet. */
export const OF_CALL = Symbol('of the call')

/** Answers job by job, in the call's order: each job's keys count against those after it. `ending` frees its unique key first. */
export class Claims {
  readonly #facts: Facts
  readonly #ending: number | undefined
  #held: Set<string> | undefined

  constructor(facts: Facts, ending: JobKey | undefined) {
    this.#facts = facts
    this.#ending = ending?.seq
  }

  /** True if its idempotency key, its debounce or its throttle makes the job a repeat of an earlier one. */
  repeats(job: NewJob): boolean {
    const { name, idempotencyKey } = job
    if (idempotencyKey !== undefined && this.#idempotent(name, idempotencyKey)) return true
    const shape = shapeOf(job)
    if (shape === undefined) return false
    const place = placeOf(name, shape)
    return shape.by === 'trailing' ? this.unique(place.name, place.key) !== undefined : this.#idempotent(place.name, place.key)
  }

  /** Returns the holder of a unique key, or undefined if the key was free. From then on the key is taken. */
  unique(name: string, key: string): JobKey | typeof OF_CALL | undefined {
    const holder = this.#facts.unique(name, key)
    if (holder !== undefined && holder.seq !== this.#ending) return holder
    return this.#take(`unique\0${name}\0${key}`) ? undefined : OF_CALL
  }

  #idempotent(name: string, key: string): boolean {
    return this.#facts.idempotent(name, key) !== undefined || !this.#take(`idempotent\0${name}\0${key}`)
  }

  #take(place: string): boolean {
    this.#held ??= new Set()
    const { size } = this.#held
    return this.#held.add(place).size > size
  }
}
