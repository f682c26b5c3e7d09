/**
 * Enqueues many jobs. An array is one atomic command. An iterable is sent in atomic chunks, one at a time, and is read
 * only while no chunk is under way. Memory holds one chunk of jobs and, until the iterable ends, the keys of all
 * committed jobs.
 */
import { checkCommandSize, type Enqueued, isError, LIMITS, type NewJob, OptionTypeError, weighJob, weighJobs } from '@millrace/core'
import type { JobOrName, JobRequest, OutputOf } from '@millrace/worker'
import type { JobHandle } from './handle.ts'
import { itemOf, newJobOf } from './newJobs.ts'

const CHUNK_JOBS = 1_000

/** Jobs in an array, each with the data of its own definition. */
export type JobList<Jobs extends readonly JobOrName[]> = { readonly [Index in keyof Jobs]: JobRequest<Jobs[Index]> }

/** The handles of jobs, in their order. */
export type JobHandles<Jobs extends readonly JobOrName[]> = { readonly [Index in keyof Jobs]: JobHandle<OutputOf<Jobs[Index]>> }

/** Jobs that are committed while they are read. An array does not qualify: it is one atomic command. */
export type JobStream<Job extends JobOrName> = (Iterable<JobRequest<Job>> | AsyncIterable<JobRequest<Job>>) & { readonly length?: never }

/** Jobs of any definitions, whose data the compiler does not check. */
export type JobRequests = readonly JobRequest[] | Iterable<JobRequest> | AsyncIterable<JobRequest>

/** Enqueues all of the jobs or none. */
export type Enqueue = (jobs: readonly NewJob[]) => Promise<readonly Enqueued[]>

export async function enqueueMany(enqueue: Enqueue, requests: JobRequests, maxDataBytes: number): Promise<readonly Enqueued[]> {
  if (Array.isArray(requests)) return enqueueArray(enqueue, requests, maxDataBytes)
  if (typeof requests === 'object' && requests !== null && (Symbol.asyncIterator in requests || Symbol.iterator in requests)) {
    return enqueueChunks(enqueue, requests as AsyncIterable<JobRequest>, maxDataBytes)
  }
  throw new OptionTypeError('jobs', 'enqueueMany takes an array, an iterable or an async iterable of { job, data, options }')
}

async function enqueueArray(enqueue: Enqueue, requests: readonly JobRequest[], maxDataBytes: number): Promise<readonly Enqueued[]> {
  if (requests.length === 0) return []
  // Check the count before anything is encoded: a million jobs are refused without being looked at.
  checkCommandSize('enqueueMany', requests.length, 0)
  const jobs = await newJobsOf(requests, maxDataBytes)
  checkCommandSize('enqueueMany', jobs.length, weighJobs(jobs))
  return enqueue(jobs)
}

async function enqueueChunks(enqueue: Enqueue, requests: AsyncIterable<JobRequest>, maxDataBytes: number): Promise<readonly Enqueued[]> {
  const enqueued: Enqueued[] = []
  let chunk: NewJob[] = []
  let bytes = 0
  const send = async () => {
    if (chunk.length === 0) return
    const jobs = chunk
    chunk = []
    bytes = 0
    enqueued.push(...(await enqueue(jobs)))
  }
  try {
    let index = 0
    for await (const request of requests) {
      const { job, data, options } = itemOf(request, 'jobs', index++)
      const next = await newJobOf(job, data, options, maxDataBytes)
      if (chunk.length >= CHUNK_JOBS || bytes + weighJob(next) > LIMITS.bytesPerCommand) await send()
      chunk.push(next)
      bytes += weighJob(next)
    }
    await send()
  } catch (error) {
    // Committed jobs stay: the caller continues after them.
    if (isError(error)) Object.assign(error, { committed: enqueued.length })
    throw error
  }
  return enqueued
}

/** Returns a promise only if a schema is asynchronous. If one item is refused, the others are no longer awaited. */
export function newJobsOf(requests: readonly JobRequest[], maxDataBytes: number): readonly NewJob[] | Promise<readonly NewJob[]> {
  const jobs: (NewJob | Promise<NewJob>)[] = []
  let asynchronous = false
  try {
    for (const [index, request] of requests.entries()) {
      const { job, data, options } = itemOf(request, 'jobs', index)
      const wanted = newJobOf(job, data, options, maxDataBytes)
      if (wanted instanceof Promise) asynchronous = true
      jobs.push(wanted)
    }
  } catch (error) {
    Promise.all(jobs).catch(() => {})
    throw error
  }
  return asynchronous ? Promise.all(jobs) : (jobs as NewJob[])
}
