/** Where and of what a result was measured: nothing that names the machine itself. */
import { spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import Database from 'better-sqlite3'
import { findPackage } from './peers/packages.ts'

const GIB = 2 ** 30

/** Of those that are common; a sync in memory is no sync. */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlay',
  801189825: 'zfs',
}

export function machineOf(folder: string): Readonly<Record<string, string | number>> {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / GIB),
    system: `${platform()} ${release()}`,
    fileSystem: fileSystemOf(folder),
  }
}

export function fileSystemOf(folder: string): string {
  const { type } = statfsSync(folder)
  return FILE_SYSTEMS[type] ?? (platform() === 'linux' ? `0x${type.toString(16)}` : 'unknown')
}

export function versions(): Readonly<Record<string, string>> {
  const db = new Database(':memory:')
  const sqlite = db.prepare('SELECT sqlite_version()').pluck().get() as string
  db.close()
  return {
    node: process.versions.node,
    '@millrace/engine': findPackage('@millrace/engine', '')?.version ?? 'unknown',
    'better-sqlite3': findPackage('better-sqlite3', '')?.version ?? 'unknown',
    sqlite,
  }
}

/** Short, and whether there were changes beside it; 'unknown' outside a checkout. */
export function commit(folder: string = import.meta.dirname): string {
  const git = (...args: readonly string[]) => spawnSync('git', args, { encoding: 'utf8', cwd: folder })
  const { status, stdout } = git('rev-parse', '--short=10', 'HEAD')
  if (status !== 0) return 'unknown'
  return git('status', '--porcelain').stdout === '' ? stdout.trim() : `${stdout.trim()} with changes`
}
