/** Reads the keys and certificates of the configuration from their files. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { withoutMark } from '@millrace/core'
import type { ServerTlsOptions } from '@millrace/remote'
import { ConfigError } from '../config/errors.ts'
import type { Config } from '../config/schema/schema.ts'

export interface TlsTexts extends ServerTlsOptions {
  readonly key: string
  readonly cert: string
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
