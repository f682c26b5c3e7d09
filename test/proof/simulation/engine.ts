/** The engine's process: an actor over the database, the ways to it, and its deaths. What it writes and says is watched. */
import { systemCalendar } from '@millrace/client/calendar'
import type { Delivery, Refusal, Request, Retention } from '@millrace/core'
import type { Effects, Settings, Store, TurnHeader } from '@millrace/core/kernel'
import { Actor, type Warn } from '../../../packages/engine/src/actor/actor.ts'
import { ActorFailure } from '../../../packages/engine/src/actor/failure.ts'
import { Loop } from '../../../packages/engine/src/actor/loop.ts'
import { packDelivery, unpackDelivery } from '../../../packages/engine/src/ports/pack/deliveries.ts'
import { packRequests, unpackRequests } from '../../../packages/engine/src/ports/pack/requests.ts'
import { Crash } from './storeFaults.ts'
import type { Timeline } from './timeline.ts'

export interface EngineOptions {
  readonly timeline: Timeline
  readonly store: Store
  readonly random: () => number
  readonly alive: ReadonlySet<string>
  readonly retention: Retention
  readonly recovery: 'immediate' | 'backoff'
  readonly packed: boolean
  /** Whether the last transaction was committed, whatever the store has thrown. */
  readonly landed: () => boolean
  readonly watch: EngineWatch
}

export interface EngineWatch {
  /** A turn begins: its time is now, however long its commit takes. */
  turning(): void
  /** What was decided is to be written: that may take its time, or fail. */
  writing(): void
  committed(effects: Effects, header: TurnHeader): void
  /** A question is answered from the disk: that may take its time. */
  reading(): void
  received(connection: string, requests: readonly Request[], sentMono: number): void
  delivering(connection: string, delivery: Delivery): void
  /** A turn is over, and the next is due in so many milliseconds; `failed`: it could not be written. */
  turned(nextMs: number, failed: boolean): void
  failed(refusal: Refusal | undefined, error: unknown): void
  /** The tables contradicted themselves, even if a reload has mended that. */
  invariantBroken(invariant: string): void
}

/** What questions alone read. */
type QuestionRead = 'attempts' | 'events'

function watchRead<Read extends QuestionRead>(store: { [Name in Read]: Store[Name] }, name: Read, watch: EngineWatch): void {
  const read = store[name] as (...values: unknown[]) => unknown
  store[name] = ((...values: unknown[]) => {
    watch.reading()
    return read(...values)
  }) as Store[Read]
}

let connections = 0

/** For the same names in every run of a seed. */
export function forgetConnections(): void {
  connections = 0
}

export class SimulatedEngine {
  readonly actor: Actor
  /** A new actor that loads the same file, as when the process starts again. */
  readonly successor: () => Actor
  dead = false
  readonly #options: EngineOptions
  readonly #loop: Loop

  constructor(options: EngineOptions) {
    this.#options = options
    const { timeline, random, alive, retention, recovery, watch, landed } = options
    const settings: Settings = { recovery, retention, calendar: systemCalendar }
    const clock = timeline.clock()
    let failedWrites = 0
    const store: Store & { -readonly [Read in QuestionRead]: Store[Read] } = {
      ...options.store,
      write: (effects, header) => {
        // Killed within its turn, its code goes on here to the turn's end: it reaches nothing any more.
        if (this.dead) throw new Crash('the engine is dead')
        watch.writing()
        try {
          options.store.write(effects, header)
        } catch (error) {
          failedWrites++
          if (landed()) watch.committed(effects, header)
          throw error
        }
        watch.committed(effects, header)
      },
    }
    for (const read of ['attempts', 'events'] as const) watchRead(store, read, watch)
    const warn: Warn = (_message, { invariant }) => {
      if (typeof invariant === 'string' && !this.dead) watch.invariantBroken(invariant)
    }
    this.actor = new Actor({ store, clock, random, settings, alive, warn })
    this.successor = () => new Actor({ store, clock, random, settings, alive: new Set() })
    const { actor } = this
    const turn = actor.turn.bind(actor)
    actor.turn = () => {
      failedWrites = 0
      watch.turning()
      const ms = turn()
      if (!this.dead) watch.turned(ms, failedWrites > 0)
      return ms
    }
    this.#loop = new Loop({
      actor,
      clock,
      breathe: (resume) => void timeline.after(0, () => this.dead || resume()),
      failed: (error) => {
        if (!this.dead) watch.failed(error instanceof ActorFailure ? error.refusal : undefined, error)
      },
    })
    timeline.after(0, this.#wake)
  }

  die(): void {
    this.dead = true
    this.#loop.stop()
  }

  connect(deliver: (delivery: Delivery) => void): Connection {
    const { watch, packed } = this.#options
    const name = `connection${++connections}`
    let open = true
    const id = this.actor.connect((delivery) => {
      if (this.dead || !open) return
      watch.delivering(name, delivery)
      // A watch may have killed the engine: between two deliveries it dies as anywhere.
      if (!this.dead) deliver(packed ? unpackDelivery(packDelivery(delivery)) : delivery)
    })
    return {
      name,
      receive: (requests, sentMono) => {
        if (this.dead || !open) return
        watch.received(name, requests, sentMono)
        this.actor.receive(id, packed ? unpackRequests(packRequests(requests)) : requests)
        this.#wake()
      },
      drop: () => {
        if (!open) return
        open = false
        if (this.dead) return
        this.actor.disconnect(id)
        this.#options.timeline.after(0, this.#wake)
      },
    }
  }

  readonly #wake = (): void => {
    if (!this.dead) this.#loop.wake()
  }
}

export interface Connection {
  readonly name: string
  receive(requests: readonly Request[], sentMono: number): void
  /** The other side is gone. */
  drop(): void
}
