/** The daemon: an engine with everything around it, in one process. It handles no signals and ends no process: `run` does. */
import { timingSafeEqual } from 'node:crypto'
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { type EngineOptions, type Logger, type OpenOptions, type OpenPostgresOptions, SCOPES } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import type { DashboardOptions } from '@millrace/http'
import type { Worker } from '@millrace/worker'
import type { Environment } from '../config/environment.ts'
import type { Config } from '../config/schema/schema.ts'
import { Control } from '../control/control.ts'
import { firstToken } from '../control/firstToken.ts'
import { SYSTEM } from '../control/surroundings.ts'
import { digestOf, type Holder } from '../control/tokens.ts'
import { defined } from '../defined.ts'
import { startTracing } from '../tracing/tracing.ts'
import { apply } from './apply.ts'
import { assemble } from './assemble.ts'
import { after, every, shared } from './clock.ts'
import { filesOf, forBrowser, type LoadFiles } from './dashboard.ts'
import { type HttpServer, startHttp } from './http.ts'
import { type Notifier, notifier } from './notify.ts'
import { pulseOf } from './pulse.ts'
import { placesOf } from './socketPlaces.ts'
import { type SocketParts, type Sockets, startSockets } from './sockets.ts'
import { readTls, type TlsTexts, tlsRenewal } from './tls.ts'
import { startWorkers } from './workers.ts'

export interface ServeOptions {
  readonly logger: Logger
  /** The base folder of relative paths in the configuration. */
  readonly cwd: string
  /** Variables of systemd, which say how to notify it, and of OpenTelemetry, which configure it. */
  readonly env?: Environment
  /** Loads the files of the dashboard, which HTTP serves beside the API. Called only if the configuration enables it. */
  readonly dashboard?: LoadFiles
  /** Set to ask nobody for a token, and to offer jobs to enqueue on the dashboard: for a demo that only this machine reaches. */
  readonly open?: Pick<DashboardOptions, 'samples'>
  /** Ends a start when it aborts. A daemon that has started ignores it. */
  readonly signal?: AbortSignal
}

export interface Daemon {
  /** The URL of HTTP; undefined if it is off. */
  readonly url: string | undefined
  /** The address of the dashboard, for a browser on this machine; undefined if it is not served. */
  readonly dashboard: string | undefined
  /** The URLs that workers attach to. */
  readonly sockets: readonly string[]
  /** The admin token that the first run has created. It appears nowhere else but in its file. */
  readonly firstToken: string | undefined
  readonly engine: Engine
  readonly control: Control
  /** Resolves when the daemon should end: to undefined if an admin stops it, or to the error if the engine has failed. */
  readonly ending: Promise<unknown>
  /**
   * Stops taking work, lets its own workers finish running jobs for `shutdown.timeout`, then aborts them, and closes everything. Remote
   * workers continue, and attach to the next daemon.
   */
  close(): Promise<void>
}

/** The interval at which the daemon checks whether tokens have changed elsewhere. */
const LOOK_MS = 1_000
/** The interval at which the files of the TLS certificate are looked at. */
const TLS_LOOK_MS = 10_000
/** The maximum interval at which the daemon checks that the engine answers. */
const BEAT_MS = 5_000
/** The time that one step of an aborted start may still take. An open that does not wait for an owner ends in it, and is closed. */
const STEP_MS = 1_000

/** @throws ConfigError, the errors of `openEngine` and `listen`, and the reason of an aborted `signal`. Nothing is left open then. */
export async function serve(config: Config, options: ServeOptions): Promise<Daemon> {
  const closers: (() => unknown)[] = []
  // The error of the start matters more than an error while closing.
  const close = () => closeAll(closers).catch(() => {})
  const starting = start(config, options, closers)
  try {
    return await untilAborted(starting, options.signal)
  } catch (error) {
    await close()
    // The step that was left adds its closer when it ends.
    starting.catch(close)
    throw error
  }
}

