/** The facts of a run, as its handler reads them. */
import { decodeData, formatId, type Grant } from '@millrace/core'

/** The facts of a run; frozen. */
export interface JobInfo {
  readonly id: string
  readonly name: string
  readonly queue: string
  /** The number of this run, from 1. It counts every hand-out of the job, and fences everything that this run reports. */
  readonly run: number
  /** The number of this attempt, from 1. Runs that used no attempt are not counted. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly priority: number
  readonly weight: number
  /** The concurrency key of the job; undefined if it has none. */
  readonly concurrencyKey: string | undefined
  /** The idempotency key of the job; undefined if it has none. */
  readonly idempotencyKey: string | undefined
  /** The last value that an earlier attempt stored. */
  readonly checkpoint: unknown
  readonly enqueuedAt: Date
  readonly runAt: Date
  readonly tags: readonly string[]
  readonly meta: Readonly<Record<string, unknown>>
}

const NO_TAGS: readonly string[] = Object.freeze([])
const NO_META: JobInfo['meta'] = Object.freeze({})

/** @internal Also called in a handler's own thread. */
export function infoOf(grant: Grant): JobInfo {
  return Object.freeze({
    id: formatId(grant),
    name: grant.name,
    queue: grant.queue,
    run: grant.run,
    attempt: grant.attempt,
    maxAttempts: grant.maxAttempts,
    priority: grant.priority,
    weight: grant.weight,
    concurrencyKey: grant.concurrencyKey,
    idempotencyKey: grant.idempotencyKey,
    checkpoint: decodeData(grant.checkpoint),
    enqueuedAt: new Date(grant.enqueuedAt),
    runAt: new Date(grant.runAt),
    tags: grant.tags === undefined ? NO_TAGS : Object.freeze(grant.tags),
    meta: metaOf(grant),
  })
}

export function metaOf({ meta }: Grant): JobInfo['meta'] {
  return meta === undefined ? NO_META : Object.freeze(JSON.parse(meta))
}
