/** The two kinds of stores that can be moved: how each is opened as an end of a move, and by an engine that drains it. */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { LIMITS, type StoreAddress, schemaName, validateOpenOptions, validatePostgresOptions } from '@millrace/core'
import type { MoveSource, MoveTarget } from '@millrace/core/kernel'
import { systemClock, systemRandom } from '../clock.ts'
import { openAlone, openFile } from '../open.ts'
import { loadPostgres } from '../postgres/load.ts'
import { postgresStore } from '../postgres/postgresStore.ts'

export interface Movable {
  /** The store in messages and marks. It has no password. */
  readonly name: string
  openSource(): MoveSource
  openTarget(): MoveTarget
  /** True if there is a store, or something in its place. */
  exists(): boolean
  /** Opens an engine that nobody can attach to. */
  openEngine(): Promise<Engine>
}

/** An engine that drains a store deletes nothing, and refuses no entry that the engines of the application may accept. */
const KEEPING = {
  retention: { completed: 'forever', failed: 'forever', cancelled: 'forever', journal: { age: '36500d', bytes: 2 ** 40 } },
  maxDataBytes: LIMITS.bytesPerCommand,
  maxQueues: 1_000_000,
} as const

/** A session of the server ends a little later than its process. */
const FORMER_SESSION_MS = 2_000

export function movable(address: StoreAddress<string>): Promise<Movable> {
  return 'file' in address ? movableFile({ ...address, file: resolve(address.file) }) : movableSchema(address)
}

async function movableFile({ file, unsafeFilesystem = 'refuse' }: Extract<StoreAddress<string>, { file: string }>): Promise<Movable> {
  const { openMoveSource, openMoveTarget } = await import('@millrace/sqlite')
  const options = () => ({
    ...{ file, unsafeFilesystem, durability: 'full' as const, random: systemRandom, now: systemClock.read().wall },
    ...{ host: hostname(), pid: process.pid },
  })
  return {
    name: file,
    openSource: () => openMoveSource(options()),
    openTarget: () => openMoveTarget(options()),
    exists: () => existsSync(file),
    openEngine: () => openFile(file, validateOpenOptions({ file, unsafeFilesystem, ...KEEPING })),
  }
}

async function movableSchema(address: StoreAddress<string> & { readonly postgres: string }): Promise<Movable> {
  const driver = await loadPostgres()
  const { inspectSchema, openMoveSource, openMoveTarget } = driver
  const settings = validatePostgresOptions({ ...address, ...KEEPING, role: 'owner' })
  const { postgres: url, schema } = settings
  const options = () => ({
    ...{ url, schema, durability: 'full' as const, waitMs: FORMER_SESSION_MS, random: systemRandom, now: systemClock.read().wall },
  })
  return {
    name: schemaName(url, schema),
    exists: () => inspectSchema({ url, schema }).schemaVersion > 0,
    openSource: () => openMoveSource(options()),
    openTarget: () => openMoveTarget(options()),
    openEngine: () => openAlone(postgresStore(driver, settings, { isMoving: true }), settings),
  }
}

/** Keeps the process alive meanwhile. */
export function pause(ms: number): Promise<void> {
  return new Promise((done) => void systemClock.setTimer(ms, done))
}
