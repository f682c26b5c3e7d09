/** The two kinds of stores that can be moved: how each is opened as an end of a move, and by an engine that drains it. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { type StoreAddress, validateOpenOptions, validatePostgresOptions } from '@millrace/core'
import type { MoveSource, MoveTarget } from '@millrace/core/kernel'
import { quietClock, systemClock, systemRandom } from '../clock.ts'
import { openAlone, openFile, withoutPostgres } from '../open.ts'

export interface Movable {
  /** The store in messages and marks. It has no password. */
  readonly name: string
  openSource(): MoveSource
  openTarget(): MoveTarget
  /** Opens an engine that nobody can attach to. */
  openEngine(): Promise<Engine>
}

/** A session of the server ends a little later than its process. */
const FORMER_SESSION_MS = 2_000

export function movable(address: StoreAddress): Promise<Movable> {
  return 'file' in address ? movableFile(resolve(address.file)) : movableSchema(address)
}

async function movableFile(file: string): Promise<Movable> {
  const { openMoveSource, openMoveTarget } = await import('@millrace/sqlite')
  const options = () => ({
    ...{ file, durability: 'full' as const, random: systemRandom, now: systemClock.read().wall },
    ...{ host: hostname(), pid: process.pid },
  })
  return {
    name: file,
    openSource: () => openMoveSource(options()),
    openTarget: () => openMoveTarget(options()),
    openEngine: () => openFile(file, validateOpenOptions({ file })),
  }
}

async function movableSchema(address: StoreAddress & { readonly postgres: string }): Promise<Movable> {
  const { openMoveSource, openMoveTarget } = await import('@millrace/postgres').catch(withoutPostgres)
  const { postgresStore } = await import('../postgres/postgresStore.ts')
  const settings = validatePostgresOptions({ ...address, role: 'owner' })
  const { postgres: url, schema } = settings
  const options = () => ({
    ...{ url, schema, durability: 'full' as const, waitMs: FORMER_SESSION_MS, random: systemRandom, now: systemClock.read().wall },
  })
  const { host, pathname } = new URL(url)
  return {
    name: `schema ${schema} at ${host}${pathname}`,
    openSource: () => openMoveSource(options()),
    openTarget: () => openMoveTarget(options()),
    openEngine: () => openAlone(postgresStore(settings, { isMoving: true }), settings),
  }
}

/** Lets others have the time. */
export function pause(ms: number): Promise<void> {
  return new Promise((done) => void quietClock.setTimer(ms, done))
}
