/** The facts of a run, as its handler reads them. */
import { decodeData, formatId, type Grant, type JobInfo } from '@millrace/core'

export type { JobInfo } from '@millrace/core'

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
