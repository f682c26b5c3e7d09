/** A worker between fake calls and a manual clock, with a function that gives it jobs. */
import { type Grant, LIMITS, type Logger, type StopOptions, validateWorkOptions, type WorkOptions } from '@millrace/core'
import type { Handler } from '../define.ts'
import { WorkerSession } from '../worker.ts'
import { FakeCalls } from './fakeCalls.ts'
import { ManualClock } from './manualClock.ts'

export interface Workbench {
  readonly worker: WorkerSession
  readonly calls: FakeCalls
  readonly clock: ManualClock
  /** Workers that have reported that they stopped. */
  readonly stopped: WorkerSession[]
  /** The worker's log: level and message. */
  readonly logged: string[]
  /** Gives the worker a job, as the engine would: seq 1, run 1, unless changed. */
  grant(change?: Partial<Grant>): Grant
}

export function workbench(handlers: Handler | readonly Handler[], options?: WorkOptions): Workbench {
  const calls = new FakeCalls()
  const clock = new ManualClock()
  const stopped: WorkerSession[] = []
  const logged: string[] = []
  const log = (level: string) => (message: string) => void logged.push(`${level}: ${message}`)
  const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const list: readonly Handler[] = Array.isArray(handlers) ? handlers : [handlers as Handler]
  const worker = new WorkerSession({
    calls,
    handlers: list,
    settings: validateWorkOptions(options),
    host: 'host',
    pid: 1,
    local: true,
    maxDataBytes: LIMITS.dataBytes,
    clock,
    logger,
  })
  void worker.stopped.then(() => stopped.push(worker))
  const name = list[0]?.definition.name ?? 'a'
  const grant = (change: Partial<Grant> = {}): Grant => {
    const whole = grantOf({ session: worker.session, name, ...change })
    worker.take(whole)
    return whole
  }
  return { worker, calls, clock, stopped, logged, grant }
}

/** Stops the worker, and advances the clock past the grace of handlers that ignore their abort. */
export async function stop({ worker, clock }: Pick<Workbench, 'worker' | 'clock'>, options?: StopOptions): Promise<void> {
  let done = false
  const stopping = worker.stop(options).finally(() => {
    done = true
  })
  for (let minute = 0; minute < 10 && !done; minute++) await clock.advance(60_000)
  await stopping
}

export function grantOf(change: Partial<Grant> = {}): Grant {
  return {
    session: 'session',
    seq: 1,
    node: 1,
    enqueuedAt: Date.UTC(2030, 0, 1),
    name: 'a',
    queue: 'default',
    run: 1,
    attempt: 1,
    maxAttempts: 4,
    priority: 0,
    weight: 1,
    runAt: Date.UTC(2030, 0, 1),
    timeout: 300_000,
    heartbeatTimeout: 120_000,
    data: null,
    checkpoint: null,
    tags: undefined,
    meta: undefined,
    ...change,
  }
}
