/**
 * Saves what a log without a name has. All that was acknowledged since the log was last folded into the database is in it alone, and to fold
 * it in now would break a database into which others have written since.
 *
 * If nobody has, the log gets its name back, and the next open replays it. It is complete before it has the name, and takes nobody's: whoever
 * opens the database meanwhile has a log of that name. Otherwise all that this connection sees goes into a database beside. Only then does
 * the connection close. A process that dies before has changed nothing.
 */
import { closeSync, existsSync, fsyncSync, linkSync, mkdtempSync, readSync, rmSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createFile, type Making } from './access.ts'
import { asBackup, copyWhole } from './backup.ts'
import { indexFile, savedFile, walFile } from './companionFiles.ts'
import type { Database } from './driver.ts'
import { syncFolderOf } from './durable.ts'
import type { Identity } from './identity.ts'

export interface Orphaned {
  /** The connection that has the log open. It sees what the log has, and nothing else may use it any more. */
  readonly db: Database
  readonly file: string
  readonly identity: Identity
  /** True if the connection still sees the last turn that was acknowledged: an index of the log can be overwritten. */
  readonly seesAll: () => boolean
  /** The number of this owner. */
  readonly epoch: number
  readonly making: Making
}

/** Returns where everything is now, in words. */
export function saveLog(orphaned: Orphaned): string {
  const { db, file, identity, seesAll } = orphaned
  const name = basename(file)
  if (identity.hasDatabase && (identity.hasLog ? !existsSync(indexFile(file)) : nameAgain(orphaned)))
    return `all that was acknowledged is in ${name} and its log. Open the engine again`
  try {
    if (!seesAll()) throw new Error('another program has written over the index of the log')
    const [folded] = db.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
    if (identity.hasDatabase && folded.log === folded.checkpointed)
      return `all that was acknowledged is in ${name}. Close what else has it open, and open the engine again`
    return `all that was acknowledged is in ${copy(orphaned)}, and ${name} may lack some of it. Stop all that has ${name} open, move it and its log away, and give the copy its name`
  } catch (error) {
    return `what was acknowledged last could not be saved (${(error as Error).message}), and ${name} may lack it`
  }
}

const CHUNK_BYTES = 2 ** 20

/** Returns false if somebody has written into the database or has another log, or if the file system has no hard links. */
function nameAgain({ file, identity, making }: Orphaned): boolean {
  const { log } = identity
  if (log === undefined || !identity.isUntouched || existsSync(walFile(file))) return false
  let folder: string | undefined
  try {
    folder = mkdtempSync(`${walFile(file)}.partial-`)
    const made = join(folder, 'log')
    const target = createFile(made, making)
    try {
      copyBytes(log, target)
      fsyncSync(target)
    } finally {
      closeSync(target)
    }
    if (!identity.isUntouched) return false
    linkSync(made, walFile(file))
    syncFolderOf(walFile(file))
    return true
  } catch {
    return false
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function copyBytes(from: number, to: number): void {
  const chunk = new Uint8Array(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const read = readSync(from, chunk, 0, CHUNK_BYTES, at)
    if (read === 0) return
    for (let written = 0; written < read; ) written += writeSync(to, chunk, written, read - written)
    at += read
  }
}

function copy({ db, file, epoch, making }: Orphaned): string {
  // The epoch may have been in a log that was lost before this one.
  let number = epoch
  while (existsSync(savedFile(file, number))) number++
  const target = savedFile(file, number)
  copyWhole(db, target, making, asBackup)
  return basename(target)
}
