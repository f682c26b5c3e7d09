/** The handlers of a worker, by job name. */
import { type Clock, OptionRangeError, type WorkSettings } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { Batcher } from './batch/batcher.ts'
import type { BatchHandler } from './batch/handler.ts'
import type { RunContext, RunLink } from './context.ts'
import type { Handler } from './define.ts'
import type { Ending, Runnable } from './execute.ts'
import { type Middleware, withMiddleware } from './middleware.ts'
import { Pool } from './pools/pool.ts'

export interface WorkerRunnable extends Runnable {
  /** Stops a run that is executed elsewhere: in a pool, or with others. */
  abort?(context: RunContext, reason: Error): void
  /** Gives back a run that is executed elsewhere, at its next durable call. */
  leave?(context: RunContext): void
  /** Tells the place that a message has come for the run. */
  messaged?(context: RunContext): void
  /** Ends a run that ignores its abort; returns false if nothing can. */
  kill?(context: RunContext): boolean
}

/** A handler, and the middleware that its engine puts around it. */
type Served = Handler & { readonly middleware?: readonly Middleware[] }

export interface Runnables {
  readonly byName: ReadonlyMap<string, WorkerRunnable>
  readonly pools: readonly Pool[]
  /** While held, jobs that no handler has yet are given back, and so are those that come. */
  hold(isHeld: boolean): void
}

const UNENDING: Ending = { schema: undefined, backoff: undefined }

/** @throws OptionRangeError if two handlers have the same name, or a batch could never be full: before any thread is started */
export function makeRunnables(handlers: readonly Served[], settings: WorkSettings, link: RunLink, clock: Clock): Runnables {
  assertDistinct(handlers.map((handler) => handler.definition.name))
  for (const handler of handlers) if (handler.kind === 'batch') assertFits(handler, settings)
  const byName = new Map<string, WorkerRunnable>()
  const pools = new Map<string, Pool>()
  const batchers: Batcher[] = []
  for (const handler of handlers) {
    const { definition, middleware = [] } = handler
    const { name, schema, backoff } = definition
    const base = { schema: schema as StandardSchemaV1 | undefined, backoff }
    const serve = (runnable: WorkerRunnable, ending: Ending) =>
      byName.set(name, middleware.length === 0 ? runnable : withMiddleware(runnable, middleware, ending, link.maxDataBytes))
    if (handler.kind === 'inline') serve({ ...base, run: handler.run as unknown as (context: RunContext) => unknown }, base)
    else if (handler.kind === 'batch') {
      const batcher = new Batcher(handler, base, link.maxDataBytes, clock)
      batchers.push(batcher)
      const runnable: WorkerRunnable = {
        // The batcher uses both, since it has the error itself.
        ...UNENDING,
        settle: (context) => batcher.run(context),
        abort: (context) => void batcher.withdraw(context),
        kill: (context) => batcher.withdraw(context),
      }
      serve(runnable, base)
    } else {
      const pool = pools.get(handler.key) ?? new Pool(handler, link, clock)
      pools.set(handler.key, pool)
      const runnable: WorkerRunnable = {
        ...base,
        settle: (context, checked) => pool.run(context, checked),
        abort: (context, reason) => pool.abort(context, reason),
        leave: (context) => pool.leave(context),
        messaged: (context) => pool.messaged(context),
        kill: (context) => {
          pool.kill(context)
          return true
        },
      }
      // Its backoff is asked once the thread has ended.
      serve(runnable, UNENDING)
    }
  }
  const holders = [...pools.values(), ...batchers]
  return {
    byName,
    pools: [...pools.values()],
    hold: (isHeld) => {
      for (const holder of holders) holder.hold(isHeld)
    },
  }
}

/**
 * Checks the size of a batch. A worker that runs `minConcurrency` jobs gets no more, so a larger batch would always wait
 * its whole time.
 */
export function assertFits({ definition, settings: { size } }: BatchHandler, { minConcurrency }: WorkSettings): void {
  if (size <= minConcurrency) return
  throw new OptionRangeError(
    'batch.size',
    minConcurrency,
    `batch.size of job '${definition.name}' (${size}) must be at most the worker's minConcurrency (${minConcurrency}): raise concurrency or lower the size`,
  )
}

/** @throws OptionRangeError */
export function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new OptionRangeError('handlers', 1, `two handlers for job '${twice}': a worker takes one per name`)
}
