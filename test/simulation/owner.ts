/** The engine's side of the world: an actor over the database, the ways to it, and its deaths. */
import { type Command, DEFAULT_RETENTION, type Delivery, type Refusal, type Request } from '@millrace/core'
import { Actor, ActorFailure } from '../../packages/engine/src/actor/actor.ts'
import { Loop } from '../../packages/engine/src/actor/loop.ts'
import { packDelivery, unpackDelivery } from '../../packages/engine/src/ports/pack/deliveries.ts'
import { packRequests, unpackRequests } from '../../packages/engine/src/ports/pack/requests.ts'
import type { SqliteStore } from '../../packages/sqlite/src/store.ts'
import type { Scheduler } from './scheduler.ts'

export interface OwnerOptions {
  readonly scheduler: Scheduler
  readonly store: SqliteStore
  readonly random: () => number
  readonly alive: ReadonlySet<string>
  readonly delayMs: () => number
  /** Of what the engine hands out, before it is on its way. */
  readonly granted: (delivery: Delivery, wall: number) => void
  readonly failed: (refusal: Refusal | undefined) => void
}

export interface Connection {
  send(requests: readonly Request[]): void
  /** The other side is gone. */
  drop(): void
}

export class Owner {
  readonly actor: Actor
  dead = false
  readonly #options: OwnerOptions
  readonly #loop: Loop

  constructor(options: OwnerOptions) {
    this.#options = options
    const { scheduler, store, random, alive, failed } = options
    const clock = scheduler.clock()
    this.actor = new Actor({ store, clock, random, settings: { recovery: 'immediate', retention: DEFAULT_RETENTION }, alive })
    this.#loop = new Loop({
      actor: this.actor,
      clock,
      breathe: (resume) => void scheduler.after(0, resume),
      failed: (error) => {
        if (!this.dead) failed(error instanceof ActorFailure ? error.refusal : undefined)
      },
    })
    scheduler.after(0, this.#wake)
  }

  /** Nothing of it is heard of any more. */
  die(): void {
    this.dead = true
    this.#loop.stop()
  }

  connect(deliver: (delivery: Delivery) => void): Connection {
    const { scheduler, delayMs, granted } = this.#options
    let dropped = false
    let arrives = 0
    let leaves = 0
    const connection = this.actor.connect((delivery) => {
      if (this.dead || dropped) return
      granted(delivery, scheduler.wall)
      const packed = structuredClone(packDelivery(delivery))
      // In order, as a channel keeps it.
      leaves = Math.max(leaves, scheduler.mono + delayMs())
      scheduler.after(leaves - scheduler.mono, () => {
        if (!this.dead && !dropped) deliver(unpackDelivery(packed))
      })
    })
    return {
      send: (requests) => {
        const packed = structuredClone(packRequests(requests))
        arrives = Math.max(arrives, scheduler.mono + delayMs())
        scheduler.after(arrives - scheduler.mono, () => {
          if (this.dead || dropped) return
          this.actor.receive(connection, unpackRequests(packed))
          this.#wake()
        })
      },
      drop: () => {
        if (dropped) return
        dropped = true
        if (this.dead) return
        this.actor.disconnect(connection)
        scheduler.after(0, this.#wake)
      },
    }
  }

  readonly #wake = (): void => {
    if (!this.dead) this.#loop.wake()
  }
}

/** The sessions that requests open and close, as the host's side of a writer thread keeps them. */
export function noteSessions(sessions: Set<string>, requests: readonly { readonly command: Command }[]): void {
  for (const { command } of requests) {
    if (command.op === 'attach') sessions.add(command.session.uuid)
    else if (command.op === 'leave') sessions.delete(command.session)
  }
}
