/** Lets other processes attach to an engine. */
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { OptionTypeError } from '@millrace/core'
import { apart } from '@millrace/worker'
import { type Address, isLoopback, parseAddress } from '../address.ts'
import { type Surroundings, SYSTEM } from '../clock.ts'
import { SECRET_NAME, SECRET_TLS } from '../credentials.ts'
import { InsecureBindError } from '../errors.ts'
import { certificateOf } from './certificate.ts'
import { type ListenOptions, type ListenSettings, validateListenOptions } from './options.ts'
import { RemoteServer, type Shareable } from './server.ts'

/**
 * Serves the engine at `unix:/run/app.sock`, `pipe:name` (Windows), `tcp://127.0.0.1:7411` (port 0 chooses one) or `tls://host:port`.
 * An address that other machines can reach requires TLS and a token, or TLS by a secret that clients know.
 *
 * @example
 * ```ts
 * const server = await listen(engine, 'unix:/run/app/queue.sock')
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option; AddressInUseError; InsecureBindError; NotWritableError if the
 * socket cannot be created
 */
export async function listen(
  engine: Shareable,
  url: string,
  options?: ListenOptions,
  /** @internal */
  { clock }: Surroundings = SYSTEM,
): Promise<RemoteServer> {
  const address = parseAddress(url)
  const settings = validateListenOptions(options)
  checkSafe(address, settings)
  return apart(async () => {
    const server = new RemoteServer(engine, netServerOf(settings), settings, clock)
    await server.bind(address)
    return server
  })
}

function checkSafe(address: Address, { tls, tokens, authenticate }: ListenSettings): void {
  if (address.kind === 'tls' && tls === undefined) {
    throw new OptionTypeError('tls', 'tls:// requires the option tls with the key and the certificate of the server, or with a secret')
  }
  if (address.kind !== 'tls' && tls !== undefined)
    throw new OptionTypeError('tls', `the option tls is for tls:// addresses, got ${address.kind}:`)
  if (!('host' in address) || isLoopback(address.host)) return
  const missing = [
    ...(address.kind === 'tls' ? [] : ['TLS (tls:// and the option tls)']),
    ...(tokens.length > 0 || authenticate !== undefined || (tls !== undefined && 'secret' in tls) ? [] : ['a token']),
  ]
  if (missing.length > 0) {
    throw new InsecureBindError(
      `others can reach ${address.host}: that requires ${missing.join(' and ')}. Or listen at 127.0.0.1 or on a Unix socket`,
    )
  }
}

function netServerOf({ tls, helloTimeoutMs }: ListenSettings) {
  if (tls === undefined) return createServer({ noDelay: true })
  if ('secret' in tls) {
    return createTlsServer({
      ...SECRET_TLS,
      pskCallback: (_socket, name) => (name === SECRET_NAME ? tls.secret : null),
      handshakeTimeout: helloTimeoutMs,
      noDelay: true,
    })
  }
  const { requestCert = false } = tls
  return createTlsServer({
    ...certificateOf(tls),
    requestCert,
    rejectUnauthorized: requestCert,
    handshakeTimeout: helloTimeoutMs,
    noDelay: true,
  })
}
