/** Packs deliveries on their way back: replies and grants as columns, everything else as it is. */
import type { Delivery, Enqueued, Grant, JobView, JournalEvent, Notice, RecordedPage, Reply } from '@millrace/core'
import { NumberColumn, NumberReader, type Numbers } from './columns.ts'
import { packJobs, unpackJobs } from './jobs.ts'
import { packResults, unpackResults } from './results.ts'

/** Codes of replies. Each is followed by the reply's id and by the values that are named here. */
const ANY = 0 // values: value, refusal
const TRUE = 1
const ENQUEUED = 2 // numbers: seq, node, enqueuedAt
const MATCHED = 3 // the same, if a key matched an earlier job
const PAGE = 4 // a page of jobs, which `packJobs` writes behind it; values: the page without them

const RECORDED = 5 // a page of results for a run, which `packResults` writes behind it; values: the page without them

export interface PackedDelivery {
  readonly replies: Numbers
  readonly replyValues: readonly unknown[]
  readonly grants: Numbers
  readonly grantData: readonly Grant['data'][]
  /** The session, name, queue and count of each run of similar grants. */
  readonly grantHeads: readonly unknown[]
  /** The index, checkpoint, tags, meta and concurrency key of the few grants that have them. */
  readonly grantExtras: readonly unknown[]
  readonly notices: readonly Notice[]
  readonly events: readonly JournalEvent[]
  readonly renewal: number
}

const column = new NumberColumn()

export function packDelivery({ replies, grants, notices, events, renewal }: Delivery): PackedDelivery {
  return { ...packReplies(replies), ...packGrants(grants), notices, events, renewal }
}

export function unpackDelivery(packed: PackedDelivery): Delivery {
  const { notices, events, renewal } = packed
  return { replies: unpackReplies(packed), grants: unpackGrants(packed), notices, events, renewal }
}

function packReplies(replies: readonly Reply[]): Pick<PackedDelivery, 'replies' | 'replyValues'> {
  const values: unknown[] = []
  for (const reply of replies) {
    const { id, value } = reply
    const enqueued = enqueuedOne(value)
    if (enqueued !== undefined) {
      column.push(enqueued.created ? ENQUEUED : MATCHED)
      column.push(id)
      column.push(enqueued.seq)
      column.push(enqueued.node)
      column.push(enqueued.enqueuedAt)
    } else if (isPage(value)) {
      const { jobs, ...rest } = value
      column.push(PAGE)
      column.push(id)
      values.push(rest)
      packJobs(jobs, column, values)
    } else if (isRecorded(value)) {
      const { results, ...rest } = value
      column.push(RECORDED)
      column.push(id)
      values.push(rest)
      packResults(results, column, values)
    } else {
      column.push(value === true ? TRUE : ANY)
      column.push(id)
      if (value !== true) values.push(value, reply.refusal)
    }
  }
  return { replies: column.take(), replyValues: values }
}

function unpackReplies({ replies: numbers, replyValues: values }: PackedDelivery): Reply[] {
  const replies: Reply[] = []
  const reader = new NumberReader(numbers)
  let next = 0
  const take = () => values[next++]
  while (!reader.done) {
    const code = reader.take()
    const id = reader.take()
    if (code === TRUE) replies.push({ id, value: true })
    else if (code === ANY) {
      const value = take()
      const refusal = take() as Reply['refusal']
      replies.push(refusal === undefined ? { id, value } : { id, refusal })
    } else if (code === PAGE) {
      const rest = take() as object
      replies.push({ id, value: { ...rest, jobs: unpackJobs(reader, take) } })
    } else if (code === RECORDED) {
      const rest = take() as Omit<RecordedPage, 'results'>
      replies.push({ id, value: { ...rest, results: unpackResults(reader, take) } })
    } else {
      replies.push({ id, value: [{ seq: reader.take(), node: reader.take(), enqueuedAt: reader.take(), created: code === ENQUEUED }] })
    }
  }
  return replies
}

