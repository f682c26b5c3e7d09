/** The files that this process has open, across reloads of this module and second installed copies of it. */
import { statSync } from 'node:fs'
import { AlreadyOpenError } from '@millrace/core'
import { realFile } from './realFile.ts'

const KEY = Symbol.for('millrace.openFiles')
const SHARED_KEY = Symbol.for('millrace.sharedFiles')

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

/** An engine that more than one part of the process uses: counted, and closed with the last. */
export interface Shared<Engine> {
  readonly engine: Promise<Engine>
  users: number
}

/** What an engine says to those that share it. */
export interface Membership {
  /** Whether a stop is the last one, by which it ends. */
  readonly leave: () => boolean
  /** It has ended: who comes next opens another. */
  readonly ended: () => void
}

/** The engine that this process shares its file by: opened by `open` where there is none yet. */
export async function joinShared<Engine>(file: string, open: (membership: Membership) => Promise<Engine>): Promise<Engine> {
  const files = sharedFiles<Engine>()
  const key = realFile(file)
  const found = files.get(key)
  if (found !== undefined) {
    found.users++
    return found.engine
  }
  const ended = () => {
    if (files.get(key) === shared) files.delete(key)
  }
  const leave = () => {
    if (--shared.users > 0) return false
    ended()
    return true
  }
  const shared: Shared<Engine> = { engine: open({ leave, ended }), users: 1 }
  files.set(key, shared)
  shared.engine.catch(ended)
  return shared.engine
}

function sharedFiles<Engine>(): Map<string, Shared<Engine>> {
  const holder = globalThis as { [SHARED_KEY]?: Map<string, Shared<Engine>> }
  holder[SHARED_KEY] ??= new Map()
  return holder[SHARED_KEY]
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
