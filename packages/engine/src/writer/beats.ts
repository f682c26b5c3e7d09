/** Beats of an owner, by which a server knows that it lives. */
import type { Clock } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'

/** A store that someone must hear of now and then. */
interface Beating {
  beat?(): boolean
}

/** The interval of beats. A server ends the session of an owner that is silent for three of them. */
const BEAT_MS = 3_000

/**
 * Beats until the returned function is called. The writer's thread itself does, since a thread that hangs must not be taken for one that
 * lives. Calls `lost` if another engine owns the store by now, and `forgotten` if others cannot find the owner by what is in the store.
 */
export function startBeats(store: Beating, clock: Clock, lost: (message: string) => void, forgotten: () => void): () => void {
  if (store.beat === undefined) return () => {}
  const later = (): (() => void) =>
    clock.setTimer(BEAT_MS, () => {
      try {
        if (store.beat?.() === false) forgotten()
      } catch (error) {
        // The next turn meets any other failure too.
        if (error instanceof StoreFailure && error.reason === 'owner') lost(error.message)
      }
      cancel = later()
    })
  let cancel = later()
  return () => cancel()
}
