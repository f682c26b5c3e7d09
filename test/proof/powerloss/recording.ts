/** One recorded run: the engine over a real file in a folder of memory, every operation on its files traced, every state noted. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type SqliteStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { type Database, openDatabase } from '../../../packages/sqlite/src/driver.ts'
import { claim } from '../../../packages/sqlite/src/open/claim.ts'
import { connectWriter } from '../../../packages/sqlite/src/open/connect.ts'
import { migrate } from '../../../packages/sqlite/src/open/migrate.ts'
import { makeStore } from '../../../packages/sqlite/src/store.ts'
import { digestOf, pagesOf } from './contents.ts'
import { Driver } from './driver.ts'
import { type Extension, instruct } from './extension.ts'
import type { Call } from './ledger.ts'
import { callsOf, Marker, type Operation, readTrace } from './trace.ts'
import { work } from './workload.ts'

export const DATABASE = 'jobs.db'
/** The same wherever a file is opened, so that what an opening writes is the same. */
export const OPENING = { random: () => 0.5, now: 1_900_000_000_000, host: 'test', pid: 1, ballastBytes: 4_096 } as const

/** Of a run that is recorded to be replayed: about sixty commits, over a thousand operations. */
export const RECORDED_STEPS = 60

/** `off` is what no engine offers: for the proof that its losses would be seen. */
export type Durability = 'full' | 'normal' | 'off'

export interface Plan {
  readonly seed: number
  readonly durability: Durability
  readonly steps: number
}

export interface Recording extends Plan {
  readonly operations: readonly Operation[]
  /** Of the content after so many turns; the first is that of a new file. */
  readonly digests: readonly string[]
  /** The pages that those turns left, and those of an engine's opening after them. */
  readonly pages: readonly (readonly [pages: string, commit: number])[]
  readonly calls: readonly Call[]
}

export async function record(extension: Extension, folder: string, { seed, durability, steps }: Plan): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const trace = join(folder, 'trace')
  const marker = new Marker(trace)
  instruct(extension, { trace })
  const file = join(folder, DATABASE)
  const digests: string[] = []
  const pages: [string, number][] = []
  const clock = new VirtualClock()
  let driver: Driver | undefined
  // The second time from a file that is there, with a log that was folded in as the first was closed.
  for (const round of [0, 1]) {
    const store = openFor(file, durability)
    // Looks after every turn; and copies the log back, which the engine's own connection does after 16 MiB only.
    const beside = openDatabase(file)
    if (durability === 'off') beside.pragma('synchronous = OFF')
    const written = (commits: number) => {
      digests[commits] = digestOf(beside) ?? ''
      pages.push([pagesOf(beside), commits])
    }
    written(driver?.commits ?? 0)
    driver = new Driver({ store, clock, mark: marker.mark, written, ...(driver !== undefined && { before: driver }) })
    const checkpoint = (how: 'copy' | 'cut') => {
      if (how === 'cut') store.care.foldWal()
      else beside.pragma('wal_checkpoint(PASSIVE)')
    }
    await work({ driver, clock, seed: seed * 2 + round, steps: Math.ceil(steps / 2), checkpoint })
    beside.close()
    await driver.close()
  }
  marker.close()
  instruct(extension, {})
  writeFileSync(join(folder, 'recording.json'), JSON.stringify({ digests, pages }))
}

export function readRecording(folder: string, plan: Plan): Recording {
  const noted = JSON.parse(readFileSync(join(folder, 'recording.json'), 'utf8')) as Pick<Recording, 'digests' | 'pages'>
  const operations = readTrace(readFileSync(join(folder, 'trace')))
  return { ...plan, ...noted, operations, calls: callsOf(operations) }
}

function openFor(file: string, durability: Durability): SqliteStore {
  return durability === 'off' ? openUnsynced(file) : openStore({ ...OPENING, file, durability })
}

/** The store's own parts, put together without what would refuse this. */
function openUnsynced(file: string): SqliteStore {
  const connect = (): Database => {
    const db = connectWriter(file, { durability: 'normal', cacheKib: 1_024, platform: process.platform })
    db.pragma('synchronous = OFF')
    return db
  }
  const db = connect()
  migrate(db, { file, now: OPENING.now })
  const ballast = { neededBytes: 0, release: () => {}, restore: () => true }
  const making = () => ({ mode: 0o600, like: undefined })
  return makeStore(db, { file, claim: claim(db, OPENING.random), ballast, connect, making, release: () => {}, warn: () => {} })
}
