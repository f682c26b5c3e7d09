/** What a worker runs, by job name. */
import { type Clock, OptionRangeError } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { RunContext } from './context.ts'
import type { Handler } from './define.ts'
import type { Runnable } from './execute.ts'
import { type ThreadLink, ThreadPool } from './threads/pool.ts'

export interface WorkerRunnable extends Runnable {
  /** Tells a run in another thread to stop. */
  abort?(context: RunContext, reason: Error): void
  /** Ends a run that does not. */
  kill?(context: RunContext): void
}

export interface Runnables {
  readonly byName: ReadonlyMap<string, WorkerRunnable>
  readonly pools: readonly ThreadPool[]
}

/** @throws OptionRangeError where two handlers are of one name: before any thread is started */
export function makeRunnables(handlers: readonly Handler[], link: ThreadLink, clock: Clock): Runnables {
  assertDistinct(handlers.map((handler) => handler.definition.name))
  const byName = new Map<string, WorkerRunnable>()
  const pools = new Map<string, ThreadPool>()
  for (const handler of handlers) {
    const { name, schema, backoff } = handler.definition
    const base = { schema: schema as StandardSchemaV1 | undefined, backoff }
    if (handler.kind === 'inline') byName.set(name, { ...base, run: handler.run as unknown as (context: RunContext) => unknown })
    else {
      const pool = pools.get(handler.key) ?? new ThreadPool(handler, link, clock)
      pools.set(handler.key, pool)
      byName.set(name, {
        ...base,
        settle: (context, checked) => pool.run(context, checked),
        abort: (context, reason) => pool.abort(context, reason),
        kill: (context) => pool.kill(context),
      })
    }
  }
  return { byName, pools: [...pools.values()] }
}

function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new OptionRangeError('handlers', 1, `two handlers for job '${twice}': a worker has one per name`)
}
