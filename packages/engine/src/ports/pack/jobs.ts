/**
 * Packs the jobs of a page of a list or of an export: numbers go to the column, and only what a job has of its own to the
 * values. As an object with thirty properties, each name and each value of a job would be cloned.
 */
import {
  type AttemptView,
  type Cancellation,
  JOB_TEXT_NAMES,
  type JobTextsView,
  type JobView,
  type LastRunView,
  mapJobTexts,
  type PayloadSizes,
  POLICY_FIELDS,
  type PolicyView,
  STATES,
} from '@millrace/core'
import type { NumberColumn, NumberReader } from './columns.ts'

/** Flags for the values that follow, of a job that has them. */
const HEAD = 1 // unset: the head of the job before applies
const OUTPUT = 2
const CHECKPOINT = 4
const PROGRESS = 8
const TAGS = 16
const META = 32
const IDEMPOTENCY_KEY = 64
const UNIQUE_KEY = 128
const TEXTS = 256
const FLOW = 512
const ATTEMPTS = 1_024
const BYTES = 8_192
const LAST_RUN = 16_384
const CANCELLATION = 32_768
const LOST_RUNS = 65_536
const ORIGINAL_RUN_AT = 131_072
/** Flags that take no value. */
const OWN_RUN = 2_048 // its only attempt repeats the fields of the job, and its worker is in the head
const CANCEL = 4_096

const NO_TEXTS = mapJobTexts(() => null)

/** The fields that jobs next to each other usually have in common. */
interface Head extends Pick<JobView, 'name' | 'queue'> {
  readonly policy: PolicyView
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
    if (JOB_TEXT_NAMES.some((name) => job[name] !== null)) has |= TEXTS
    if (job.flow !== null) has |= FLOW
    if (job.cancelRequested) has |= CANCEL
    if (job.bytes !== undefined) has |= BYTES
    if (job.lastRun !== undefined) has |= LAST_RUN
    if (job.cancellation !== undefined) has |= CANCELLATION
    if (job.lostRuns !== undefined) has |= LOST_RUNS
    if (job.originalRunAt !== undefined) has |= ORIGINAL_RUN_AT

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
      const policy = Object.fromEntries(POLICY_FIELDS.map((field) => [field, job[field]])) as unknown as PolicyView
      head = { name: job.name, queue: job.queue, policy, worker: worker ?? '' }
      values.push(head)
    }
    if (has & OUTPUT) values.push(job.output)
    if (has & CHECKPOINT) values.push(job.checkpoint)
    if (has & PROGRESS) values.push(job.progress)
    if (has & TAGS) values.push(job.tags)
    if (has & META) values.push(job.meta)
    if (has & IDEMPOTENCY_KEY) values.push(job.idempotencyKey)
    if (has & UNIQUE_KEY) values.push(job.uniqueKey)
    if (has & TEXTS) values.push(mapJobTexts((name) => job[name]))
    if (has & FLOW) values.push(job.flow)
    if (has & ATTEMPTS) values.push(job.attempts)
    if (has & BYTES) values.push(job.bytes)
    if (has & LAST_RUN) values.push(job.lastRun)
    if (has & CANCELLATION) values.push(job.cancellation)
    if (has & LOST_RUNS) values.push(job.lostRuns)
    if (has & ORIGINAL_RUN_AT) values.push(job.originalRunAt)
  }
}

/** Returns the jobs. `take` returns the next of the values. */
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
    const { name, queue, policy, worker } = head as Head
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
      ...policy,
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
      ...(has & TEXTS ? (take() as JobTextsView) : NO_TEXTS),
      flow: has & FLOW ? (take() as JobView['flow']) : null,
      attempts:
        has & OWN_RUN
          ? [{ run, attempt, startedAt, endedAt: finishedAt, worker, logs: [] }]
          : has & ATTEMPTS
            ? (take() as readonly AttemptView[])
            : [],
      ...(has & BYTES ? { bytes: take() as PayloadSizes } : undefined),
      ...(has & LAST_RUN ? { lastRun: take() as LastRunView | null } : undefined),
      ...(has & CANCELLATION ? { cancellation: take() as Cancellation } : undefined),
      ...(has & LOST_RUNS ? { lostRuns: take() as number } : undefined),
      ...(has & ORIGINAL_RUN_AT ? { originalRunAt: take() as number } : undefined),
    })
  }
  return jobs
}

/** Returns the worker of a job whose only attempt repeats the job's own fields; undefined for other jobs. */
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
    worker === head.worker &&
    // Equal policies share one backoff object.
    POLICY_FIELDS.every((field) => job[field] === head.policy[field])
  )
}
