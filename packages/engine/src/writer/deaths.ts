/**
 * Looks for dead processes among the workers that were attached to the former owner. Their sessions are on record with a full lease to come
 * back, and a dead process has no use for it. From the moment that a session attaches, the server of its connection looks.
 */
import type { Clock } from '@millrace/core'
import { away, type Tables } from '@millrace/core/kernel'
import { isDead, isHere } from '@millrace/worker/process'

/** A process may die after the first look, before it has come back. */
const LOOK_MS = 1_000

export interface DeathOptions {
  readonly actor: { readonly tables: Tables; declareDead(sessions: readonly string[]): void }
  /** Lets the actor take its turns at once. */
  readonly wake: () => void
  readonly clock: Clock
}

/** Looks at once, and again until all sessions that this machine can see have come back or are lost. Returns a function that ends it. */
export function watchDeaths({ actor, wake, clock }: DeathOptions): () => void {
  let cancel = () => {}
  const look = (): void => {
    const seen = away(actor.tables).filter(([, process]) => isHere(process))
    const dead = seen.filter(([, process]) => isDead(process)).map(([uuid]) => uuid)
    if (dead.length > 0) {
      actor.declareDead(dead)
      wake()
    }
    // The turn that loses a session may fail, and its tables are loaded again.
    if (seen.length > 0) cancel = clock.setTimer(LOOK_MS, look)
  }
  look()
  return () => cancel()
}
