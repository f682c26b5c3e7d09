/** Many jobs: an array is one atomic command; an iterable goes in atomic chunks, with no more than it takes in memory. */
import { checkCommandSize, type Enqueued, LIMITS, type NewJob, OptionTypeError, weighJob } from '@millrace/core'
import type { Mailbox } from './mailbox.ts'
import { type JobRequest, newJobOf } from './newJobs.ts'

const CHUNK_JOBS = 1_000

export type JobRequests = readonly JobRequest[] | Iterable<JobRequest> | AsyncIterable<JobRequest>

export async function enqueueMany(mailbox: Mailbox, requests: JobRequests, maxDataBytes: number): Promise<readonly Enqueued[]> {
  if (Array.isArray(requests)) return enqueueArray(mailbox, requests, maxDataBytes)
  if (typeof requests === 'object' && requests !== null && (Symbol.asyncIterator in requests || Symbol.iterator in requests)) {
    return enqueueChunks(mailbox, requests as AsyncIterable<JobRequest>, maxDataBytes)
  }
  throw new OptionTypeError('jobs', 'enqueueMany takes an array, an iterable or an async iterable of { job, data, options }')
}

async function enqueueArray(mailbox: Mailbox, requests: readonly JobRequest[], maxDataBytes: number): Promise<readonly Enqueued[]> {
  if (requests.length === 0) return []
  // Before anything is encoded: a million jobs are refused without being looked at.
  checkCommandSize('jobs', requests.length, 0)
  const jobs = await Promise.all(requests.map(({ job, data, options }) => newJobOf(job, data, options, maxDataBytes)))
  checkCommandSize('jobs', jobs.length, weighAll(jobs))
  return mailbox.call<'enqueue'>({ op: 'enqueue', jobs })
}

async function enqueueChunks(mailbox: Mailbox, requests: AsyncIterable<JobRequest>, maxDataBytes: number): Promise<readonly Enqueued[]> {
  const enqueued: Enqueued[] = []
  let chunk: NewJob[] = []
  let bytes = 0
  const send = async () => {
    if (chunk.length === 0) return
    const jobs = chunk
    chunk = []
    bytes = 0
    enqueued.push(...(await mailbox.call<'enqueue'>({ op: 'enqueue', jobs })))
  }
  try {
    for await (const { job, data, options } of requests) {
      const next = await newJobOf(job, data, options, maxDataBytes)
      if (chunk.length >= CHUNK_JOBS || bytes + weighJob(next) > LIMITS.bytesPerCommand) await send()
      chunk.push(next)
      bytes += weighJob(next)
    }
    await send()
  } catch (error) {
    // What was committed stays: the caller goes on after it.
    if (error instanceof Error) Object.assign(error, { committed: enqueued.length })
    throw error
  }
  return enqueued
}

function weighAll(jobs: readonly NewJob[]): number {
  let bytes = 0
  for (const job of jobs) bytes += weighJob(job)
  return bytes
}