/** Rejects when the signal has aborted, and the step under way has ended or taken too long. */
function untilAborted<T>(starting: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => after(STEP_MS, () => reject(signal?.reason))
  if (signal?.aborted === true) leave()
  else signal?.addEventListener('abort', leave, { once: true })
  return Promise.race([starting, promise]).finally(() => signal?.removeEventListener('abort', leave))
}

/** Starts the parts in order. Each part adds its closer, and the last closer is called first. */
async function start(config: Config, options: ServeOptions, closers: (() => unknown)[]): Promise<Daemon> {
  const { logger, cwd, env = {}, dashboard: load, open, signal } = options
  const file = config.file === ':memory:' ? config.file : resolve(cwd, config.file)
  const tls = readTls(config.tls, cwd)
  const notify = notifier(env, logger)
  const { promise: ending, resolve: end } = Promise.withResolvers<unknown>()
  let ready = false

  // Loaded while the engine opens.
  const files = filesOf(config.http, load, logger)
  // Ended last, so that closing the other parts is traced, too.
  const tracing = await startTracing(config.otel, env, logger)
  closers.push(() => tracing.end())
  const engine = await openEngine(openOptions(config, file, logger))
  const leftMs = shared(config.shutdown.timeout)
  closers.push(() => engine.stop({ timeout: leftMs() }))
  signal?.throwIfAborted()
  // Started first and ended last: systemd expects signs of life from a draining daemon, too.
  closers.push(beat(engine, config.postgres === undefined ? file : undefined, notify, end))
  const control = new Control(file, SYSTEM)
  closers.push(() => control.close())
  const authenticate = authenticator(control, config.token)

  let sockets: Pick<Sockets, 'servers'> = { servers: [] }
  const assembled = await assemble({
    ...{ engine, control, config, logger, cwd, tracing },
    authenticate: open === undefined ? authenticate : undefined,
    ready: () => ready,
    stop: () => end(undefined),
    sockets: () => placesOf(sockets.servers.map((server) => server.url)),
    dashboard: await files,
    samples: open?.samples,
  })
  // After `assemble`, which registers the known jobs: schedules are checked against them.
  await apply(engine, config, control, logger)

  sockets = await listen({ engine, file, urls: config.listen, tls, limits: config.sockets, authenticate, logger }, control, closers)

  const http = config.http.enabled ? await startHttp({ options: config.http, tls, logger, ...assembled }) : undefined
  closers.push(() => http?.close())
  if (tls !== undefined) closers.push(renewTls(options, config, [...sockets.servers, ...(http === undefined ? [] : [http])]))

  const workers: Worker[] = []
  closers.push(() => Promise.all(workers.map((worker) => worker.stop({ timeout: leftMs() }))))
  signal?.throwIfAborted()
  await startWorkers(engine, assembled.workers, config.worker, workers)
  await assembled.start()
  closers.push(() => assembled.close())
  signal?.throwIfAborted()
  // Last, because the token is shown once: a daemon that fails to start must not have created it. Until then nobody is let in.
  const made = config.token === undefined && open === undefined ? firstToken(control, file) : undefined
  ready = true
  await notify.say('READY=1', `STATUS=serving ${config.postgres === undefined ? file : `schema ${config.schema}`}`)

  let closing: Promise<void> | undefined
  return {
    url: http?.url,
    dashboard: http !== undefined && (await files) !== undefined ? forBrowser(http.url) : undefined,
    sockets: sockets.servers.map((server) => server.url),
    firstToken: made,
    engine,
    control,
    ending,
    close: () => {
      ready = false
      closing ??= notify.say('STOPPING=1').then(() => closeAll(closers))
      return closing
    },
  }
}

