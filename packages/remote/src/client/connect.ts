/** Attaches to an engine in another process. */
import { hostname } from 'node:os'
import { Engine, loggerOrDefault } from '@millrace/client'
import { errorFrom, OptionTypeError } from '@millrace/core'
import { apart, quietClock, systemClock } from '@millrace/worker'
import { type Address, formatAddress, parseAddress } from '../address.ts'
import { keepAlive, type Surroundings, SYSTEM } from '../clock.ts'
import type { SharedSecret } from '../credentials.ts'
import { ConnectFailedError } from '../errors.ts'
import { Journal } from '../journal/journal.ts'
import { Backoff } from './backoff.ts'
import { DialError, type Dialled, type DialOptions, dial } from './dial.ts'
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
 * const engine = await connect('tls://queue.example:7411', { token: process.env.WORKER_TOKEN })
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option; ConnectFailedError if no server answered in time;
 * AuthFailedError, VersionMismatchError if the server rejected this client; JournalInUseError, JournalDamagedError, NotWritableError
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Engine> {
  return apart(connectApart, url, options)
}

async function connectApart(url: string, options: ConnectOptions | undefined): Promise<Engine> {
  const settings = validateConnectOptions(options)
  const address = addressOf(url, options)
  const { maxDataBytes, codec, redact } = settings
  const logger = settings.logger ?? undefined
  const here = { clock: systemClock, quietClock, host: hostname(), pid: process.pid, local: false }
  const setup = { maxDataBytes, codec, redact, ...here, logger: loggerOrDefault(settings.logger) }
  const finder = findHere(address, settings)
  if (settings.journal === undefined) return new Engine(await openPort(finder, settings, SYSTEM), setup)
  const { clock, random } = SYSTEM
  const intake = await Journal.open({ ...settings.journal, clock, random, logger })
  try {
    return new Engine(await openPort(finder, settings, SYSTEM), { ...setup, intake })
  } catch (error) {
    await intake.close()
    throw error
  }
}

/** The address of an engine that may move, and the secret that its server shares with those who may know it. */
export interface Whereabouts {
  readonly url: string
  readonly tls?: SharedSecret
}

/** @internal Returns the Port behind the engine. A function is called for each attempt; if it rejects, the attempt has failed. */
export async function connectPort(
  where: string | (() => Promise<Whereabouts>),
  options?: ConnectOptions,
  surroundings: Surroundings = SYSTEM,
): Promise<RemotePort> {
  const settings = validateConnectOptions(options)
  if (typeof where === 'string') return openPort(findHere(addressOf(where, options), settings), settings, surroundings)
  const find = async () => {
    const { url, tls } = await where()
    return { address: parseAddress(url), token: settings.token, tls: tls ?? settings.tls }
  }
  return openPort({ find, place: "its owner's address", remedy: '' }, settings, surroundings)
}

/** Finds the engine for an attempt to connect. */
interface Finder {
  find(): Promise<Pick<DialOptions, 'address' | 'token' | 'tls'>>
  /** The name of the place in messages. */
  readonly place: string
  /** The remedy if nobody answers there. */
  readonly remedy: string
}

function findHere(address: Address, { token, tls }: ConnectSettings): Finder {
  return {
    find: async () => ({ address, token, tls }),
    place: formatAddress(address),
    remedy: ': start the server, or give a larger connectTimeout',
  }
}

async function findAndDial(finder: Finder, options: Pick<DialOptions, 'clock' | 'timeoutMs' | 'began'>): Promise<Dialled> {
  let found: Awaited<ReturnType<Finder['find']>>
  try {
    found = await finder.find()
  } catch (error) {
    throw new DialError({ code: 'CONNECTION_LOST', message: (error as Error).message, retryAfterMs: 0 })
  }
  return dial({ ...found, ...options })
}

/** Parses `url` before anything is sent. Refuses the option `tls` if the address has no TLS: the token would be sent in clear. */
function addressOf(url: string, { tls }: ConnectOptions = {}): Address {
  const address = parseAddress(url)
  if (address.kind !== 'tls' && tls !== undefined) {
    throw new OptionTypeError('tls', `the option tls is for tls:// addresses, got ${address.kind}: give a tls:// address, or no tls`)
  }
  return address
}

async function openPort(finder: Finder, settings: ConnectSettings, surroundings: Surroundings): Promise<RemotePort> {
  const { minDelayMs, maxDelayMs } = settings
  const logger = settings.logger ?? undefined
  const { clock, random } = surroundings
  const backoff = new Backoff(minDelayMs, maxDelayMs, random)
  // Between two attempts no socket keeps the process alive.
  const letGo = keepAlive()
  const first = await firstConnection(finder, settings, backoff, surroundings).finally(letGo)
  backoff.reset()
  if (first === undefined) logger?.warn('no engine has answered yet: the journal takes new jobs, and the rest waits', { url: finder.place })
  return new RemotePort({ dial: (began) => findAndDial(finder, { clock, timeoutMs: DIAL_MS, began }), backoff, clock, logger }, first)
}

async function firstConnection(
  finder: Finder,
  { connectTimeoutMs, journal }: ConnectSettings,
  backoff: Backoff,
  { clock }: Surroundings,
): Promise<Dialled | undefined> {
  const untilMono = clock.read().mono + connectTimeoutMs
  for (;;) {
    const leftMs = untilMono - clock.read().mono
    try {
      return await findAndDial(finder, { clock, timeoutMs: Math.max(1, leftMs) })
    } catch (error) {
      if (!(error instanceof DialError)) throw error
      if (isFinal(error.end)) throw errorFrom(refusalOf(error.end), { cause: error })
      // With a journal it can wait: the jobs are safe.
      if (journal !== undefined) return undefined
      const delayMs = backoff.next(error.end.retryAfterMs)
      if (clock.read().mono + delayMs >= untilMono) throw unanswered(finder, connectTimeoutMs, error)
      await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve))
    }
  }
}

function unanswered({ place, remedy }: Finder, connectTimeoutMs: number, cause: DialError): ConnectFailedError {
  return new ConnectFailedError(`no engine has answered at ${place} within ${connectTimeoutMs} ms (${cause.message})${remedy}`, { cause })
}
