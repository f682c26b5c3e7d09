/** Opens the sockets that workers and producers attach to. */
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { isErrorOf, type Logger, type Permit } from '@millrace/core'
import { type ListenOptions, listen, type RemoteServer, type ServerTlsOptions } from '@millrace/remote'
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
    // The user has not chosen the default path, so an unusable one is no error.
    if (urls !== undefined || !isErrorOf(error, 'OptionRangeError')) throw error
    logger.warn(`cannot open a socket for workers: ${error.message}, and set it as \`listen\``)
    return []
  }
}

function socketOf(file: string): readonly string[] {
  return file === ':memory:' || process.platform === 'win32' ? [] : [`unix:${resolve(file)}-socket`]
}
