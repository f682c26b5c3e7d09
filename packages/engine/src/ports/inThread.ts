/** A Port to an actor on the same thread, for tests and simulation. Deliveries and turns happen in microtasks. */
import { type Clock, type Port, type PortListener, type Random, refusalFrom } from '@millrace/core'
import type { Settings, Store } from '@millrace/core/kernel'
import { Actor, type Warn } from '../actor/actor.ts'
import { ActorFailure } from '../actor/failure.ts'
import { Loop } from '../actor/loop.ts'

export interface InThreadOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly settings: Settings
  readonly alive?: ReadonlySet<string>
  readonly warn?: Warn | undefined
}

/** An actor on this thread, with any number of Ports. */
export class InThreadEngine {
  readonly actor: Actor
  readonly #loop: Loop
  readonly #store: Store
  readonly #maxDataBytes: number | undefined
  readonly #listeners = new Set<PortListener>()
  #scheduled = false
  #closed = false

  constructor({ store, clock, random, settings, alive = new Set(), warn }: InThreadOptions) {
    this.#store = store
    this.#maxDataBytes = settings.maxDataBytes
    this.actor = new Actor({ store, clock, random, settings, alive, warn })
    this.#loop = new Loop({
      actor: this.actor,
      clock,
      breathe: queueMicrotask,
      failed: (error) => {
        const refusal = error instanceof ActorFailure ? error.refusal : refusalFrom(error)
        for (const listener of this.#listeners) listener.ended(refusal)
      },
    })
    this.#schedule()
  }

  /** Returns a Port. Closing it ends the whole engine if `owner` is set, and otherwise only the Port. */
  port({ owner = false }: { readonly owner?: boolean } = {}): Port {
    let connection: number | undefined
    return {
      capabilities: new Set(['work', 'list', 'backup', 'events']),
      maxDataBytes: this.#maxDataBytes,
      listen: (listener) => {
        this.#listeners.add(listener)
        // A copy, as out of the thread: bytes are a Uint8Array, and no Buffer of the driver.
        connection = this.actor.connect((delivery) => listener.deliver(structuredClone(delivery)))
      },
      send: (requests) => {
        if (this.#closed || connection === undefined) return
        this.actor.receive(connection, requests)
        this.#schedule()
      },
      hold: () => {},
      close: async () => {
        if (connection !== undefined) this.actor.disconnect(connection)
        if (owner) this.close()
        else this.#schedule()
      },
    }
  }

  close(): void {
    if (this.#closed) return
    this.abandon()
    this.#store.close()
  }

  /** Takes no more turns, and leaves the store as it is for another engine, like a thread that dies. */
  abandon(): void {
    this.#closed = true
    this.#loop.stop()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      if (!this.#closed) this.#loop.wake()
    })
  }
}
