/**
 * Jobs as a page of a list or of an export tells them: numbers to the column, and to the values only what a job has of its own. As an
 * object with thirty properties, each name and each value of a job would be cloned.
 */
import { type AttemptView, type JobView, STATES } from '@millrace/core'
import type { NumberColumn, NumberReader } from './columns.ts'

/** What follows among the values, of a job that has it. */
const HEAD = 1 // else it is that of the job before
const OUTPUT = 2
const CHECKPOINT = 4
const PROGRESS = 8
const TAGS = 16
const META = 32
const IDEMPOTENCY_KEY = 64
const UNIQUE_KEY = 128
const CONCURRENCY_KEY = 256
const FLOW = 512
const ATTEMPTS = 1_024
/** What is true of it, and takes no value. */
const OWN_RUN = 2_048 // it was done at once: its one attempt says what the job does, and its worker is in the head
const CANCEL = 4_096

/** What jobs next to each other have in common, more often than not. */
type Head = Pick<JobView, 'name' | 'queue' | 'maxAttempts' | 'maxAge' | 'timeout' | 'heartbeatTimeout' | 'backoff'> & {
  readonly worker: string
}

export function packJobs(jobs: readonly JobView[], column: NumberColumn, values: unknown[]): void {
  let head: Head | undefined
  column.push(jobs.length)
  for (const job of jobs) {
    const worker = workerOf(job)
    const own = worker !== undefined
    let has = own ? OWN_RUN : job.attempts.length === 0 ? 0 : ATTEMPTS
    if (head === undefined || !isOf(job, worker ?? '', head)) has |= HEAD
    if (job.output !== null) has |= OUTPUT
    if (job.checkpoint !== null) has |= CHECKPOINT
    if (job.progress !== null) has |= PROGRESS
    if (job.tags.length > 0) has |= TAGS
    if (job.meta !== null) has |= META
    if (job.idempotencyKey !== null) has |= IDEMPOTENCY_KEY
    if (job.uniqueKey !== null) has |= UNIQUE_KEY
    if (job.concurrencyKey !== null) has |= CONCURRENCY_KEY
    if (job.flow !== null) has |= FLOW
    if (job.cancelRequested) has |= CANCEL

    column.push(has)
    column.push(job.seq)
    column.push(job.node)
    column.push(job.enqueuedAt)
    column.push(STATES.indexOf(job.state))
    column.push(job.run)
    column.push(job.attempt)
    column.push(job.priority)
    column.push(job.weight)
    column.push(job.runAt)
    column.push(job.expiresAt)
    column.push(job.startedAt)
    column.push(job.finishedAt)
    values.push(job.data)
    if (has & HEAD) {
      const { name, queue, maxAttempts, maxAge, timeout, heartbeatTimeout, backoff } = job
      head = { name, queue, maxAttempts, maxAge, timeout, heartbeatTimeout, backoff, worker: worker ?? '' }
      values.push(head)
    }
    if (has & OUTPUT) values.push(job.output)
    if (has & CHECKPOINT) values.push(job.checkpoint)
    if (has & PROGRESS) values.push(job.progress)
    if (has & TAGS) values.push(job.tags)
    if (has & META) values.push(job.meta)
    if (has & IDEMPOTENCY_KEY) values.push(job.idempotencyKey)
    if (has & UNIQUE_KEY) values.push(job.uniqueKey)
    if (has & CONCURRENCY_KEY) values.push(job.concurrencyKey)
    if (has & FLOW) values.push(job.flow)
    if (has & ATTEMPTS) values.push(job.attempts)
  }
}

/** `take` answers the next of the values. */
export function unpackJobs(reader: NumberReader, take: () => unknown): JobView[] {
  const jobs: JobView[] = []
  let head: Head | undefined
  for (let left = reader.take(); left > 0; left--) {
    const has = reader.take()
    const seq = reader.take()
    const node = reader.take()
    const enqueuedAt = reader.take()
    const state = STATES[reader.take()] as JobView['state']
    const run = reader.take()
    const attempt = reader.take()
    const priority = reader.take()
    const weight = reader.take()
    const runAt = reader.take()
    const expiresAt = reader.take()
    const startedAt = reader.take()
    const finishedAt = reader.take()
    const data = take() as JobView['data']
    if (has & HEAD) head = take() as Head
    const { name, queue, maxAttempts, maxAge, timeout, heartbeatTimeout, backoff, worker } = head as Head
    jobs.push({
      seq,
      node,
      enqueuedAt,
      name,
      queue,
      state,
      data,
      output: has & OUTPUT ? (take() as JobView['output']) : null,
      checkpoint: has & CHECKPOINT ? (take() as JobView['checkpoint']) : null,
      run,
      attempt,
      maxAttempts,
      maxAge,
      timeout,
      heartbeatTimeout,
      backoff,
      priority,
      weight,
      runAt,
      expiresAt,
      startedAt,
      finishedAt,
      progress: has & PROGRESS ? (take() as string) : null,
      cancelRequested: (has & CANCEL) !== 0,
      tags: has & TAGS ? (take() as JobView['tags']) : [],
      meta: has & META ? (take() as string) : null,
      idempotencyKey: has & IDEMPOTENCY_KEY ? (take() as string) : null,
      uniqueKey: has & UNIQUE_KEY ? (take() as string) : null,
      concurrencyKey: has & CONCURRENCY_KEY ? (take() as string) : null,
      flow: has & FLOW ? (take() as JobView['flow']) : null,
      attempts:
        has & OWN_RUN
          ? [{ run, attempt, startedAt, endedAt: finishedAt, worker, logs: [] }]
          : has & ATTEMPTS
            ? (take() as readonly AttemptView[])
            : [],
    })
  }
  return jobs
}

/** The worker of a job whose one attempt says nothing but what the job says itself. */
function workerOf({ attempts, run, attempt, startedAt, finishedAt }: JobView): string | undefined {
  const [only] = attempts
  if (only === undefined || attempts.length > 1 || only.error !== undefined || only.logs.length > 0) return undefined
  const same = only.run === run && only.attempt === attempt && only.startedAt === startedAt && only.endedAt === finishedAt
  return same ? only.worker : undefined
}

function isOf(job: JobView, worker: string, head: Head): boolean {
  return (
    job.name === head.name &&
    job.queue === head.queue &&
    // Equal policies are one object.
    job.backoff === head.backoff &&
    job.maxAttempts === head.maxAttempts &&
    job.maxAge === head.maxAge &&
    job.timeout === head.timeout &&
    job.heartbeatTimeout === head.heartbeatTimeout &&
    worker === head.worker
  )
}
