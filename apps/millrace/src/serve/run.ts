/** `millrace serve`: reads the configuration, serves until a signal, and returns the exit code. */
import { isError, type Logger } from '@millrace/core'
import { ConfigError } from '../config/errors.ts'
import { type LoadedConfig, loadConfig, type Sources } from '../config/load.ts'
import { tokenFileOf } from '../control/firstToken.ts'
import { EXIT, EXIT_OF_SIGNAL, exitCodeOf } from '../exit.ts'
import type { EndSignal, Host, SignalListener } from '../host.ts'
import { createLogger } from '../log/logger.ts'
import { visible } from '../visible.ts'
import { type Daemon, serve } from './serve.ts'

/**
 * Runs the daemon, and resolves to the exit code when it has ended. The first signal also ends a start that waits, such as for the owner of
 * the file. A second signal ends the process at once. Logs go to stdout. Messages
 * that people see once go to stderr: the first token, and why nothing is served.
 *
 * @param hear takes the function that is called with each signal from then on
 */
export async function runDaemon(
  given: Omit<Sources, 'env'>,
  host: Pick<Host, 'env' | 'stdout' | 'stderr' | 'exit'>,
  listen: (listener: SignalListener) => void,
): Promise<number> {
  const { env, stdout, stderr } = host
  const sources = { ...given, env }
  // The daemon continues if the reader of its logs goes away.
  for (const stream of [stdout, stderr]) stream.on('error', () => {})
  const signalled = firstSignal(host, listen)
  const starting = new AbortController()
  const interrupted = signalled.then((signal) => starting.abort(signal)).then(() => starting.signal.throwIfAborted() as never)
  interrupted.catch(() => {})
  let served = false
  try {
    const loaded = await Promise.race([loadConfig(sources), interrupted])
    const logger = createLogger(loaded.config.log, stdout)
    const daemon = await serve(loaded.config, { logger, cwd: sources.cwd, env: sources.env, dashboard, signal: starting.signal })
    served = true
    if (daemon.firstToken !== undefined) stderr.write(welcome(daemon, loaded.config.file))
    summarize(daemon, loaded, logger)
    const reason = await Promise.race([signalled, daemon.ending])
    if (isError(reason)) logger.error('the engine failed: the daemon stops', { error: reason.message })
    else logger.info('draining', { reason: reason ?? 'stopped by an admin', timeoutMs: loaded.config.shutdown.timeout })
    await daemon.close()
    logger.info('closed')
    return isError(reason) ? EXIT.failure : EXIT.ok
  } catch (error) {
    // The start has ended because of the signal: nothing was served, and everything that was open is closed.
    if (!served && starting.signal.aborted) return EXIT.ok
    stderr.write(`${explain(error).split('\n').map(visible).join('\n')}\n`)
    return exitCodeOf(error)
  }
}

async function dashboard() {
  const { dashboardFiles } = await import('@millrace/dashboard')
  return dashboardFiles()
}

/** Returns the first signal as a promise, because it may arrive while the daemon is busy starting. The second ends the process at once. */
function firstSignal(host: Pick<Host, 'exit'>, listen: (listener: SignalListener) => void): Promise<EndSignal> {
  const { promise, resolve } = Promise.withResolvers<EndSignal>()
  let before = false
  listen((signal) => {
    if (before) host.exit(EXIT_OF_SIGNAL[signal])
    before = true
    resolve(signal)
  })
  return promise
}

function summarize({ url, dashboard, sockets }: Daemon, { config, origins }: LoadedConfig, logger: Logger): void {
  const { file, postgres, schema, durability, queues, schedules, exec, worker } = config
  const files = new Set([...origins.values()].flatMap(({ layer, name }) => (layer === 'file' || layer === 'local file' ? [name] : [])))
  logger.info('serving', {
    ...(postgres === undefined ? { file } : { schema }),
    durability,
    ...(url !== undefined && { url }),
    ...(dashboard !== undefined && { dashboard }),
    ...(url !== undefined && { docs: `${url}/docs` }),
    sockets,
    ...(postgres === undefined && file !== ':memory:' && { enqueue: `millrace enqueue <name> '<json>' --file ${file}` }),
    configuration: [...files],
    queues: Object.keys(queues).length,
    schedules: Object.keys(schedules).length,
    ...(worker.handlers.length > 0 && { concurrency: worker.concurrency }),
    ...(Object.keys(exec).length > 0 && { execConcurrency: worker.execConcurrency }),
  })
}

function welcome({ firstToken, dashboard }: Daemon, file: string): string {
  const where = file === ':memory:' ? '' : `Saved to ${tokenFileOf(file)} (readable only by your user).\n`
  const page = dashboard === undefined ? '' : `Log in with it at ${dashboard}\n`
  return `Created an admin token. It is shown only once:\n\n  ${firstToken}\n\n${where}${page}`
}

/** Returns a line for each problem, in the form of all commands; an unexpected error has its stack. */
export function explain(error: unknown): string {
  if (!isError(error)) return `millrace: ${String(error)}`
  const { code } = error as { readonly code?: unknown }
  if (code === undefined) return `millrace: ${error.stack ?? error.message}`
  const problems = error instanceof ConfigError ? error.problems : [error.message]
  return problems.map((problem) => `millrace: ${problem} (${String(code)})`).join('\n')
}
