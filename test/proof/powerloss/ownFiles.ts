/** Notes what the process itself does to the files of a folder: the rescue of a database copies its log without SQLite. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, sep } from 'node:path'
import type { Mark, OwnChange } from './trace.ts'

const CREATE = 0x4
/** None of these hold jobs, and SQLite's VFS traces no index either. */
const OTHERS = /-(?:owner|owner\.json|ballast|new|shm)$|^trace$/

/** Replaces functions of `node:fs` for the rest of the process. Files go by their base names, as in the trace of the VFS. */
export function noteOwn(folder: string, mark: (mark: Mark) => void): void {
  const real = { ...fs }
  const note = (own: OwnChange & { readonly data?: string }) => mark({ own })
  const open = new Map<number, { readonly path: string; at: number }>()
  /** What lies in folders that are removed as a whole. */
  const nested = new Set<string>()
  const nameOf = (given: fs.PathLike): string | undefined => {
    const path = String(given)
    return path.startsWith(`${folder}${sep}`) && !OTHERS.test(basename(path)) ? basename(path) : undefined
  }
  const move = (kind: 'link' | 'rename') => (from: fs.PathLike, to: fs.PathLike) => {
    real[`${kind}Sync`](from, to)
    const [source, file] = [nameOf(from), nameOf(to)]
    if (source === undefined || file === undefined) return
    if (kind === 'rename') nested.delete(String(from))
    note({ kind, from: source, file })
  }
  Object.assign(fs, {
    openSync: (path: fs.PathLike, flags: fs.OpenMode, mode?: fs.Mode) => {
      const descriptor = real.openSync(path, flags, mode)
      const file = nameOf(path)
      if (file === undefined && path !== folder) return descriptor
      open.set(descriptor, { path: String(path), at: 0 })
      if (file === undefined || typeof flags !== 'number' || (flags & fs.constants.O_CREAT) === 0) return descriptor
      if (dirname(String(path)) !== folder) nested.add(String(path))
      note({ kind: 'open', file, flags: CREATE })
      return descriptor
    },
    closeSync: (descriptor: number) => {
      open.delete(descriptor)
      real.closeSync(descriptor)
    },
    writeSync: (descriptor: number, data: Uint8Array, from = 0, length = data.byteLength - from) => {
      const written = real.writeSync(descriptor, data, from, length)
      const target = open.get(descriptor)
      if (target === undefined) return written
      const bytes = Buffer.from(data.subarray(from, from + written)).toString('base64')
      note({ kind: 'write', file: basename(target.path), offset: target.at, data: bytes })
      target.at += written
      return written
    },
    fsyncSync: (descriptor: number) => {
      real.fsyncSync(descriptor)
      const path = open.get(descriptor)?.path
      if (path === folder) note({ kind: 'syncFolder' })
      else if (path !== undefined) note({ kind: 'sync', file: basename(path), flags: 0 })
    },
    linkSync: move('link'),
    renameSync: move('rename'),
    rmSync: (path: fs.PathLike, options?: fs.RmOptions) => {
      const gone = [String(path), ...nested]
        .filter((one) => one === path || one.startsWith(`${path}${sep}`))
        .filter((one) => fs.existsSync(one))
      const names = gone.filter((one) => fs.statSync(one).isFile()).flatMap((one) => nameOf(one) ?? [])
      real.rmSync(path, options)
      for (const file of names) note({ kind: 'delete', file, flags: 0 })
    },
  })
  syncBuiltinESMExports()
}
