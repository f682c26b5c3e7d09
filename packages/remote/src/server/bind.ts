/**
 * Takes an address for a server. A Unix socket lies in a folder that was made for its owner alone, and is its owner's alone; one
 * that a dead server has left behind is removed, and nothing else ever is.
 */
import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs'
import { createConnection, type Server } from 'node:net'
import { dirname } from 'node:path'
import { NotWritableError } from '@millrace/core'
import { type Address, formatAddress } from '../address.ts'
import { AddressInUseError } from '../errors.ts'

/** Resolves with the address that clients connect to: of port 0, the one that was chosen. */
export async function bind(server: Server, address: Address): Promise<Address> {
  if (address.kind === 'unix') await makeWay(address.path)
  const where = 'path' in address ? { path: address.path } : { host: address.host, port: address.port }
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(reasonOf(error, address))
    server.once('error', failed)
    server.listen(where, () => {
      server.off('error', failed)
      resolve()
    })
  })
  if (address.kind === 'unix') await closeToOthers(server, address.path)
  const bound = server.address()
  return 'port' in address && typeof bound === 'object' && bound !== null ? { ...address, port: bound.port } : address
}

/** Nobody is listened to through a socket that others may use. */
async function closeToOthers(server: Server, path: string): Promise<void> {
  try {
    chmodSync(path, 0o600)
  } catch (cause) {
    // Which removes its file.
    await new Promise((resolve) => server.close(resolve))
    throw new NotWritableError(`${path} cannot be made its owner's alone: ${(cause as Error).message}`, {}, { cause })
  }
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
  // Another server may have come to the same end, and be there by now.
  if (identityOf(path)?.key === found.key) unlinkSync(path)
}

function identityOf(path: string): { key: string; socket: boolean } | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  // File systems give the number of a file that is gone to the next one.
  return stats && { key: `${stats.dev}:${stats.ino}:${stats.ctimeNs}`, socket: stats.isSocket() }
}

/** Whether nobody listens there any more. In doubt somebody does. */
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
  if (error.code === 'EADDRINUSE') return inUse(address, error)
  return new NotWritableError(`${formatAddress(address)} cannot be listened at: ${error.message}`, {}, { cause: error })
}

function inUse(address: Address, cause?: Error): AddressInUseError {
  return new AddressInUseError(
    `another server listens at ${formatAddress(address)}: connect to that one, stop it first, or choose another address`,
    { cause },
  )
}