function packGrants(grants: readonly Grant[]): Pick<PackedDelivery, 'grants' | 'grantData' | 'grantHeads' | 'grantExtras'> {
  const grantData: Grant['data'][] = []
  const grantHeads: unknown[] = []
  const grantExtras: unknown[] = []
  let head: Grant | undefined
  let alike = 0
  for (const [index, grant] of grants.entries()) {
    if (head !== undefined && grant.session === head.session && grant.name === head.name && grant.queue === head.queue) alike++
    else {
      if (head !== undefined) grantHeads.push(alike)
      grantHeads.push(grant.session, grant.name, grant.queue)
      head = grant
      alike = 1
    }
    column.push(grant.seq)
    column.push(grant.node)
    column.push(grant.enqueuedAt)
    column.push(grant.run)
    column.push(grant.attempt)
    column.push(grant.maxAttempts)
    column.push(grant.priority)
    column.push(grant.weight)
    column.push(grant.runAt)
    column.push(grant.timeout)
    column.push(grant.heartbeatTimeout)
    grantData.push(grant.data)
    const { checkpoint, tags, meta, concurrencyKey, joined, logLines, idempotencyKey } = grant
    const isKeyless = concurrencyKey === undefined && idempotencyKey === undefined
    const isPlain = tags === undefined && meta === undefined && isKeyless && joined === undefined
    if (!isPlain || checkpoint !== null || logLines !== undefined)
      grantExtras.push(index, checkpoint, tags, meta, concurrencyKey, joined, logLines, idempotencyKey)
  }
  if (head !== undefined) grantHeads.push(alike)
  return { grants: column.take(), grantData, grantHeads, grantExtras }
}

function unpackGrants({ grants: numbers, grantData, grantHeads, grantExtras }: PackedDelivery): Grant[] {
  const grants: Grant[] = []
  const reader = new NumberReader(numbers)
  let extra = 0
  for (let head = 0; head < grantHeads.length; head += 4) {
    const session = grantHeads[head] as string
    const name = grantHeads[head + 1] as string
    const queue = grantHeads[head + 2] as string
    for (let left = grantHeads[head + 3] as number; left > 0; left--) {
      const index = grants.length
      const has = grantExtras[extra] === index
      grants.push({
        session,
        name,
        queue,
        seq: reader.take(),
        node: reader.take(),
        enqueuedAt: reader.take(),
        run: reader.take(),
        attempt: reader.take(),
        maxAttempts: reader.take(),
        priority: reader.take(),
        weight: reader.take(),
        runAt: reader.take(),
        timeout: reader.take(),
        heartbeatTimeout: reader.take(),
        data: grantData[index] as Grant['data'],
        checkpoint: has ? (grantExtras[extra + 1] as Grant['checkpoint']) : null,
        tags: has ? (grantExtras[extra + 2] as Grant['tags']) : undefined,
        meta: has ? (grantExtras[extra + 3] as Grant['meta']) : undefined,
        concurrencyKey: has ? (grantExtras[extra + 4] as Grant['concurrencyKey']) : undefined,
        joined: has ? (grantExtras[extra + 5] as Grant['joined']) : undefined,
        logLines: has ? (grantExtras[extra + 6] as Grant['logLines']) : undefined,
        idempotencyKey: has ? (grantExtras[extra + 7] as Grant['idempotencyKey']) : undefined,
      })
      if (has) extra += 8
    }
  }
  return grants
}

interface Page {
  readonly jobs: readonly JobView[]
  readonly next: unknown
}

/** True for a page of a list or of an export. A flow's page names its first job, and its jobs are of another shape. */
function isPage(value: unknown): value is Page {
  return typeof value === 'object' && value !== null && 'jobs' in value && 'next' in value && !('first' in value)
}

function isRecorded(value: unknown): value is RecordedPage {
  return typeof value === 'object' && value !== null && 'results' in value && 'generation' in value
}

function enqueuedOne(value: unknown): Enqueued | undefined {
  if (!Array.isArray(value) || value.length !== 1) return undefined
  const [only] = value as [unknown]
  return typeof only === 'object' && only !== null && 'created' in only ? (only as Enqueued) : undefined
}
