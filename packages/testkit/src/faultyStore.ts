/**
 * A store that fails when a test says so. The store behind it stays whole and real: a fault comes before its call, or before its
 * answer.
 */
import { type Effects, type FileCare, type Store, StoreFailure, type TurnHeader } from '@millrace/core/kernel'

export type Fault =
  /** Fails before COMMIT, as SQLite reports it: nothing is written. */
  | { readonly kind: 'full' | 'busy' | 'io' | 'owner' }
  /** COMMIT itself fails; `committed` is its true outcome, as the next opening of the file will find. */
  | { readonly kind: 'commit'; readonly committed: boolean }
  /** A statement fails, in turns that have what `culprit` looks for. */
  | { readonly kind: 'statement' | 'unfit' | 'large'; readonly culprit: (effects: Effects) => boolean }
  /** COMMIT takes time, which `pass` lets go by. */
  | { readonly kind: 'slow'; readonly pass: () => void }

export interface FaultPlan {
  /** The number of writes that still succeed. Default 0. */
  readonly after?: number
  /** The number of writes that fail then; Infinity until `heal`. Default 1. */
  readonly times?: number
}

const FAULTS = {
  statement: 'SQLITE_CONSTRAINT_CHECK: CHECK constraint failed: job',
  unfit: '22P05: unsupported Unicode escape sequence',
  large: 'SQLITE_TOOBIG: string or blob too big',
} as const

const MESSAGES = {
  full: 'SQLITE_FULL: database or disk is full',
  busy: 'SQLITE_BUSY: database is locked',
  io: 'SQLITE_IOERR_WRITE: disk I/O error',
  owner: 'another engine has taken the file over',
} as const

type ReadName = Exclude<keyof Store, 'write' | 'care' | 'reopen' | 'close'> | 'shrink'

/** The faults to cause, and counts of the store's calls so far. */
export class Faults {
  /** The number of transactions requested, those that failed included. */
  writes = 0
  failed = 0
  reopened = 0
  released = 0
  /** True if there is room for the ballast again. */
  room = true
  /** True if a full disk has room once the ballast is gone. */
  ballastHelps = true
  #fault: Fault | undefined
  #script: Fault[] = []
  #after = 0
  #times = 0
  readonly #reads = new Map<string, number>()

  fail(fault: Fault, { after = 0, times = 1 }: FaultPlan = {}): void {
    this.#fault = fault
    this.#after = after
    this.#times = times
  }

  /** Makes the next writes fail with these, in order. */
  failInOrder(...faults: readonly Fault[]): void {
    this.#script = [...faults]
  }

  /** Makes the next `times` reads of that name fail. */
  failRead(name: ReadName, times = 1): void {
    this.#reads.set(name, times)
  }

  heal(): void {
    this.#fault = undefined
    this.#script = []
    this.#reads.clear()
  }

  /** Returns the fault that the next write meets. */
  next(effects: Effects): Fault | undefined {
    this.writes++
    const scripted = this.#script.shift()
    if (scripted !== undefined) {
      this.failed++
      return scripted
    }
    const fault = this.#fault
    if (fault === undefined || ('culprit' in fault && !fault.culprit(effects))) return undefined
    if (this.#after > 0) {
      this.#after--
      return undefined
    }
    if (--this.#times <= 0) this.#fault = undefined
    if (fault.kind !== 'slow') this.failed++
    return fault
  }

  release(): void {
    this.released++
    if (this.ballastHelps && this.#fault?.kind === 'full') this.#fault = undefined
  }

  checkRead(name: string): void {
    const times = this.#reads.get(name) ?? 0
    if (times === 0) return
    this.#reads.set(name, times - 1)
    throw new StoreFailure('before', 'io', 'SQLITE_IOERR_READ: disk I/O error')
  }
}

export interface StoreInFile extends Store {
  readonly care: FileCare
}

export interface FaultyStore extends StoreInFile {
  readonly faults: Faults
}

/** @param keep if true, a reopening keeps the connection: a database in memory is gone with it, and the fault was never its own */
export function faultyStore(store: StoreInFile, keep = false): FaultyStore {
  const faults = new Faults()
  const own: Partial<FaultyStore> = {
    faults,
    read: (questions) => {
      for (const { kind } of questions) faults.checkRead(kind)
      return store.read(questions)
    },
    write: (effects, header) => write(store, faults.next(effects), effects, header),
    reopen: () => {
      faults.reopened++
      if (!keep) store.reopen()
    },
    care: {
      ...store.care,
      shrink: (pages) => {
        faults.checkRead('shrink')
        store.care.shrink(pages)
      },
      releaseBallast: () => {
        store.care.releaseBallast()
        faults.release()
      },
      restoreBallast: () => faults.room && store.care.restoreBallast(),
    },
  }
  return new Proxy(store, {
    get(target, property) {
      const name = property as keyof Store
      if (name in own) return own[name]
      const value = target[name]
      if (typeof value !== 'function') return value
      return (...values: never[]) => {
        faults.checkRead(name)
        return (value as (...values: never[]) => unknown).apply(target, values)
      }
    },
  }) as FaultyStore
}

function write(store: Store, fault: Fault | undefined, effects: Effects, header: TurnHeader): void {
  if (fault === undefined) store.write(effects, header)
  else if (fault.kind === 'slow') {
    fault.pass()
    store.write(effects, header)
  } else if ('culprit' in fault) throw new StoreFailure('broken', fault.kind, FAULTS[fault.kind])
  else if (fault.kind === 'commit') {
    if (fault.committed) store.write(effects, header)
    throw new StoreFailure('commit', 'io', 'SQLITE_IOERR_FSYNC: disk I/O error')
  } else throw new StoreFailure('before', fault.kind, MESSAGES[fault.kind])
}
