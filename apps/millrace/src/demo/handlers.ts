/** The handlers of the demo: each run waits, reports progress, logs, and fails as often as its kind says. */
import { NonRetryableError } from '@millrace/core'
import { type Context, defineJob, type Handler } from '@millrace/worker'
import { type Fault, KINDS, type Kind } from './kinds.ts'
import { between, randomOf } from './random.ts'

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

export function handlersOf(worker: string, seed: number, pause: Pause): readonly Handler[] {
  return KINDS.filter((kind) => kind.worker === worker).map((kind) =>
    defineJob<Readonly<Record<string, unknown>>>({ name: kind.name }).handler((run) => handle(kind, run, seed, pause)),
  )
}

const STEPS = 8

async function handle(kind: Kind, run: Context<Readonly<Record<string, unknown>>>, seed: number, pause: Pause): Promise<unknown> {
  const { data, job, signal, log, progress } = run
  const random = randomOf(seed, kind.name, JSON.stringify(data), job.attempt)
  const ms = Math.round(between(random, kind.runMs))
  const fault = faultOf(kind, data, random())
  log('info', `${kind.name} begins`, { attempt: job.attempt })
  // A run that fails stops somewhere on its way.
  const steps = kind.steps === true ? STEPS : 1
  for (let step = 1; step <= steps; step++) {
    await pause(ms / steps, signal)
    signal.throwIfAborted()
    if (fault !== undefined && step * 2 > steps) throw errorOf(fault, log)
    if (kind.steps === true) progress(step / steps, `step ${step} of ${steps}`)
  }
  return { ms }
}

/** Returns the error that this run ends with, if any. Jobs with `fail` in their data always fail. */
export function faultOf({ faults = [] }: Pick<Kind, 'faults'>, data: Readonly<Record<string, unknown>>, chance: number): Fault | undefined {
  if (data?.['fail'] === true) return { share: 1, name: 'Error', message: 'failed on purpose, as its data says' }
  let below = 0
  return faults.find(({ share }) => {
    below += share
    return chance < below
  })
}

function errorOf({ name, message, isFinal }: Fault, log: Context['log']): Error {
  log('error', message)
  const error = isFinal === true ? new NonRetryableError(message) : new Error(message)
  Object.defineProperty(error, 'name', { value: name })
  return error
}
