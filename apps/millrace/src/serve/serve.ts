/** The daemon: an engine with all that is around it, in one process. It hears no signals and ends no process: `run` does. */
import { timingSafeEqual } from 'node:crypto'
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import { type Logger, type OpenOptions, SCOPES } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import type { Worker } from '@millrace/worker'
import type { Environment } from '../config/environment.ts'
import type { Config } from '../config/schema/schema.ts'
import { Control } from '../control/control.ts'
import { firstToken } from '../control/firstToken.ts'
import { SYSTEM } from '../control/surroundings.ts'
import { digestOf, type Holder } from '../control/tokens.ts'
import { startTracing } from '../tracing/tracing.ts'
import { apply, given } from './apply.ts'
import { assemble } from './assemble.ts'
import { every, shared } from './clock.ts'
import { startHttp } from './http.ts'
import { notifier } from './notify.ts'
import { pulseOf } from './pulse.ts'
import { startSockets } from './sockets.ts'
import { readTls } from './tls.ts'
import { startWorkers } from './workers.ts'

export interface ServeOptions {
  readonly logger: Logger
  /** Relative paths of the configuration are from here. */
  readonly cwd: string
  /** Of systemd: how it is told; of OpenTelemetry: what it is told. */
  readonly env?: Environment
}

export interface Daemon {
  /** Of HTTP; undefined where it is off. */
  readonly url: string | undefined
  /** Where workers attach. */
  readonly sockets: readonly string[]
  /** The admin token that the first run has made: told nowhere else but in its file. */
  readonly firstToken: string | undefined
  readonly engine: Engine
  readonly control: Control
  /** Resolves when the daemon should end: an admin has said so (undefined), or the engine has failed. */
  readonly ending: Promise<unknown>
  /**
   * Takes no more work, lets its own worker finish what runs for `shutdown.timeout`, then aborts it, and closes everything. Remote workers
   * go on, and attach to the next daemon.
   */
  close(): Promise<void>
}

/** How often it is looked whether tokens have changed elsewhere. */
const LOOK_MS = 1_000
/** How often the engine is asked whether it is there. */
const BEAT_MS = 5_000

/** @throws ConfigError; what `openEngine` and `listen` throw. Nothing is left open then. */
export async function serve(config: Config, options: ServeOptions): Promise<Daemon> {
  const closers: (() => unknown)[] = []
  try {
    return await start(config, options, closers)
  } catch (error) {
    // Why it cannot be served matters more than how that ends.
    await closeAll(closers).catch(() => {})
    throw error
  }
}

/** Each part that was started is closed by the last of the closers first. */
async function start(config: Config, { logger, cwd, env = {} }: ServeOptions, closers: (() => unknown)[]): Promise<Daemon> {
  const file = config.file === ':memory:' ? config.file : resolve(cwd, config.file)
  const tls = readTls(config.tls, cwd)
  const notify = notifier(env, logger)
  const { promise: ending, resolve: end } = Promise.withResolvers<unknown>()
  let ready = false

  // Ended last: what ends is traced, too.
  const tracing = await startTracing(config.otel, env, logger)
  closers.push(() => tracing.end())
  const engine = await openEngine(openOptions(config, file, logger))
  const leftMs = shared(config.shutdown.timeout)
  closers.push(() => engine.stop({ timeout: leftMs() }))
  // First begun and last ended: systemd wants to hear of a daemon that drains, too.
  const pulse = pulseOf(engine, file)
  const beatMs = Math.min(BEAT_MS, (notify.watchdogMs ?? Number.POSITIVE_INFINITY) / 2)
  closers.push(
    every(beatMs, async () => {
      const dead = await pulse()
      if (dead !== undefined) end(dead)
      else if (notify.watchdogMs !== undefined) await notify.say('WATCHDOG=1')
    }),
  )
  const control = new Control(file, SYSTEM)
  closers.push(() => control.close())
  const authenticate = authenticator(control, config.token)

  const assembled = await assemble({
    engine,
    control,
    config,
    logger,
    cwd,
    tracing,
    authenticate,
    ready: () => ready,
    stop: () => end(undefined),
  })
  // Behind what says which jobs are known: schedules are held against that.
  await apply(engine, config)

  const sockets = await startSockets({
    engine,
    file,
    urls: config.listen,
    tls,
    limits: config.sockets,
    authenticate,
    audit: (calls) => control.auditNow(calls.map((call) => ({ ...call, via: 'socket' }))),
    logger,
  })
  closers.push(() => Promise.all(sockets.map((server) => server.close())))
  const forget = control.onChange(() => {
    for (const server of sockets) server.recheck()
  })
  const look = () => {
    try {
      control.look()
    } catch (error) {
      logger.error('cannot read the control database', { error: (error as Error).message })
    }
  }
  closers.push(forget, every(LOOK_MS, look))

  const http = config.http.enabled ? await startHttp({ options: config.http, tls, logger, ...assembled }) : undefined
  closers.push(() => http?.close())

  const workers: Worker[] = []
  closers.push(() => Promise.all(workers.map((worker) => worker.stop({ timeout: leftMs() }))))
  await startWorkers(engine, assembled.workers, config.worker, workers)
  await assembled.start()
  closers.push(() => assembled.close())
  // Last: it is told once, and a daemon that cannot be served has told nothing. Until then nobody is let in.
  const made = config.token === undefined ? firstToken(control, file) : undefined
  ready = true
  await notify.say('READY=1', `STATUS=serving ${file}`)

  let closing: Promise<void> | undefined
  return {
    url: http?.url,
    sockets: sockets.map((server) => server.url),
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

/** All of them, the last first, whatever becomes of one. @throws the first error */
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

function openOptions(config: Config, file: string, logger: Logger): OpenOptions {
  const { durability, recovery, share, waitForOwner, readers, cache, maxQueues, maxDataBytes, secureDelete, unsafeFilesystem, retention } =
    config
  const { fileAccess, defaults } = config
  return {
    file,
    durability,
    recovery,
    share: share && file !== ':memory:',
    waitForOwner,
    readers,
    cache,
    maxQueues,
    maxDataBytes,
    secureDelete,
    unsafeFilesystem,
    ...(fileAccess !== undefined && { fileAccess }),
    retention: given(retention) as NonNullable<OpenOptions['retention']>,
    defaults: given(defaults) as NonNullable<OpenOptions['defaults']>,
    logger,
  }
}

/** Tokens of the control database, and that of the configuration. */
function authenticator(control: Control, token: string | undefined): (token: string) => Holder | undefined {
  if (token === undefined) return (given) => control.authenticate(given)
  const digest = digestOf(token)
  return (given) => (timingSafeEqual(digestOf(given), digest) ? { name: 'config', scopes: SCOPES } : control.authenticate(given))
}
