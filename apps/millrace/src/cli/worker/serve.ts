/** A worker's process: serves until it is told to stop, and then lets what runs finish. */
import { hostname } from 'node:os'
import { MillraceError, type WorkOptions } from '@millrace/core'
import type { Engine, Worker } from '@millrace/engine'
import type { Handler } from '@millrace/worker'
import type { Tracing } from '../../tracing/tracing.ts'
import { now } from '../clock.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit.ts'
import { lastEvent } from '../journal.ts'
import { loggerOn } from '../output/logger.ts'
import { type HealthOptions, serveHealth } from './health.ts'
import { beginningOf } from './processes.ts'
import { recordFolder, removeRecord, writeRecord } from './records.ts'
import { tellRuns } from './runLog.ts'

export interface ServeOptions {
  readonly id: string
  readonly handlers: readonly Handler[]
  readonly work: Omit<WorkOptions, 'id'>
  /** For what runs when it is told to stop, in milliseconds; Infinity waits for as long as it takes. */
  readonly drainMs: number
  readonly log: string | null
  /** Tells of every run, and not of those alone that fail. */
  readonly verbose: boolean
  /** Begun already: it is ended with the worker. */
  readonly tracing?: Tracing | undefined
  /** Where probes may ask how it is; undefined: nowhere. */
  readonly health?: Pick<HealthOptions, 'host' | 'port'> | undefined
  /** Ends it as a signal would. */
  readonly until?: AbortSignal
}

/** Resolves when nothing of it runs any more. The first signal drains it, as its engine may; a second one ends the process. */
export async function serve(
  context: Context,
  { id, handlers, work, drainMs, log, verbose, tracing, health, until }: ServeOptions,
): Promise<void> {
  const { connect, env, out } = context
  const engine = await connect({ create: true, logger: loggerOn(out) })
  const told = Promise.withResolvers<void>()
  const worker = engine.work(tracing?.handlers(handlers) ?? handlers, { id, ...work })
  const folder = recordFolder(env)
  const target = context.target()
  const record = {
    id: worker.id,
    pid: process.pid,
    beginning: beginningOf(process.pid) ?? '',
    target: target.kind === 'url' ? target.url : target.file,
    log,
    startedAt: new Date(now()).toISOString(),
  }
  const note = (told: boolean) => writeRecord(folder, { ...record, draining: told })
  let draining = false
  const drain = (by: string) => {
    // A second signal does not wait: what runs is run again by another worker.
    if (draining) process.exit(EXIT.interrupted)
    draining = true
    note(true)
    out.note(`${by}: takes no more jobs and waits for ${worker.running} running; a second signal ends them`)
    told.resolve()
  }
  context.takeOver(drain)
  const end = () => {
    if (!draining) drain('time is up')
  }
  // It may have been up before there was an engine.
  if (until?.aborted === true) end()
  else until?.addEventListener('abort', end, { once: true })
  const forget = tellRuns(out, verbose)
  const probed = health === undefined ? undefined : await serveHealth({ ...health, engine, draining: () => draining })
  if (probed !== undefined && !out.json) out.note(`health: ${probed.url}/healthz and /readyz`)
  try {
    await Promise.race([worker.ready, told.promise])
    if (!draining) {
      note(false)
      await ready(context, worker, handlers)
    }
    await Promise.race([told.promise, worker.stopped, ended(engine)])
    await worker.stop({ timeout: drainMs })
  } finally {
    probed?.close()
    forget()
    removeRecord(folder, record)
    await tracing?.end()
  }
}

/** A token that is for work alone may not ask. */
function unlessForbidden(error: unknown): void {
  if (!(error instanceof MillraceError) || error.code !== 'FORBIDDEN') throw error
}

async function ready({ out }: Context, { id }: Worker, handlers: readonly Handler[]): Promise<void> {
  const names = handlers.map(({ definition }) => definition.name)
  await out.item(
    { event: 'ready', worker: id, pid: process.pid, host: hostname(), names },
    () => `${id} is ready: ${names.join(', ')} (process ${process.pid})`,
  )
  // Whoever has started it detached waits for this.
  if (process.send !== undefined) {
    process.send({ ready: id })
    process.disconnect()
  }
}

/** Rejects where the engine has ended for good: a token that is not known any more, a file that another engine has taken. */
async function ended(engine: Engine): Promise<void> {
  const never = new Promise<void>(() => {})
  try {
    // No job is called so: it waits for as long as there is an engine.
    const events = engine.events({ after: await lastEvent(engine), filter: { types: ['deleted'], name: 'millrace.none' } })
    for await (const _event of events);
  } catch (error) {
    unlessForbidden(error)
  }
  return never
}
