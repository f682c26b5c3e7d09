/** A worker's process: runs jobs until it is stopped, and then lets running jobs finish. */
import { hostname } from 'node:os'
import { isErrorOf, type WorkOptions } from '@millrace/core'
import type { Engine, Worker } from '@millrace/engine'
import type { Handler } from '@millrace/worker'
import { EXIT } from '../../exit.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import { now } from '../clock.ts'
import type { Context } from '../context.ts'
import { loggerOn } from '../output/logger.ts'
import { targetName } from '../target.ts'
import { type HealthOptions, serveHealth } from './health.ts'
import { beginningOf } from './processes.ts'
import { claimRecord, recordFolder, removeRecord, writeRecord } from './records.ts'
import { tellRuns } from './runLog.ts'

export interface ServeOptions {
  readonly id: string
  readonly handlers: readonly Handler[]
  readonly work: Omit<WorkOptions, 'id'>
  /** The time for running jobs after a stop, in milliseconds; Infinity sets no limit. */
  readonly drainMs: number
  readonly log: string | null
  /** True to print every run, and not only those that fail. */
  readonly verbose: boolean
  /** Tracing that has already started. It ends with the worker. */
  readonly tracing?: Tracing | undefined
  /** The address at which probes ask for its health; undefined for none. */
  readonly health?: Pick<HealthOptions, 'host' | 'port'> | undefined
  /** Drains the worker when it aborts, as a signal would. */
  readonly until?: AbortSignal
}

/** Runs a worker, and resolves when all of it has stopped. A first signal or its engine drains it; a second signal ends the process. */
export async function serve(
  context: Context,
  { id, handlers, work, drainMs, log, verbose, tracing, health, until }: ServeOptions,
): Promise<void> {
  const { connect, env, out } = context
  const logger = loggerOn(out)
  const engine = await connect({ create: true, logger })
  const stopRequested = Promise.withResolvers<void>()
  const folder = recordFolder(env)
  const record = {
    id,
    pid: process.pid,
    beginning: beginningOf(process.pid) ?? '',
    target: targetName(context.target()),
    log,
    startedAt: new Date(now()).toISOString(),
  }
  // A signal that has come while the engine was opened ends the start here.
  context.takeOver((by) => drain(by))
  claimRecord(folder, { ...record, draining: false })
  const worker = engine.work(tracing?.handlers(handlers) ?? handlers, { id, ...work })
  const note = (draining: boolean) => writeRecord(folder, { ...record, draining })
  let draining = false
  const drain = (by: string) => {
    // A second signal does not wait: another worker runs the unfinished jobs again.
    if (draining) context.host.exit(EXIT.interrupted)
    draining = true
    note(true)
    out.note(`${by}: the worker takes no more jobs and waits for ${worker.running} running; a second signal ends them`)
    stopRequested.resolve()
  }
  const end = () => {
    if (!draining) drain('time is up')
  }
  // The time may have been up before there was an engine.
  if (until?.aborted === true) end()
  else until?.addEventListener('abort', end, { once: true })
  const forget = tellRuns(out, verbose)
  const probed = health === undefined ? undefined : await serveHealth({ ...health, engine, draining: () => draining, logger })
  if (probed !== undefined && !out.json) out.note(`health: ${probed.url}/healthz and /readyz`)
  try {
    await Promise.race([worker.ready, stopRequested.promise])
    if (!draining) await ready(context, worker, handlers)
    await Promise.race([stopRequested.promise, worker.stopped, ended(engine)])
    await worker.stop({ timeout: drainMs })
  } finally {
    probed?.close()
    forget()
    removeRecord(folder, record)
    await tracing?.end()
  }
}

/** Rethrows all errors but FORBIDDEN: a token that only allows work may not ask. */
function unlessForbidden(error: unknown): void {
  if (!isErrorOf(error, 'MillraceError') || error.code !== 'FORBIDDEN') throw error
}

async function ready({ out, host }: Context, { id }: Worker, handlers: readonly Handler[]): Promise<void> {
  const names = handlers.map(({ definition }) => definition.name)
  await out.item(
    { event: 'ready', worker: id, pid: process.pid, host: hostname(), names },
    () => `${id} is ready: ${names.join(', ')} (process ${process.pid})`,
  )
  // The process that has started this one detached waits for the message.
  if (host.send !== undefined) {
    host.send({ ready: id })
    host.disconnect()
  }
}

/** Rejects if the engine has ended permanently: its token is no longer known, or another engine has taken the file. */
async function ended(engine: Engine): Promise<void> {
  const never = new Promise<void>(() => {})
  try {
    // No job has this name, so the stream waits for as long as there is an engine.
    const events = engine.events({ after: 'now', filter: { types: ['deleted'], name: 'millrace.none' } })
    for await (const _event of events);
  } catch (error) {
    unlessForbidden(error)
  }
  return never
}
