/** The files that this process has open, across reloads of this module and several installed copies of it. */
import { statSync } from 'node:fs'
import { AlreadyOpenError, type EngineSettings, OptionTypeError } from '@millrace/core'

const KEY = Symbol.for('millrace.openFiles')
const SHARED_KEY = Symbol.for('millrace.sharedFiles')

/** Marks a file as open until the returned function is called. Throws AlreadyOpenError if it is open. */
export function registerFile(file: string): () => void {
  const files = openFiles()
  const key = identityOf(file)
  if (key === undefined) return () => {}
  if (files.has(key)) throw alreadyOpen(file)
  files.add(key)
  return () => files.delete(key)
}

/** Runs before opening: if the file does not exist yet, nobody has it open. */
export function assertNotOpen(file: string): void {
  const key = identityOf(file)
  if (key !== undefined && openFiles().has(key)) throw alreadyOpen(file)
}

/** An engine that several parts of the process use: they are counted, and the last one closes it. */
export interface Shared<Engine> {
  readonly engine: Promise<Engine>
  readonly terms: Terms
  users: number
}

/** The options that decide how the data of all users of an engine is kept. The first opening sets them, and later ones must agree. */
export type Terms = Pick<EngineSettings, (typeof TERMS)[number]>

const TERMS = ['codec', 'redact', 'maxDataBytes'] as const

/** The functions by which a shared engine reports to this registry. */
export interface Membership {
  /** Reports a stop. Returns true if it is the last one, which ends the engine. */
  readonly leave: () => boolean
  /** Reports that the engine has ended: the next opening creates another. */
  readonly ended: () => void
}

/** A store that the parts of a process share. `key` is the same for every way to name it. */
export interface SharedStore {
  readonly key: string
  /** Its name in messages. */
  readonly name: string
}

/**
 * Returns the engine by which this process shares a store; `open` opens it if there is none yet.
 *
 * @throws OptionTypeError if it was opened on other terms
 */
export async function joinShared<Engine>(
  { key, name }: SharedStore,
  terms: Terms,
  open: (membership: Membership) => Promise<Engine>,
): Promise<Engine> {
  const files = sharedFiles<Engine>()
  const found = files.get(key)
  if (found !== undefined) {
    assertSameTerms(name, found.terms, terms)
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

function assertSameTerms(name: string, first: Terms, terms: Terms): void {
  const other = TERMS.find((option) => first[option] !== terms[option])
  if (other === undefined) return
  throw new OptionTypeError(
    other,
    `this process shares ${name} by an engine that was opened with another ${other}, and all its openings use that one: give each the same ${other} (of an object or a function, the very same), or stop that engine first`,
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
 * Returns device and inode, which are the same for every path to the file. `stat` opens nothing. If even that is not
 * allowed, nobody here has the file open, and the store reports what is wrong with the place.
 */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
