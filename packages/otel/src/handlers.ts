/** All that a worker runs, each run in a span. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Handler, RunEnded, RunStarted } from '@millrace/worker'
import { diag, type Span } from '@opentelemetry/api'
import { ended, isTraced, startRun, traceRun } from './runs.ts'

export interface TracedHandlers {
  readonly handlers: readonly Handler[]
  /** No more spans of what is not on this thread alone; of runs that go on there is none then. */
  end(): void
}

/**
 * Handlers as `engine.work` takes them. One of a function has its span active while it runs; of batches and of modules on threads a span
 * lasts from the hand-out to what the engine has committed, and is nobody's context. A function of `traceRun` stays as it is.
 */
export function traceHandlers(handlers: readonly Handler[]): TracedHandlers {
  const elsewhere = new Set(handlers.filter(({ kind }) => kind !== 'inline').map(({ definition }) => definition.name))
  const spans = new Map<string, Span>()
  const begin = harmless((message) => {
    const run = message as RunStarted
    if (elsewhere.has(run.name)) spans.set(keyOf(run), startRun({ ...run, id: run.jobId }).span)
  })
  const finish = harmless((message) => {
    const run = message as RunEnded
    const span = spans.get(keyOf(run))
    if (span === undefined) return
    spans.delete(keyOf(run))
    if (run.outcome !== 'completed') span.setAttribute('millrace.outcome', run.outcome)
    if (run.error === undefined) span.end()
    else ended(span, Object.assign(new Error(run.error.message), { name: run.error.name, stack: run.error.stack }))
  })
  if (elsewhere.size > 0) {
    subscribe('millrace:started', begin)
    subscribe('millrace:ended', finish)
  }
  return {
    handlers: handlers.map((handler) =>
      handler.kind !== 'inline' || isTraced(handler.run) ? handler : { ...handler, run: traceRun(handler.run) },
    ),
    end: () => {
      unsubscribe('millrace:started', begin)
      unsubscribe('millrace:ended', finish)
      spans.clear()
    },
  }
}

/** What a subscriber of a channel throws ends the process: tracing that does not work is no reason for that. */
function harmless(subscriber: (message: unknown) => void): (message: unknown) => void {
  return (message) => {
    try {
      subscriber(message)
    } catch (error) {
      diag.error('@millrace/otel: a run has no span', error)
    }
  }
}

/** Of a run there is one anywhere. */
function keyOf({ jobId, run }: RunStarted): string {
  return `${jobId} ${run}`
}
