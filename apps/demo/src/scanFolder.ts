/** Reads one folder, or one part of a folder with very many entries: what is in it, or into which parts to split it. */
import type { Dirent } from 'node:fs'
import { readdir, statfs } from 'node:fs/promises'
import { childOf, fromSystem, toSystem } from './filePath.ts'

/** Entries whose names, as bytes, are `from` or after it and before `to`. */
export interface Part {
  readonly path: string
  readonly from?: string
  readonly to?: string
}

export interface Scan {
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /** The parts to scan one by one, if there are too many entries for one job. */
  readonly parts: readonly Part[]
  readonly links: number
  /** Sockets, pipes, devices, pseudo file systems. */
  readonly special: number
}

const NOTHING: Scan = { files: [], folders: [], parts: [], links: 0, special: 0 }

/** True for the files and folders that are not to be opened. */
export type IsOwn = (folder: string, name: string) => boolean

/** Entries of one job: well below the 10,000 jobs and 16 MiB that one atomic command may hold. */
const ENTRIES_MAX = 5_000
const BYTES_MAX = 4 * 2 ** 20
const NAME_BYTES_MAX = 255

export async function scanFolder(part: Part, isOwn: IsOwn, entriesMax = ENTRIES_MAX): Promise<Scan> {
  if (await isPseudo(part.path)) return { ...NOTHING, special: 1 }
  const entries = await readPart(part)
  const max = Math.min(entriesMax, Math.floor(BYTES_MAX / (part.path.length + NAME_BYTES_MAX)))
  return entries.length > max ? { ...NOTHING, parts: split(part, entries, max) } : sortOut(part.path, entries, isOwn)
}

async function readPart({ path, from, to }: Part): Promise<Dirent<Buffer>[]> {
  const entries = await readdir(toSystem(path), { withFileTypes: true, encoding: 'buffer' })
  if (from === undefined && to === undefined) return entries
  const first = from === undefined ? undefined : Buffer.from(toSystem(from))
  const end = to === undefined ? undefined : Buffer.from(toSystem(to))
  return entries.filter(({ name }) => (first === undefined || name.compare(first) >= 0) && (end === undefined || name.compare(end) < 0))
}

/** Parts without a gap between them, so that what comes or goes meanwhile is met at most once. */
function split({ path, from, to }: Part, entries: readonly Dirent<Buffer>[], max: number): Part[] {
  const names = entries.map(({ name }) => name).sort(Buffer.compare)
  const bounds: (string | undefined)[] = [from]
  for (let index = max; index < names.length; index += max) bounds.push(fromSystem(names[index] as Buffer))
  bounds.push(to)
  return bounds.slice(1).map((end, index) => {
    const start = bounds[index]
    return { path, ...(start !== undefined && { from: start }), ...(end !== undefined && { to: end }) }
  })
}

function sortOut(folder: string, entries: readonly Dirent<Buffer>[], isOwn: IsOwn): Scan {
  const files: string[] = []
  const folders: string[] = []
  let links = 0
  let special = 0
  for (const entry of entries) {
    const name = fromSystem(entry.name)
    if (entry.isFile() || entry.isDirectory()) {
      if (!isOwn(folder, name)) (entry.isFile() ? files : folders).push(childOf(folder, name))
    } else if (entry.isSymbolicLink()) links++
    else special++
  }
  return { files, folders, parts: [], links, special }
}

/** /proc and /sys hold no content of their own, and some of their files never end. */
const PSEUDO_TYPES = new Set([0x9fa0, 0x62656572])

async function isPseudo(path: string): Promise<boolean> {
  return process.platform === 'linux' && PSEUDO_TYPES.has((await statfs(toSystem(path))).type)
}
