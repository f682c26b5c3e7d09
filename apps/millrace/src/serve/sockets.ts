/** Opens the sockets that workers and producers attach to. */
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { type Logger, OptionRangeError, type Permit } from '@millrace/core'
import { AddressInUseError, type ListenOptions, listen, type RemoteServer, type ServerTlsOptions } from '@millrace/remote'
import type { Config } from '../config/schema/schema.ts'

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
  readonly logger: Logger
}

/** Listens at every address, or at none if one fails. */
export async function startSockets({ engine, file, urls, tls, limits, authenticate, audit, logger }: SocketParts): Promise<RemoteServer[]> {
  const servers: RemoteServer[] = []
  try {
    for (const url of urls ?? socketOf(file)) {
      const options = { ...limits, authenticate, audit, logger, ...(tls !== undefined && url.startsWith('tls:') && { tls }) }
      servers.push(await listen(engine, url, options))
    }
    return servers
  } catch (error) {
    await Promise.all(servers.map((server) => server.close()))
    if (urls === undefined && error instanceof AddressInUseError) throw secondDaemon(file, error)
    // The user has not chosen the default path, so an unusable one is no error.
    if (urls !== undefined || !(error instanceof OptionRangeError)) throw error
    logger.warn(`cannot open a socket for workers: ${error.message}, and set it as \`listen\``)
    return []
  }
}

function secondDaemon(file: string, cause: AddressInUseError): AddressInUseError {
  const message = `another daemon serves ${file}, and has its socket ${resolve(file)}-socket: stop it first. To have this one take over when it ends, give this one a socket and a port of its own: --listen unix:/path --http-port <port>`
  return new AddressInUseError(message, { cause })
}

function socketOf(file: string): readonly string[] {
  return file === ':memory:' || process.platform === 'win32' ? [] : [`unix:${resolve(file)}-socket`]
}
