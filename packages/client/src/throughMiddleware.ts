/** Passes the jobs of calls through the engine's middleware. */
import { checkCommandSize, type Enqueued, isError } from '@millrace/core'
import { aroundEnqueue, type JobRequest, type Middleware } from '@millrace/worker'
import type { JobRequests } from './enqueueMany.ts'

/** The number of jobs of an iterable that middleware sees at once: they are in memory as they are, however large. */
const CHUNK_JOBS = 100

/** Passes the jobs of a call to `send`. Calls that it refuses anyway are not passed through. */
export async function through<Request extends JobRequest, Answer>(
  middleware: readonly Middleware[],
  requests: readonly Request[],
  send: (requests: readonly Request[]) => Promise<Answer>,
  call: 'enqueueMany' | 'flow' = 'enqueueMany',
): Promise<Answer> {
  if (middleware.length === 0 || !Array.isArray(requests) || requests.length === 0 || !requests.every(isRequest)) return send(requests)
  // A million jobs are refused without being looked at.
  checkCommandSize(call, requests.length, 0)
  return aroundEnqueue(middleware, requests, send)
}

/** The same for many jobs: an array at once, an iterable in chunks. */
export async function enqueueManyThrough(
  middleware: readonly Middleware[],
  requests: JobRequests,
  send: (requests: JobRequests) => Promise<readonly Enqueued[]>,
): Promise<readonly Enqueued[]> {
  if (Array.isArray(requests)) return through(middleware, requests as readonly JobRequest[], send)
  if (typeof requests !== 'object' || requests === null || !(Symbol.asyncIterator in requests || Symbol.iterator in requests))
    return send(requests)
  const enqueued: Enqueued[] = []
  let chunk: JobRequest[] = []
  const flush = async () => {
    const jobs = chunk
    chunk = []
    // As an iterable, in case they are too large for one command.
    enqueued.push(...(await through(middleware, jobs, (sent) => send(sent.values()))))
  }
  try {
    for await (const request of requests as AsyncIterable<JobRequest>) {
      chunk.push(request)
      if (chunk.length === CHUNK_JOBS) await flush()
    }
    if (chunk.length > 0) await flush()
  } catch (error) {
    if (isError(error)) {
      const { committed = 0 } = error as { readonly committed?: number }
      Object.assign(error, { committed: enqueued.length + committed })
    }
    throw error
  }
  return enqueued
}

/** True for an item that names its job: all others are refused where they are encoded. */
function isRequest(request: unknown): boolean {
  const { job } = typeof request === 'object' && request !== null ? (request as Partial<JobRequest>) : {}
  return typeof job === 'string' || typeof job?.name === 'string'
}
