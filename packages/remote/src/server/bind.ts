/**
 * Binds a server to an address. A Unix socket lies in a folder that is created for its owner alone, and only its owner can use it.
 * A socket that a dead server has left behind is removed, and nothing else ever is.
 */
import { chmodSync, linkSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { createConnection, type ListenOptions, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { NotWritableError } from '@millrace/core'
import { type Address, formatAddress } from '../address.ts'
import { AddressInUseError } from '../errors.ts'

export interface Bound {
  /** The address that clients connect to, with the chosen port if the requested one was 0. */
  readonly address: Address
  /** Removes the file of a Unix socket, unless another server has taken the place. Call it before the server is closed. */
  remove(): void
}

/** Binds the server to the address. @throws AddressInUseError; NotWritableError if the socket cannot be created */
export async function bind(server: Server, address: Address): Promise<Bound> {
  if (address.kind === 'unix') {
    await makeWay(address.path)
    return { address, remove: await bindUnix(server, address) }
  }
  await listening(server, 'path' in address ? { path: address.path } : { host: address.host, port: address.port }, address)
  const bound = server.address()
  const chosen = 'port' in address && typeof bound === 'object' && bound !== null ? { ...address, port: bound.port } : address
  return { address: chosen, remove: () => {} }
}

/**
 * A socket has the mode of the umask until it gets its own. So it is created in a private folder, and gets its name once its mode is
 * right: by a link, which never replaces another file.
 */
async function bindUnix(server: Server, address: Address & { readonly kind: 'unix' | 'pipe' }): Promise<() => void> {
  const { path } = address
  const folder = privateFolder(path)
  const made = join(folder, 's')
  try {
    await listening(server, { path: made }, address)
    chmodSync(made, 0o600)
    giveName(made, path)
  } catch (error) {
    if (server.listening) await new Promise((resolve) => server.close(resolve))
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : reasonOf(error as NodeJS.ErrnoException, address)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const own = identityOf(path)?.key
  return () => {
    if (identityOf(path)?.key === own) rmSync(path, { force: true })
  }
}

function privateFolder(path: string): string {
  try {
    // Mode 0700, whatever the umask. The name is short, because the path of the socket in it has a limit.
    return mkdtempSync(`${dirname(path)}/.`)
  } catch (cause) {
    throw new NotWritableError(`${path} cannot be made: ${(cause as Error).message}`, {}, { cause })
  }
}

/** The errors of file systems without hard links: there it is renamed, because the name was free a moment ago. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

function giveName(made: string, path: string): void {
  try {
    linkSync(made, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!NO_LINKS.has(code) || identityOf(path) !== undefined) throw error
    renameSync(made, path)
  }
}

async function listening(server: Server, where: ListenOptions, address: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(reasonOf(error, address))
    server.once('error', failed)
    server.listen(where, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

async function makeWay(path: string): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new NotWritableError(`the folder of ${path} cannot be made: ${(cause as Error).message}`, {}, { cause })
  }
  const found = identityOf(path)
  if (found === undefined) return
  if (!found.socket) throw new AddressInUseError(`${path} is no socket: it was left alone. Choose another path`)
  if (!(await isDeserted(path))) throw inUse({ kind: 'unix', path })
  // Another server may have found the same, and have taken the path by now.
  if (identityOf(path)?.key === found.key) unlinkSync(path)
}

function identityOf(path: string): { key: string; socket: boolean } | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  // File systems reuse the number of a deleted file for the next one.
  return stats && { key: `${stats.dev}:${stats.ino}:${stats.ctimeNs}`, socket: stats.isSocket() }
}

/** True if no server listens there any more. In doubt it is false. */
function isDeserted(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' || error.code === 'ENOENT'))
  })
}

function reasonOf(error: NodeJS.ErrnoException, address: Address): Error {
  if (error.code === 'EADDRINUSE' || error.code === 'EEXIST') return inUse(address, error)
  return new NotWritableError(`${formatAddress(address)} cannot be listened at: ${error.message}`, {}, { cause: error })
}

function inUse(address: Address, cause?: Error): AddressInUseError {
  return new AddressInUseError(
    `another server listens at ${formatAddress(address)}: connect to that one, stop it first, or choose another address`,
    { cause },
  )
}
