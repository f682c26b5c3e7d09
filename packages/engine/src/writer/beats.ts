/** Beats of an owner, by which a server knows that it lives. */
import type { Clock } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'

/** A store that someone must hear of now and then. */
interface Beating {
  beat?(): boolean
}

/** The interval of beats. A server ends the session of an owner that is silent for three of them. */
const BEAT_MS = 3_000

/** The silence after which a server may have ended the session, so that another process owns the store. */
export const PATIENCE_MS = 10_000

export interface BeatListener {
  /** Called after each beat that the server has heard. */
  beaten(): void
  /** Called if another engine owns the store by now, or if its files were taken away. */
  lost(failure: StoreFailure): void
  /** Called if others cannot find the owner by what is in the store. */
  forgotten(): void
}

/**
 * Beats until the returned function is called. The writer's thread itself does, since a thread that hangs must not be taken for one that
 * lives.
 */
export function startBeats(store: Beating, clock: Clock, listener: BeatListener): () => void {
  if (store.beat === undefined) return () => {}
  const later = (): (() => void) =>
    clock.setTimer(BEAT_MS, () => {
      try {
        if (store.beat?.() === false) listener.forgotten()
        listener.beaten()
      } catch (error) {
        // The next turn meets any other failure too.
        if (error instanceof StoreFailure && error.reason === 'owner') listener.lost(error)
      }
      cancel = later()
    })
  let cancel = later()
  return () => cancel()
}
