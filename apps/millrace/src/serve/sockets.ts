/** Opens the sockets that workers and producers attach to. */
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { isErrorOf, type Logger, type Permit } from '@millrace/core'
import { type ListenOptions, listen, type RemoteServer, type ServerTlsOptions } from '@millrace/remote'
import type { Config } from '../config/schema/schema.ts'
import { every } from './clock.ts'

export interface SocketParts {
  readonly engine: Engine
  readonly file: string
  /** The addresses to listen at. If undefined, a Unix socket beside the file. */
  readonly urls: readonly string[] | undefined
  readonly tls: ServerTlsOptions | undefined
  readonly authenticate: (token: string) => Permit | undefined
  /** The limits of each address. */
  readonly limits: Config['sockets']
  readonly audit: NonNullable<ListenOptions['audit']>
  readonly assertAuditable: NonNullable<ListenOptions['assertAuditable']>
  readonly logger: Logger
}

export interface Sockets {
  /** The servers that listen now. */
  readonly servers: readonly RemoteServer[]
  close(): Promise<void>
}

/** The interval at which a daemon looks whether the socket beside its file is free by now. */
const LOOK_MS = 2_000

/** Listens at every address, or at none if one fails. The socket beside the file may be another daemon's: it is taken when that one ends. */
export async function startSockets({
  engine,
  file,
  urls,
  tls,
  limits,
  authenticate,
  audit,
  assertAuditable,
  logger,
}: SocketParts): Promise<Sockets> {
  const servers: RemoteServer[] = []
  let stopLooking = () => {}
  const sockets: Sockets = {
    servers,
    close: async () => {
      stopLooking()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
  const open = async (url: string) => {
    const options = { ...limits, authenticate, audit, assertAuditable, logger, ...(tls !== undefined && url.startsWith('tls:') && { tls }) }
    servers.push(await listen(engine, url, options))
  }
  try {
    for (const url of urls ?? socketOf(file)) await open(url)
  } catch (error) {
    await sockets.close()
    // The user has not chosen the default path, so an unusable one is no error.
    if (urls !== undefined) throw error
    if (isTaken(error)) {
      logger.warn(`${error.message}. Until that one ends, this daemon has no socket for workers, unless \`listen\` names one`)
      stopLooking = every(LOOK_MS, async () => {
        if (await openIfFree(open, socketOf(file)[0] as string, logger)) stopLooking()
      })
    } else if (isErrorOf(error, 'OptionRangeError')) {
      logger.warn(`cannot open a socket for workers: ${error.message}, and set it as \`listen\``)
    } else throw error
  }
  return sockets
}

function isTaken(error: unknown): error is Error {
  return (error as { readonly code?: unknown }).code === 'ADDRESS_IN_USE'
}

/** Returns true once the socket is open. */
async function openIfFree(open: (url: string) => Promise<void>, url: string, logger: Logger): Promise<boolean> {
  try {
    await open(url)
    logger.info(`listens at ${url}, which another daemon had`)
    return true
  } catch (error) {
    if (!isTaken(error)) logger.error(`cannot listen at ${url}`, { error: (error as Error).message })
    return false
  }
}

function socketOf(file: string): readonly string[] {
  return file === ':memory:' || process.platform === 'win32' ? [] : [`unix:${resolve(file)}-socket`]
}
