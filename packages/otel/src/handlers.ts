/** Traces all that a worker runs, each run in a span. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Handler, RunEnded, RunStarted } from '@millrace/worker'
import { diag, type Span } from '@opentelemetry/api'
import { ended, isTraced, startRun, traceRun } from './runs.ts'

/** Handlers whose runs are traced. */
export interface TracedHandlers {
  readonly handlers: readonly Handler[]
  /**
   * Ends the tracing of handlers that do not run on this thread alone. For each job name it ends once all that trace that name
   * have ended; runs that continue then have no span. Until then they are traced by their name, whichever worker of the process
   * runs them.
   */
  end(): void
}

/**
 * Returns handlers for `engine.work`. A handler that is a function has its span active while it runs. For batches and for modules
 * on threads, a span lasts from the hand-out to the engine's commit, and is never the active context. A function of `traceRun`
 * stays as it is.
 */
export function traceHandlers(handlers: readonly Handler[]): TracedHandlers {
  const elsewhere = new Set(handlers.filter(({ kind }) => kind !== 'inline').map(({ definition }) => definition.name))
  for (const name of elsewhere) follow(name)
  let over = false
  return {
    handlers: handlers.map((handler) =>
      handler.kind !== 'inline' || isTraced(handler.run) ? handler : { ...handler, run: traceRun(handler.run) },
    ),
    end: () => {
      if (over) return
      over = true
      for (const name of elsewhere) leave(name)
    },
  }
}

/** A job that runs elsewhere: the number of times that its handlers are traced, and the spans of its runs in progress. */
interface Followed {
  uses: number
  readonly spans: Map<string, Span>
}

// The channels are the process's, and report all of its workers: two listeners to one run would make two spans of it.
const followed = new Map<string, Followed>()

function follow(name: string): void {
  const job = followed.get(name)
  if (job !== undefined) job.uses++
  else {
    if (followed.size === 0) {
      subscribe('millrace:started', begin)
      subscribe('millrace:ended', finish)
    }
    followed.set(name, { uses: 1, spans: new Map() })
  }
}

function leave(name: string): void {
  const job = followed.get(name)
  if (job === undefined || --job.uses > 0) return
  followed.delete(name)
  if (followed.size > 0) return
  unsubscribe('millrace:started', begin)
  unsubscribe('millrace:ended', finish)
}

const begin = harmless((message) => {
  const run = message as RunStarted
  followed.get(run.name)?.spans.set(keyOf(run), startRun({ ...run, id: run.jobId }).span)
})

const finish = harmless((message) => {
  const run = message as RunEnded
  const spans = followed.get(run.name)?.spans
  const span = spans?.get(keyOf(run))
  if (span === undefined) return
  spans?.delete(keyOf(run))
  if (run.outcome !== 'completed') span.setAttribute('millrace.outcome', run.outcome)
  if (run.error === undefined) span.end()
  else ended(span, Object.assign(new Error(run.error.message), { name: run.error.name, stack: run.error.stack }))
})

/** Catches errors: an error from a channel's subscriber ends the process, and broken tracing is no reason for that. */
function harmless(subscriber: (message: unknown) => void): (message: unknown) => void {
  return (message) => {
    try {
      subscriber(message)
    } catch (error) {
      diag.error('@millrace/otel: a run has no span', error)
    }
  }
}

/** Returns a key that only this run has. */
function keyOf({ jobId, run }: RunStarted): string {
  return `${jobId} ${run}`
}
