/** `millrace worker`: starts and stops processes that run jobs on this machine. */
import { resolve } from 'node:path'
import { DrainIncompleteError, durationOption, integerOption, validateWorkOptions, type WorkOptions } from '@millrace/core'
import type { Handler } from '@millrace/worker'
import type { Command } from 'commander'
import type { Config } from '../../config/schema/schema.ts'
import { defined } from '../../defined.ts'
import { handlersOfModule } from '../../serve/handlers.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import { newKey } from '../clock.ts'
import type { Context } from '../context.ts'
import { NotFoundError, UsageError } from '../errors.ts'
import { defaultCommand } from '../groups.ts'
import { loggerOn } from '../output/logger.ts'
import { argumentsOf, secretsOf, TARGET_VARIABLES } from '../target.ts'
import { duration, names, number, texts } from '../values.ts'
import { startDetached } from '../worker/detach.ts'
import { fileNameOf, liveRecords, recordFolder, refuseAlive, type WorkerRecord } from '../worker/records.ts'
import { serve } from '../worker/serve.ts'
import { type StopLimits, type StopResult, stopWorker } from '../worker/stop.ts'

interface StartFlags {
  readonly concurrency?: number
  readonly handlers?: readonly string[]
  readonly config?: string
  readonly queues?: readonly string[]
  readonly id?: string
  readonly drainTimeout: number
  readonly detach?: boolean
  readonly logFile?: string
  readonly verbose?: boolean
  readonly otel?: boolean
  readonly healthPort?: number
  readonly healthHost: string
}

interface StopFlags {
  readonly all?: boolean
  readonly timeout: number
  readonly wait: boolean
}

/** The default time before running jobs are ended. */
const STOP_MS = 30_000

export function addWorker(program: Command, context: Context): void {
  const worker = program.command('worker').description('Start and stop worker processes on this machine')
  defaultCommand(worker, 'start')
    .description('Run jobs until a signal: the first finishes running jobs, a second ends them')
    .option('-c, --concurrency <number>', 'how many jobs run at the same time; default 16', number)
    .option('--handlers <module>', 'module that exports handlers (defineJob); repeat for more', texts)
    .option('--config <file>', 'run the commands (exec), webhooks and handlers of this configuration')
    .option('--queues <names>', 'only these queues: mail,images', names)
    .option('--id <name>', 'name that others see; default random')
    .option(
      '--drain-timeout <duration>',
      'how long running jobs may finish before they are aborted and given back; default no limit',
      duration,
      Number.POSITIVE_INFINITY,
    )
    .option('--detach', 'run in the background, as a process that outlives this terminal')
    .option('--log-file <path>', 'with --detach: the log file')
    .option('--verbose', 'print every run, not only failed ones')
    .option('--health-port <number>', 'serve /healthz and /readyz at this port; 0 for a free one', number)
    .option('--health-host <address>', 'address of --health-port; default 127.0.0.1', '127.0.0.1')
    .option('--otel', 'send a span of each run to an OpenTelemetry collector')
    .action((flags: StartFlags) => start(context, flags))
  worker
    .command('stop')
    .description('Stop workers of this machine after their running jobs')
    .argument('[id|pid...]')
    .option('--all', 'all workers of this machine')
    .option('--timeout <duration>', 'how long running jobs may finish; default 30s', duration, STOP_MS)
    .option('--no-wait', 'do not wait for them')
    .action((wanted: readonly string[], flags: StopFlags) => stop(context, wanted, flags))
}

async function start(context: Context, flags: StartFlags): Promise<void> {
  const { concurrency, handlers: modules = [], config, queues, drainTimeout, detach = false, logFile, verbose = false } = flags
  const id = flags.id ?? `worker-${newKey().slice(0, 8)}`
  if (modules.length === 0 && config === undefined)
    throw new UsageError(
      'nothing to run: name a module that exports handlers with --handlers, or a configuration with commands or webhooks with --config',
    )
  if (logFile !== undefined && !detach) throw new UsageError('--log-file requires --detach: without it, the worker prints to this terminal')
  const drainMs = durationOption('drainTimeout', drainTimeout, { infinity: true })
  const port = flags.healthPort === undefined ? undefined : integerOption('healthPort', flags.healthPort, 0, 65_535)
  validateWorkOptions(defined<WorkOptions>({ id, concurrency, queues }))
  // The settings are loaded here, so that problems are reported here and not in a log.
  const settings = await settingsOf(flags, context.env)
  // A detached worker starts its own tracing.
  const tracing = detach ? undefined : await tracingOf(settings, context)
  const configured = settings === undefined || config === undefined ? [] : await handlersIn(settings, config, tracing)
  const named = await Promise.all(modules.map((module) => handlersOfModule(module, process.cwd(), refused)))
  const handlers = [...named.flat(), ...configured]
  if (detach) return startElsewhere(context, { ...flags, id, drainTimeout: drainMs })
  const { MILLRACE_WORKER_LOG: log = null } = context.env
  // The commands of the configuration were checked against its `abortGrace`.
  const abortGrace = config === undefined ? undefined : settings?.worker.abortGrace
  const work = defined<WorkOptions>({ concurrency, queues, abortGrace })
  const health = port === undefined ? undefined : { host: flags.healthHost, port }
  await serve(context, { id, handlers, work, drainMs, log, verbose, tracing, health })
}