/** Checks now and then that the engine answers, and notifies systemd. Calls `end` if it does not. Returns what ends the checks. */
function beat(engine: Engine, file: string | undefined, notify: Notifier, end: (dead: unknown) => void): () => void {
  const pulse = pulseOf(engine, file)
  const beatMs = Math.min(BEAT_MS, (notify.watchdogMs ?? Number.POSITIVE_INFINITY) / 2)
  return every(beatMs, async () => {
    const dead = await pulse()
    if (dead !== undefined) end(dead)
    else if (notify.watchdogMs !== undefined) await notify.say('WATCHDOG=1')
  })
}

/** Starts the sockets. They check their connections again when tokens change. */
async function listen(
  options: Omit<SocketParts, 'audit' | 'assertAuditable'>,
  control: Control,
  closers: (() => unknown)[],
): Promise<Sockets> {
  const sockets = await startSockets({
    ...options,
    audit: (calls) => control.auditNow(calls.map((call) => ({ ...call, via: 'socket' }))),
    assertAuditable: () => control.assertAuditable(),
  })
  closers.push(() => sockets.close())
  const forget = control.onChange(() => {
    for (const server of sockets.servers) server.recheck()
  })
  closers.push(forget, watchControl(control, options.logger))
  return sockets
}

/** Gives servers the TLS certificate again when its files change. Returns what ends that. */
function renewTls(
  { cwd, logger }: ServeOptions,
  { tls }: Config,
  servers: readonly (HttpServer | Sockets['servers'][number])[],
): () => void {
  const served = servers.filter(({ url }) => /^(?:tls|https):/.test(url))
  const use = (next: TlsTexts) => {
    for (const server of served) server.useCertificate(next)
  }
  return every(TLS_LOOK_MS, tlsRenewal(tls, cwd, use, logger))
}

/** Checks now and then whether tokens have changed elsewhere. Returns what ends the checks. */
function watchControl(control: Control, logger: Logger): () => void {
  let logged: string | undefined
  return every(LOOK_MS, () => {
    try {
      control.look()
    } catch (error) {
      const { message } = error as Error
      // If the file was taken away, it stays so.
      if (message !== logged) logger.error('cannot use the control database', { error: message })
      logged = message
    }
  })
}

/** Calls all closers, the last one first, even if one fails. @throws the first error */
async function closeAll(closers: (() => unknown)[]): Promise<void> {
  const errors: unknown[] = []
  for (const close of closers.splice(0).toReversed()) {
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

function openOptions(config: Config, file: string, logger: Logger): OpenOptions | OpenPostgresOptions {
  const { postgres, schema, role, ownerAddress, transport } = config
  const common = engineOptions(config, logger)
  if (postgres === undefined) return { ...common, ...fileOptions(config, file) }
  return { ...common, postgres, schema, role, transport, ...(ownerAddress !== undefined && { listen: ownerAddress }) }
}

function engineOptions(
  { durability, recovery, waitForOwner, readers, autoMigrate, maxQueues, maxDataBytes, retention, defaults }: Config,
  logger: Logger,
): EngineOptions {
  return {
    durability,
    recovery,
    waitForOwner,
    readers,
    autoMigrate,
    maxQueues,
    maxDataBytes,
    retention: defined<NonNullable<OpenOptions['retention']>>(retention),
    defaults: defined<NonNullable<OpenOptions['defaults']>>(defaults),
    logger,
  }
}

function fileOptions({ share, cache, secureDelete, unsafeFilesystem, fileAccess }: Config, file: string): OpenOptions {
  return {
    file,
    share: share && file !== ':memory:',
    cache,
    secureDelete,
    unsafeFilesystem,
    ...(fileAccess !== undefined && { fileAccess }),
  }
}

/** Returns a function that accepts the tokens of the control database, and that of the configuration. */
function authenticator(control: Control, token: string | undefined): (token: string) => Holder | undefined {
  if (token === undefined) return (given) => control.authenticate(given)
  const digest = digestOf(token)
  return (given) => (timingSafeEqual(digestOf(given), digest) ? { name: 'config', scopes: SCOPES } : control.authenticate(given))
}
