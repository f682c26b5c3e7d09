/**
 * What crosses a MessageChannel: the common requests, replies and grants as runs of plain values in one flat array, all else as
 * it is. Structured clone writes an object's property names again for each object; a flat array costs its values alone.
 */
import type { CompleteCommand, Delivery, EnqueueCommand, Enqueued, Grant, JobEvent, NewJob, Notice, Reply, Request } from '@millrace/core'

/** Codes of what follows in the array. */
const PLAIN = 0
const ENQUEUE_ONE = 1
const COMPLETE = 2
const TRUE = 3
const ENQUEUED_ONE = 4

export type PackedRequests = readonly unknown[]

export interface PackedDelivery {
  readonly replies: readonly unknown[]
  /** For each session: its uuid, how many grants, and their values. */
  readonly grants: readonly unknown[]
  readonly notices: readonly Notice[]
  readonly events: readonly JobEvent[]
}

export function packRequests(requests: readonly Request[]): PackedRequests {
  const out: unknown[] = []
  for (const { id, command } of requests) {
    if (command.op === 'enqueue' && command.jobs.length === 1) {
      const { name, data, ...rest } = command.jobs[0] as NewJob
      out.push(ENQUEUE_ONE, id, name, data, isEmpty(rest) ? undefined : rest)
    } else if (command.op === 'complete' && command.enqueues === undefined) {
      out.push(COMPLETE, id, command.seq, command.run, command.output)
    } else out.push(PLAIN, id, command)
  }
  return out
}

export function unpackRequests(packed: PackedRequests): Request[] {
  const requests: Request[] = []
  for (let at = 0; at < packed.length; ) {
    const code = packed[at]
    const id = packed[at + 1] as number
    if (code === ENQUEUE_ONE) {
      const name = packed[at + 2] as string
      const data = packed[at + 3] as NewJob['data']
      const rest = packed[at + 4] as Partial<NewJob> | undefined
      const command: EnqueueCommand = { op: 'enqueue', jobs: [rest === undefined ? { name, data } : { name, data, ...rest }] }
      requests.push({ id, command })
      at += 5
    } else if (code === COMPLETE) {
      const command: CompleteCommand = {
        op: 'complete',
        seq: packed[at + 2] as number,
        run: packed[at + 3] as number,
        output: packed[at + 4] as CompleteCommand['output'],
      }
      requests.push({ id, command })
      at += 5
    } else {
      requests.push({ id, command: packed[at + 2] as Request['command'] })
      at += 3
    }
  }
  return requests
}

export function packDelivery({ replies, grants, notices, events }: Delivery): PackedDelivery {
  return { replies: packReplies(replies), grants: packGrants(grants), notices, events }
}

export function unpackDelivery({ replies, grants, notices, events }: PackedDelivery): Delivery {
  return { replies: unpackReplies(replies), grants: unpackGrants(grants), notices, events }
}

function packReplies(replies: readonly Reply[]): unknown[] {
  const out: unknown[] = []
  for (const reply of replies) {
    const { id, value } = reply
    if (value === true) out.push(TRUE, id)
    else if (isEnqueuedOne(value)) {
      const { seq, node, enqueuedAt, created } = value[0]
      out.push(ENQUEUED_ONE, id, seq, node, enqueuedAt, created)
    } else out.push(PLAIN, id, value, reply.refusal)
  }
  return out
}

function unpackReplies(packed: readonly unknown[]): Reply[] {
  const replies: Reply[] = []
  for (let at = 0; at < packed.length; ) {
    const code = packed[at]
    const id = packed[at + 1] as number
    if (code === TRUE) {
      replies.push({ id, value: true })
      at += 2
    } else if (code === ENQUEUED_ONE) {
      const value: Enqueued[] = [
        {
          seq: packed[at + 2] as number,
          node: packed[at + 3] as number,
          enqueuedAt: packed[at + 4] as number,
          created: packed[at + 5] as boolean,
        },
      ]
      replies.push({ id, value })
      at += 6
    } else {
      const refusal = packed[at + 3] as Reply['refusal']
      replies.push(refusal === undefined ? { id, value: packed[at + 2] } : { id, refusal })
      at += 4
    }
  }
  return replies
}

function packGrants(grants: readonly Grant[]): unknown[] {
  const out: unknown[] = []
  let session: string | undefined
  let countAt = -1
  for (const grant of grants) {
    if (grant.session !== session) {
      session = grant.session
      countAt = out.push(session, 0) - 1
    }
    out[countAt] = (out[countAt] as number) + 1
    out.push(
      grant.seq,
      grant.node,
      grant.enqueuedAt,
      grant.name,
      grant.queue,
      grant.run,
      grant.attempt,
      grant.maxAttempts,
      grant.priority,
      grant.weight,
      grant.runAt,
      grant.timeout,
      grant.heartbeatTimeout,
      grant.data,
      grant.checkpoint,
      grant.tags,
      grant.meta,
    )
  }
  return out
}

function unpackGrants(packed: readonly unknown[]): Grant[] {
  const grants: Grant[] = []
  for (let at = 0; at < packed.length; ) {
    const session = packed[at++] as string
    for (let left = packed[at++] as number; left > 0; left--) {
      grants.push({
        session,
        seq: packed[at++] as number,
        node: packed[at++] as number,
        enqueuedAt: packed[at++] as number,
        name: packed[at++] as string,
        queue: packed[at++] as string,
        run: packed[at++] as number,
        attempt: packed[at++] as number,
        maxAttempts: packed[at++] as number,
        priority: packed[at++] as number,
        weight: packed[at++] as number,
        runAt: packed[at++] as number,
        timeout: packed[at++] as number,
        heartbeatTimeout: packed[at++] as number,
        data: packed[at++] as Grant['data'],
        checkpoint: packed[at++] as Grant['checkpoint'],
        tags: packed[at++] as Grant['tags'],
        meta: packed[at++] as Grant['meta'],
      })
    }
  }
  return grants
}

function isEnqueuedOne(value: unknown): value is readonly [Enqueued] {
  return Array.isArray(value) && value.length === 1 && typeof value[0] === 'object' && value[0] !== null && 'created' in value[0]
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}
