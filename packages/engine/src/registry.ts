/** The files that this process has open, across reloads of this module and second installed copies of it. */
import { statSync } from 'node:fs'
import { AlreadyOpenError } from '@millrace/core'

const KEY = Symbol.for('millrace.openFiles')

/** Marks a file as open until the function that it answers is called; throws AlreadyOpenError where it is. */
export function registerFile(file: string): () => void {
  const files = openFiles()
  const key = identityOf(file)
  if (key === undefined) return () => {}
  if (files.has(key)) throw alreadyOpen(file)
  files.add(key)
  return () => files.delete(key)
}

/** Before opening: the file may not exist yet, and then nobody has it open. */
export function assertNotOpen(file: string): void {
  const key = identityOf(file)
  if (key !== undefined && openFiles().has(key)) throw alreadyOpen(file)
}

function alreadyOpen(file: string): AlreadyOpenError {
  return new AlreadyOpenError(`${file} is open in this process already: use that engine, or stop it first`, { pid: process.pid })
}

function openFiles(): Set<string> {
  const holder = globalThis as { [KEY]?: Set<string> }
  holder[KEY] ??= new Set()
  return holder[KEY]
}

/**
 * Device and inode: the same for every path that leads to the file. `stat` opens nothing. Where it may not even look, nobody
 * here has the file open, and the store says what is wrong with the place.
 */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
