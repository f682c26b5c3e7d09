/** The note by which the owner of a store tells others where it listens: written when it listens, removed when it stops. */
import type { Clock, Logger } from '@millrace/core'
import type { OwnerNote, Ownership } from './ownership.ts'

export interface Notice {
  /** Writes the note. While a store that is found by it cannot be written, it is tried again. */
  write(note: OwnerNote): void
  /** Writes the last note again, which somebody has removed, unless that is under way. */
  repeat(): void
  /** Removes the note if it was written. */
  forget(): void
  /** Resolves when the last note is written or removed. */
  settled(): Promise<void>
}

/** The delays before the next attempt, twice as long each time. */
const AGAIN_MS = { first: 250, most: 8_000 }

export function noticeOf(ownership: Ownership, quietClock: Clock, logger: Logger | undefined): Notice {
  let current: OwnerNote | undefined
  let isWritten = false
  let cancel = () => {}
  /** One after the other. */
  let noting = Promise.resolve()

  const failed = (error: unknown) =>
    logger?.warn(`could not store or remove the address of the owner of ${ownership.store}`, { error: String(error) })

  const announce = (note: OwnerNote, againMs: number) => {
    isWritten = false
    noting = noting
      .then(() => ownership.announce(note))
      .then(() => {
        isWritten = current === note
      })
      .catch((error) => {
        failed(error)
        if (!ownership.isFoundByNote || current !== note) return
        cancel = quietClock.setTimer(againMs, () => announce(note, Math.min(againMs * 2, AGAIN_MS.most)))
      })
  }

  return {
    write: (note) => {
      cancel()
      current = note
      announce(note, AGAIN_MS.first)
    },
    repeat: () => {
      if (current !== undefined && isWritten) announce(current, AGAIN_MS.first)
    },
    forget: () => {
      cancel()
      const note = current
      current = undefined
      if (note !== undefined) noting = noting.then(() => ownership.withdraw(note)).catch(failed)
    },
    settled: () => noting,
  }
}