const refused = (what: string, options?: ErrorOptions) => new UsageError(`--handlers ${what}`, options)

/**
 * Returns the settings that `millrace serve` would have with --config, including every variable. Without it, returns those of tracing,
 * from variables and the flag, or undefined if neither sets any. The code is loaded only when needed.
 */
async function settingsOf({ config, otel }: StartFlags, env: NodeJS.ProcessEnv): Promise<Config | undefined> {
  const isPassedOn = (name: string) => (config === undefined ? name.startsWith('MILLRACE_OTEL_') : !TARGET_VARIABLES.has(name))
  const variables = Object.entries(env).filter(([name]) => isPassedOn(name))
  if (config === undefined && otel === undefined && variables.length === 0) return undefined
  const { loadConfig } = await import('../../config/load.ts')
  const flags = { 'otel.enabled': otel }
  const loaded = await loadConfig({ cwd: process.cwd(), configFile: config ?? null, env: Object.fromEntries(variables), flags })
  return loaded.config
}

async function tracingOf(settings: Config | undefined, { env, out }: Context): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined
  const { startTracing } = await import('../../tracing/tracing.ts')
  return startTracing(settings.otel, env, loggerOn(out))
}

async function handlersIn(config: Config, configFile: string, tracing: Tracing | undefined): Promise<readonly Handler[]> {
  const { handlersOf } = await import('../../serve/assemble.ts')
  const handlers = await handlersOf(config, process.cwd(), tracing?.headers)
  if (handlers.length > 0) return handlers
  throw new UsageError(
    `--config: ${configFile} has no commands (exec), no webhooks.enabled and no worker.handlers: there is nothing to run`,
  )
}

/** @param flags with the id and the milliseconds that were checked */
async function startElsewhere({ env, out, signal, target }: Context, flags: StartFlags & { readonly id: string }): Promise<void> {
  const { id, concurrency, handlers = [], config, queues, drainTimeout, verbose, otel, logFile } = flags
  refuseAlive(liveRecords(recordFolder(env)).find((record) => record.id === id))
  const log = resolve(logFile ?? `${recordFolder(env)}/${fileNameOf(id)}.log`)
  const at = target()
  const args = [
    ...['worker', 'start', '--id', id, ...argumentsOf(at)],
    ...handlers.flatMap((module) => ['--handlers', resolve(module)]),
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    ...(concurrency === undefined ? [] : ['--concurrency', String(concurrency)]),
    ...(queues === undefined ? [] : ['--queues', queues.join(',')]),
    ...(Number.isFinite(drainTimeout) ? ['--drain-timeout', `${drainTimeout}ms`] : []),
    ...(verbose === true ? ['--verbose'] : []),
    ...(otel === true ? ['--otel'] : []),
    ...(flags.healthPort === undefined ? [] : ['--health-port', String(flags.healthPort), '--health-host', flags.healthHost]),
    ...(out.json ? ['--json'] : []),
  ]
  const pid = await startDetached({ args, log, env: { ...env, ...secretsOf(at), MILLRACE_WORKER_LOG: log }, signal })
  await out.answer({ id, pid, log }, () => `${id} runs as process ${pid}; its log is ${log}`)
}

async function stop(context: Context, wanted: readonly string[], { all = false, timeout, wait }: StopFlags): Promise<void> {
  if (all === wanted.length > 0) throw new UsageError('give the ids or process numbers of workers, or --all')
  const timeoutMs = durationOption('timeout', timeout, { infinity: true })
  const records = liveRecords(recordFolder(context.env))
  const chosen = all ? records : wanted.map((name) => recordOf(records, name))
  const limits: StopLimits = wait ? { timeoutMs, late: 'end' } : { timeoutMs: 0, late: 'leave' }
  const busy = await tellStopped(
    context,
    chosen.map((record) => stopWorker(record, limits, context)),
  )
  if (wait) assertGone(busy)
  if (chosen.length === 0 && !context.out.json) context.out.note('no worker of millrace worker start runs on this machine')
}

/**
 * Reports each result in the order in which the workers were named, while they stop in parallel. Returns the ids of those that are not
 * gone. Rejects with the first error, after all others are reported.
 */
export async function tellStopped({ out }: Context, stopping: readonly Promise<StopResult>[]): Promise<readonly string[]> {
  const busy: string[] = []
  const errors: unknown[] = []
  // One may fail while an earlier one is awaited.
  for (const each of stopping) each.catch(() => {})
  for (const each of stopping) {
    try {
      const result = await each
      if (result.result === 'draining') busy.push(result.id)
      await out.item(result, () => `${result.id} (process ${result.pid}) ${result.result}`)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return busy
}

export function assertGone(busy: readonly string[]): void {
  if (busy.length === 0) return
  throw new DrainIncompleteError(
    `${busy.join(', ')} still runs jobs and continues to drain: wait longer with --timeout, or end it with worker stop`,
  )
}

function recordOf(records: readonly WorkerRecord[], name: string): WorkerRecord {
  const found = records.find(({ id, pid }) => id === name || String(pid) === name)
  if (found !== undefined) return found
  throw new NotFoundError(
    `no worker ${name} of millrace worker start runs on this machine: millrace workers list shows all attached workers, and millrace workers stop stops them`,
  )
}
