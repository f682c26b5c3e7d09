/** Moves a store: waits until it is at rest, copies, compares, and gives it up for the other one. */
import { type Moved, type MoveProgress, MoveRefusedError, type MoveSettings, StorageError } from '@millrace/core'
import { type MoveSource, StoreFailure } from '@millrace/core/kernel'
import { movedTables } from '@millrace/sqlite'
import { assertNotMoved, copyStore } from './copy.ts'
import { type Movable, movable, pause } from './ends.ts'

const LOOK_EVERY_MS = 200

export async function move(settings: MoveSettings): Promise<Moved> {
  const [from, to] = [await movable(settings.from), await movable(settings.to)]
  if (from.name === to.name) throw new MoveRefusedError(`${from.name} is both ends of the move: name another target`)
  const source = await atRest(from, settings)
  try {
    assertNotMoved(source, from.name, to.name)
    const target = to.openTarget()
    try {
      const copying = copyStore(source, target, { tables: movedTables(), from: from.name, to: to.name })
      for (;;) {
        const { done, value } = copying.next()
        if (done) return { tables: value }
        await tell(value, settings)
      }
    } finally {
      target.close()
    }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    throw new StorageError(`the move stopped (${error.message}): repeat it, and it continues from there`, {}, { cause: error })
  } finally {
    source.close()
  }
}

/** Opens the source when it has no active jobs, and nothing in its inbox. */
async function atRest(from: Movable, settings: MoveSettings): Promise<MoveSource> {
  for (;;) {
    const source = from.openSource()
    const { active, entries } = source.unfinished()
    if (active + entries === 0) return source
    source.close()
    if (!settings.drain)
      throw new MoveRefusedError(
        `${from.name} has ${active} active jobs and ${entries} entries in its inbox: stop its workers, and move with drain (--drain), which lets these jobs wait again`,
      )
    await tell({ phase: 'drain', table: '', rows: active + entries }, settings)
    await drain(from, settings)
  }
}

/**
 * Runs an engine without workers until no job is active and no new one appears. Workers of before are lost to it: it gives their jobs back
 * when their leases have ended.
 */
async function drain(from: Movable, settings: MoveSettings): Promise<void> {
  const engine = await from.openEngine()
  try {
    for (let before = -1; ; ) {
      const { states, totals } = await engine.stats()
      if (states.active === 0 && totals.enqueued === before) return
      before = totals.enqueued
      await tell({ phase: 'drain', table: '', rows: states.active }, settings)
      await pause(LOOK_EVERY_MS)
    }
  } finally {
    await engine.stop()
  }
}

/** Tells how far the move is, and lets others have the thread. @throws the reason of the signal */
async function tell(progress: MoveProgress, { onProgress, signal }: MoveSettings): Promise<void> {
  onProgress?.(progress)
  await new Promise((done) => setImmediate(done))
  if (signal?.aborted) throw signal.reason
}
