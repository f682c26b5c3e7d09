/**
 * A store over a database in memory that outlives its engines: a crash leaves what was committed and nothing else. Every statement
 * of a write asks first whether it may run.
 */
import { type Statement, sqliteError } from '../driver.ts'
import { claim } from '../open/claim.ts'
import { connectWriter } from '../open/connect.ts'
import { migrate } from '../open/migrate.ts'
import { MEMORY_FILE } from '../options.ts'
import { makeStore, type SqliteStore } from '../store.ts'
import { auditDatabase, type FileAudit } from './inspect.ts'

/** Where a write has come to: `commit` before COMMIT, `committed` after it. */
export type Place = 'begin' | 'statement' | 'commit' | 'committed'
/** What SQLite says instead; `lost` is a COMMIT that fails and was none, `phantom` one that fails and was one. */
export type Trouble = 'crash' | 'full' | 'busy' | 'io' | 'lost' | 'phantom'

export interface CrashingOptions {
  readonly random: () => number
  readonly now: number
  /** Called before each statement of a write, and after its COMMIT. */
  readonly meet: (place: Place) => Trouble | undefined
  /** Whether the ballast can be kept again. */
  readonly room: () => boolean
}

export interface CrashingDatabase {
  /** A store for the next engine; the one before is dead, and whatever it still does fails. */
  open(): SqliteStore
  /** As another engine that has taken the file over. */
  steal(): void
  audit(): FileAudit
  close(): void
}

/** Says that the engine is no more: nothing that is thrown this way is to be seen by anybody. */
export class Crash extends Error {}

const CODES = { full: 'SQLITE_FULL', busy: 'SQLITE_BUSY', io: 'SQLITE_IOERR_WRITE' } as const

export function openCrashing({ random, now, meet, room }: CrashingOptions): CrashingDatabase {
  const db = connectWriter(MEMORY_FILE, { durability: 'normal', cacheKib: 1024, platform: 'simulation' })
  migrate(db, { file: MEMORY_FILE, now })
  let generation = 0

  const open = (): SqliteStore => {
    const mine = ++generation
    if (db.inTransaction) db.prepare('ROLLBACK').run()
    const alive = () => {
      if (mine !== generation) throw new Crash('this engine has crashed')
    }
    const trouble = (place: Place) => {
      const met = meet(place)
      if (met === 'crash') {
        generation++
        throw new Crash(`at ${place}`)
      }
      if (met === 'full' || met === 'busy' || met === 'io') throw sqliteError(`simulated ${met}`, CODES[met])
      return met
    }
    const commit = (statement: Statement) => {
      const met = trouble('commit')
      if (met === 'lost') {
        db.prepare('ROLLBACK').run()
        throw sqliteError('simulated failure of a sync', 'SQLITE_IOERR_FSYNC')
      }
      const result = statement.run()
      if (met === 'phantom') throw sqliteError('simulated failure of a sync', 'SQLITE_IOERR_FSYNC')
      trouble('committed')
      return result
    }
    const wrap = (statement: Statement, sql: string): Statement => {
      const wrapped: Statement = new Proxy(statement, {
        get(target, property) {
          const value = Reflect.get(target, property)
          if (typeof value !== 'function') return value
          return (...values: unknown[]) => {
            alive()
            if (property === 'run' && sql === 'COMMIT') return commit(target)
            if (property === 'run' && sql !== 'ROLLBACK') trouble(sql.startsWith('BEGIN') ? 'begin' : 'statement')
            const result: unknown = value.apply(target, values)
            return result === target ? wrapped : result
          }
        },
      })
      return wrapped
    }
    const proxy = new Proxy(db, {
      get(target, property) {
        if (property === 'prepare') return (sql: string) => wrap(target.prepare(sql), sql)
        // The database is its one connection: closed, it would be lost.
        if (property === 'close') return () => {}
        const value = Reflect.get(target, property)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const ballast = { release: () => {}, restore: room }
    return makeStore(proxy, { file: MEMORY_FILE, claim: claim(db, random), ballast, connect: () => proxy, release: () => {} })
  }

  return {
    open,
    steal: () => void db.prepare('UPDATE meta SET epoch = epoch + 1').run(),
    audit: () => auditDatabase(db),
    close: () => void db.close(),
  }
}
