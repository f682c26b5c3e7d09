/**
 * Looks for dead processes among the workers that were attached to the former owner. Their sessions are on record with a full lease to come
 * back, and a dead process has no use for it. From the moment that a session attaches, the server of its connection looks.
 */
import type { Clock } from '@millrace/core'
import { away, type Tables } from '@millrace/core/kernel'
import { isDead as isDeadProcess, isHere } from '@millrace/worker/process'

/** A process may die after it was read, before it has come back. */
const LOOK_MS = 1_000
/** The processes that one look reads: each takes the writer about 20 µs. */
const READ_AT_ONCE = 64
/** The time until the next look, if there are more processes than one look reads. */
const NEXT_MS = 10

export interface DeathOptions {
  readonly actor: { readonly tables: Tables; declareDead(sessions: readonly string[]): void }
  /** Lets the actor take its turns at once. */
  readonly wake: () => void
  readonly clock: Clock
  /** Reads a process of this machine. Default: from the system. */
  readonly isDead?: (process: string) => boolean
}

/**
 * Looks at once, and again until all sessions that this machine can see have come back or are lost. A round of looks reads each process once,
 * however many sessions it has. Returns a function that ends it.
 */
export function watchDeaths({ actor, wake, clock, isDead = isDeadProcess }: DeathOptions): () => void {
  let cancel = () => {}
  /** The processes that the round has yet to read. */
  let unread: string[] = []
  const look = (): void => {
    if (unread.length === 0) unread = [...new Set(away(actor.tables).map(([, process]) => process))].filter(isHere)
    // The turn that loses a session may fail, and its tables are loaded again: there is another round.
    const isRound = unread.length > 0
    const dead = new Set(unread.splice(-READ_AT_ONCE).filter((process) => isDead(process)))
    // Sessions that have come back since the round began are left alone.
    const lost = dead.size === 0 ? [] : away(actor.tables).filter(([, process]) => dead.has(process))
    if (lost.length > 0) {
      actor.declareDead(lost.map(([uuid]) => uuid))
      wake()
    }
    if (isRound) cancel = clock.setTimer(unread.length > 0 ? NEXT_MS : LOOK_MS, look)
  }
  look()
  return () => cancel()
}
