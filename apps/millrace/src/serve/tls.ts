/** Reads the keys and certificates of the configuration from their files, and again when the files change. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { type Logger, withoutMark } from '@millrace/core'
import type { ServerTlsOptions } from '@millrace/remote'
import { ConfigError } from '../config/errors.ts'
import type { Config } from '../config/schema/schema.ts'

export interface TlsTexts extends ServerTlsOptions {
  readonly key: string
  readonly cert: string
  readonly ca?: string
}

/** Returns undefined if none is configured. @throws ConfigError */
export function readTls({ key, cert, ca, requestCert }: Config['tls'], cwd: string): TlsTexts | undefined {
  if (key === undefined && cert === undefined && ca === undefined && !requestCert) return undefined
  if (key === undefined || cert === undefined) throw new ConfigError(["TLS requires 'tls.key' and 'tls.cert': set both"])
  if (requestCert && ca === undefined)
    throw new ConfigError([
      "'tls.requestCert' requires 'tls.ca', the authority that signs client certificates: set it, or remove requestCert",
    ])
  const read = (name: string, path: string) => {
    try {
      return withoutMark(readFileSync(resolve(cwd, path), 'utf8'))
    } catch (cause) {
      throw new ConfigError([`'tls.${name}' cannot be read: ${(cause as Error).message}`], { cause })
    }
  }
  return { key: read('key', key), cert: read('cert', cert), requestCert, ...(ca !== undefined && { ca: read('ca', ca) }) }
}

/**
 * Returns a function that looks at the files, and calls `use` with what they hold if they have changed. Files that cannot be read, or do
 * not fit, are logged once: they may be half replaced, and are tried again at each look.
 */
export function tlsRenewal(settings: Config['tls'], cwd: string, use: (tls: TlsTexts) => void, logger: Logger): () => void {
  const paths = [settings.key, settings.cert, settings.ca].flatMap((path) => (path === undefined ? [] : [resolve(cwd, path)]))
  const stamp = () => paths.map(stampOf).join()
  let used = stamp()
  let logged = used
  return () => {
    const now = stamp()
    if (now === used) return
    try {
      const tls = readTls(settings, cwd) as TlsTexts
      createSecureContext(tls)
      use(tls)
      used = now
      logger.info('the TLS certificate was read again', { cert: settings.cert })
    } catch (error) {
      if (logged !== now) logger.error('the TLS certificate has changed, and cannot be used', { error: (error as Error).message })
      logged = now
    }
  }
}

/** A link to a file of the same content, as Kubernetes replaces it, is another file. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}`
}
