/** Moves a store: waits until it is at rest, copies, compares, and gives it up for the other one. */
import { type Moved, type MoveProgress, MoveRefusedError, type MoveSettings, StorageError } from '@millrace/core'
import { type MoveSource, StoreFailure } from '@millrace/core/kernel'
import { movedTables } from '@millrace/sqlite'
import { copyStore, movedError } from './copy.ts'
import { type Movable, movable, pause } from './ends.ts'

const LOOK_EVERY_MS = 200

/** @throws MoveRefusedError, StoreMovedError, StorageError, and errors that say why a store cannot be opened */
export async function move(settings: MoveSettings): Promise<Moved> {
  const [from, to] = [await movable(settings.from), await movable(settings.to)]
  if (JSON.stringify(settings.from) === JSON.stringify(settings.to))
    throw new MoveRefusedError(`${from.name} is both ends of the move: name another target`)
  try {
    return await moveBetween(from, to, settings)
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    throw new StorageError(`the move stopped (${error.message}): repeat it, and it continues from there`, {}, { cause: error })
  }
}

async function moveBetween(from: Movable, to: Movable, settings: MoveSettings): Promise<Moved> {
  const source = await atRest(from, settings)
  try {
    const { movedTo } = source
    // A target that does not exist is not created in vain.
    if (movedTo !== undefined && movedTo !== to.name && !to.exists()) throw movedError(from.name, movedTo)
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
  } finally {
    source.close()
  }
}

/** Opens the source when it has no active jobs, and nothing in its inbox. */
async function atRest(from: Movable, settings: MoveSettings): Promise<MoveSource> {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const source = from.openSource()
    let left: ReturnType<MoveSource['unfinished']>
    try {
      left = source.unfinished()
    } catch (error) {
      source.close()
      throw error
    }
    const { active, entries } = left
    if (active + entries === 0) return source
    source.close()
    const what = `${from.name} has ${active} active jobs and ${entries} entries in its inbox`
    if (!settings.drain)
      throw new MoveRefusedError(`${what}: stop its workers, and move with drain (--drain), which lets these jobs wait again`)
    // For example because their queues are full.
    if (active === 0 && entries >= before)
      throw new MoveRefusedError(`${what} that can become no jobs now: start its workers again, or delete these entries`)
    before = entries
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
