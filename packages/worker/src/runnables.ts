/** What a worker runs, by job name. */
import { type Clock, OptionRangeError, type WorkSettings } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { Batcher } from './batch/batcher.ts'
import type { BatchHandler } from './batch/handler.ts'
import type { RunContext, RunLink } from './context.ts'
import type { Handler } from './define.ts'
import type { Runnable } from './execute.ts'
import { ThreadPool } from './threads/pool.ts'

export interface WorkerRunnable extends Runnable {
  /** Tells a run that is not with a function of its own to stop. */
  abort?(context: RunContext, reason: Error): void
  /** Ends a run that does not; false where nothing can. */
  kill?(context: RunContext): boolean
}

export interface Runnables {
  readonly byName: ReadonlyMap<string, WorkerRunnable>
  readonly pools: readonly ThreadPool[]
  readonly batchers: readonly Batcher[]
}

/** @throws OptionRangeError where two handlers are of one name, or a batch could never be full: before any thread is started */
export function makeRunnables(handlers: readonly Handler[], settings: WorkSettings, link: RunLink, clock: Clock): Runnables {
  assertDistinct(handlers.map((handler) => handler.definition.name))
  for (const handler of handlers) if (handler.kind === 'batch') assertFits(handler, settings)
  const byName = new Map<string, WorkerRunnable>()
  const pools = new Map<string, ThreadPool>()
  const batchers: Batcher[] = []
  for (const handler of handlers) {
    const { name, schema, backoff } = handler.definition
    const base = { schema: schema as StandardSchemaV1 | undefined, backoff }
    if (handler.kind === 'inline') byName.set(name, { ...base, run: handler.run as unknown as (context: RunContext) => unknown })
    else if (handler.kind === 'batch') {
      const batcher = new Batcher(handler, base, link.maxDataBytes, clock)
      batchers.push(batcher)
      byName.set(name, {
        // The batcher asks both, with the error itself in hand.
        schema: undefined,
        backoff: undefined,
        settle: (context) => batcher.run(context),
        abort: (context) => void batcher.withdraw(context),
        kill: (context) => batcher.withdraw(context),
      })
    } else {
      const pool = pools.get(handler.key) ?? new ThreadPool(handler, link, clock)
      pools.set(handler.key, pool)
      byName.set(name, {
        ...base,
        settle: (context, checked) => pool.run(context, checked),
        abort: (context, reason) => pool.abort(context, reason),
        kill: (context) => {
          pool.kill(context)
          return true
        },
      })
    }
  }
  return { byName, pools: [...pools.values()], batchers }
}

/** A worker that runs `minConcurrency` is handed nothing more, so a larger batch would always wait its whole time. */
function assertFits({ definition, settings: { size } }: BatchHandler, { minConcurrency }: WorkSettings): void {
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
