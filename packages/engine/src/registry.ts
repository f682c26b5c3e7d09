/** The files that this process has open, across reloads of this module and second installed copies of it. */
import { statSync } from 'node:fs'
import { AlreadyOpenError, type OpenSettings, OptionTypeError } from '@millrace/core'
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
  readonly terms: Terms
  users: number
}

/** What decides how the data of all that use an engine is kept: the first opening's, and nobody else may think it another. */
export type Terms = Pick<OpenSettings, (typeof TERMS)[number]>

const TERMS = ['codec', 'redact', 'maxDataBytes'] as const

/** What an engine says to those that share it. */
export interface Membership {
  /** Whether a stop is the last one, by which it ends. */
  readonly leave: () => boolean
  /** It has ended: who comes next opens another. */
  readonly ended: () => void
}

/**
 * The engine that this process shares its file by: opened by `open` where there is none yet.
 *
 * @throws OptionTypeError where it was opened on other terms
 */
export async function joinShared<Engine>(file: string, terms: Terms, open: (membership: Membership) => Promise<Engine>): Promise<Engine> {
  const files = sharedFiles<Engine>()
  const key = realFile(file)
  const found = files.get(key)
  if (found !== undefined) {
    assertSameTerms(file, found.terms, terms)
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
  const shared: Shared<Engine> = { engine: open({ leave, ended }), terms, users: 1 }
  files.set(key, shared)
  shared.engine.catch(ended)
  return shared.engine
}

function assertSameTerms(file: string, first: Terms, terms: Terms): void {
  const other = TERMS.find((option) => first[option] !== terms[option])
  if (other === undefined) return
  throw new OptionTypeError(
    other,
    `this process shares ${file} by an engine that was opened with another ${other}, and all its openings use that one: give each the same ${other} (of an object or a function, the very same), or stop that engine first`,
  )
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
