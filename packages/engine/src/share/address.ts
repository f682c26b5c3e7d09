/** Where the processes that share a file meet: a socket beside it, in a folder that is its owner's alone. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { NotWritableError } from '@millrace/core'

/** What every system takes as the path of a Unix socket. */
const PATH_BYTES = 100

/** The same for every path that leads to the file; its folder must exist. A path that is too long moves to the runtime folder. */
export function shareUrl(file: string): string {
  const real = join(realpathSync(dirname(file)), basename(file))
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 24)
  if (process.platform === 'win32') return `pipe:millrace-${hash}`
  const beside = join(`${real}-share`, 'socket')
  return `unix:${Buffer.byteLength(beside) <= PATH_BYTES ? beside : join(runtimeFolder(), hash)}`
}

/** `$XDG_RUNTIME_DIR/millrace`, or a folder of this user's own among the temporary files: of anybody else's nothing is trusted. */
function runtimeFolder(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env
  const user = process.getuid?.() ?? 0
  const folder = runtime === undefined || runtime === '' ? join(tmpdir(), `millrace-${user}`) : join(runtime, 'millrace')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid === user && (mode & 0o077) === 0) return folder
  throw new NotWritableError(
    `${folder} is not this user's alone: remove it, set XDG_RUNTIME_DIR, or keep the file at a path of less than ${PATH_BYTES} bytes`,
  )
}
