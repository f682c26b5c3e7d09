/** The fault VFS: compiled with `cc`, or what CC names, into a folder, and loaded into the SQLite that the store itself uses. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../../packages/sqlite/src/driver.ts'

const COMPILER = process.env['CC'] ?? 'cc'
const DRIVER = 'better-sqlite3'
const SOURCE = fileURLToPath(new URL('faultvfs.c', import.meta.url))

export interface Extension {
  readonly path: string
}

/** Compiles it; answers why it cannot be, as text, where this machine lacks what that takes. */
export function compileExtension(folder: string): Extension | string {
  if (process.platform !== 'linux') return `the fault VFS is made for Linux, not ${process.platform}`
  const headers = headerFolder()
  if (headers === undefined) return `${DRIVER} was installed without the headers of its SQLite (sqlite3ext.h)`
  const path = join(folder, 'faultvfs.so')
  const { error, status, stderr } = spawnSync(COMPILER, ['-O1', '-Wall', '-Werror', '-shared', '-fPIC', '-I', headers, SOURCE, '-o', path])
  if (error !== undefined) return `there is no C compiler: ${error.message}`
  // What does not compile where there is a compiler is a fault, not a reason.
  if (status !== 0) throw new Error(`faultvfs.c does not compile: ${stderr}`)
  return { path }
}

function headerFolder(): string | undefined {
  // Found as the store finds it.
  const require = createRequire(new URL('../../../packages/sqlite/src/driver.ts', import.meta.url))
  const folder = join(dirname(require.resolve(`${DRIVER}/package.json`)), 'deps', 'sqlite3')
  return existsSync(join(folder, 'sqlite3ext.h')) ? folder : undefined
}

export interface Fault {
  readonly fail: 'write' | 'sync' | 'truncate'
  readonly error: 'full' | 'ioerr_write' | 'ioerr_fsync' | 'ioerr_truncate'
  readonly sticky: boolean
  readonly at: number
}

export interface Crash {
  readonly crash: 'before' | 'half'
  readonly at: number
}

/** What the VFS is to do from now on; nothing where nothing is given. */
export interface Instructions {
  readonly trace?: string
  readonly fault?: Fault
  readonly crash?: Crash
}

/** Loads it, or tells it anew: from here on every connection of this process that is opened goes through it. */
export function instruct(extension: Extension, { trace = '', fault, crash }: Instructions): void {
  process.env['FAULTVFS_TRACE'] = trace
  process.env['FAULTVFS_FAIL'] = fault?.fail ?? ''
  process.env['FAULTVFS_ERROR'] = fault?.error ?? ''
  process.env['FAULTVFS_STICKY'] = fault?.sticky ? '1' : ''
  process.env['FAULTVFS_CRASH'] = crash?.crash ?? ''
  process.env['FAULTVFS_AT'] = String(fault?.at ?? crash?.at ?? '')
  const db = openDatabase(':memory:')
  db.loadExtension(extension.path)
  db.close()
}
