/** Attaches to an engine in another process. */
import { hostname } from 'node:os'
import { Engine, loggerOrDefault } from '@millrace/client'
import { errorFrom, OptionTypeError } from '@millrace/core'
import { quietClock, systemClock } from '@millrace/worker'
import { type Address, formatAddress, parseAddress } from '../address.ts'
import { keepAlive, type Surroundings, SYSTEM } from '../clock.ts'
import { ConnectFailedError } from '../errors.ts'
import { Journal } from '../journal/journal.ts'
import { Backoff } from './backoff.ts'
import { DialError, type Dialled, dial } from './dial.ts'
import { type ConnectOptions, type ConnectSettings, validateConnectOptions } from './options.ts'
import { isFinal, RemotePort, refusalOf } from './remotePort.ts'

/** The timeout of one attempt to reconnect; attempts of `connect` have what is left of `connectTimeout`. */
const DIAL_MS = 10_000

/**
 * Returns the engine that listens at `url`, as if it were in this process. Resolves once the server has welcomed this client.
 * From then on it reconnects automatically, and workers keep their running jobs for as long as their leases last. With a
 * `journal` it also resolves without a server, and keeps trying.
 *
 * @example
 * ```ts
 * await using engine = await connect('tls://queue.example:7411', { token: process.env.WORKER_TOKEN })
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option; ConnectFailedError if no server answered in time;
 * AuthFailedError, VersionMismatchError if the server rejected this client; JournalInUseError, JournalDamagedError, NotWritableError
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Engine> {
  const settings = validateConnectOptions(options)
  const address = addressOf(url, options)
  const { maxDataBytes, codec, redact } = settings
  const logger = settings.logger ?? undefined
  const here = { clock: systemClock, quietClock, host: hostname(), pid: process.pid, local: false }
  const setup = { maxDataBytes, codec, redact, ...here, logger: loggerOrDefault(settings.logger) }
  if (settings.journal === undefined) return new Engine(await openPort(address, settings, SYSTEM), setup)
  const { clock, random } = SYSTEM
  const intake = await Journal.open({ ...settings.journal, clock, random, logger })
  try {
    return new Engine(await openPort(address, settings, SYSTEM), { ...setup, intake })
  } catch (error) {
    await intake.close()
    throw error
  }
}

/** @internal Returns the Port behind the engine. */
export async function connectPort(url: string, options?: ConnectOptions, surroundings: Surroundings = SYSTEM): Promise<RemotePort> {
  const settings = validateConnectOptions(options)
  return openPort(addressOf(url, options), settings, surroundings)
}

/** Parses `url` before anything is sent. Refuses the option `tls` if the address has no TLS: the token would be sent in clear. */
function addressOf(url: string, { tls }: ConnectOptions = {}): Address {
  const address = parseAddress(url)
  if (address.kind !== 'tls' && tls !== undefined) {
    throw new OptionTypeError('tls', `the option tls is for tls:// addresses, got ${address.kind}: give a tls:// address, or no tls`)
  }
  return address
}

async function openPort(address: Address, settings: ConnectSettings, surroundings: Surroundings): Promise<RemotePort> {
  const { token, tls, minDelayMs, maxDelayMs } = settings
  const logger = settings.logger ?? undefined
  const { clock, random } = surroundings
  const backoff = new Backoff(minDelayMs, maxDelayMs, random)
  // Between two attempts no socket keeps the process alive.
  const letGo = keepAlive()
  const first = await firstConnection(address, settings, backoff, surroundings).finally(letGo)
  backoff.reset()
  if (first === undefined)
    logger?.warn('no engine has answered yet: the journal takes new jobs, and the rest waits', { url: formatAddress(address) })
  return new RemotePort({ dial: (began) => dial({ address, token, tls, clock, timeoutMs: DIAL_MS, began }), backoff, clock, logger }, first)
}

async function firstConnection(
  address: Address,
  { token, tls, connectTimeoutMs, journal }: ConnectSettings,
  backoff: Backoff,
  { clock }: Surroundings,
): Promise<Dialled | undefined> {
  const untilMono = clock.read().mono + connectTimeoutMs
  for (;;) {
    const leftMs = untilMono - clock.read().mono
    try {
      return await dial({ address, token, tls, clock, timeoutMs: Math.max(1, leftMs) })
    } catch (error) {
      if (!(error instanceof DialError)) throw error
      if (isFinal(error.end)) throw errorFrom(refusalOf(error.end), { cause: error })
      // With a journal it can wait: the jobs are safe.
      if (journal !== undefined) return undefined
      const delayMs = backoff.next(error.end.retryAfterMs)
      if (clock.read().mono + delayMs >= untilMono) throw unanswered(address, connectTimeoutMs, error)
      await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve))
    }
  }
}

function unanswered(address: Address, connectTimeoutMs: number, cause: DialError): ConnectFailedError {
  return new ConnectFailedError(
    `no engine has answered at ${formatAddress(address)} within ${connectTimeoutMs} ms (${cause.message}): start the server, or give a larger connectTimeout`,
    { cause },
  )
}
