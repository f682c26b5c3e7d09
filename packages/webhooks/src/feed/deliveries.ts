/** The job that delivers an event to an endpoint. */
import type { Engine, EventsGap, Job, JobRequest, MillraceEvent } from '@millrace/client'
import { type Duration, RESERVED_KEYS } from '@millrace/core'
import { newTestId } from '../clock.ts'
import type { Keyring } from '../deliver/secrets.ts'
import { type WebhookData, webhookJob } from '../job.ts'
import { proofOf } from '../proof.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * The time for which the key of a delivery is known: twice the default retention of the journal. A delivery whose cursor was
 * not saved is repeated only if the feed starts later than that.
 */
const KEY_TTL: Duration = '14d'
const TAG = 'endpoint:'
/** Begins the idempotency key of a delivery, with the endpoint and what it reports. No producer can set such a key. */
const KEY = `${RESERVED_KEYS}endpoint:`
const KEY_PATTERN = new RegExp(`^${KEY}([^:]+):`)
const PAGE_JOBS = 200

/** Cancels all deliveries to an endpoint that have not succeeded yet. Running ones have their request aborted. */
export async function cancelDeliveries(engine: Engine, queue: string, endpointId: string): Promise<void> {
  // All states at once: between two calls, a job could move from a state not asked for yet to one that was.
  await engine.cancelMany({ queue, tag: tagOf(endpointId) })
}

/** Deletes the deliveries that `cancelDeliveries` has cancelled, so that no later replay brings them back. */
export async function deleteDeliveries(engine: Engine, queue: string, endpointId: string): Promise<void> {
  await engine.deleteMany({ queue, tag: tagOf(endpointId), state: 'cancelled' })
}

/**
 * Retries, from the first attempt, the deliveries that `cancelDeliveries` has cancelled. A delivery to a former URL becomes a
 * new job to the current URL. The new job is enqueued before the old one is deleted. Its key contains the old id, so a
 * repetition creates no second job.
 */
export async function retryDeliveries({ engine, queue, prove }: Deliverer, endpoint: Endpoint): Promise<void> {
  const cancelled = { queue, tag: tagOf(endpoint.id), state: 'cancelled' } as const
  let after: string | undefined
  do {
    const { jobs, next } = await engine.list({ ...cancelled, limit: PAGE_JOBS, ...(after !== undefined && { after }) })
    const moved = jobs.filter((job) => isMoved(recipientOf(job), endpoint))
    const bodyOf = ({ data }: Job) => (data as WebhookData).body as EventWebhook
    const again = moved.map((job) => delivery(endpoint, queue, `again:${job.id}`, bodyOf(job)))
    await engine.enqueueMany((await prove(again)).values())
    // One by one, because that keeps the keys: an event that is read again is not delivered again.
    await Promise.all(moved.map(({ id }) => engine.delete(id)))
    after = next
  } while (after !== undefined)
  await engine.retryMany(cancelled)
}

function isMoved(recipient: Recipient | undefined, { id, url }: Endpoint): boolean {
  return recipient?.endpointId === id && recipient.url !== url
}

/** The engine, the queue and the proofs that deliveries are made with. */
interface Deliverer {
  readonly engine: Engine
  readonly queue: string
  readonly prove: Prove
}

/** Adds to each delivery the proof that the feed has made it. */
export type Prove = (requests: readonly JobRequest[]) => Promise<readonly JobRequest[]>

/** Returns a function that adds proofs. A delivery whose secret is unknown here gets none; a secret that has hosts still signs it. */
export function prover(find: Keyring): Prove {
  return (requests) => Promise.all(requests.map((request) => proven(find, request)))
}

async function proven(find: Keyring, request: JobRequest): Promise<JobRequest> {
  const data = request.data as WebhookData
  const secret = data.secret === undefined ? undefined : await find(data.secret)
  const [key] = secret?.keys ?? []
  return key === undefined ? request : { ...request, data: { ...data, proof: proofOf(key, data, request.options?.idempotencyKey) } }
}

/** The JSON that a receiver gets. */
export interface EventWebhook {
  /** `job.completed` and so on for events of jobs, other types as they are (`queue.paused`), and `gap` if events are no longer kept. */
  readonly type: string
  /** The time of the event, or the time when a gap was found. ISO 8601. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

export function tagOf(endpointId: string): string {
  return `${TAG}${endpointId}`
}

/** The endpoint that a delivery is for, and the URL that it goes to. */
export interface Recipient {
  readonly endpointId: string
  readonly url: string | undefined
}

/** Returns the recipient of a delivery, or undefined if no feed has created the job. Anybody may set the tag of an endpoint. */
export function recipientOf({ idempotencyKey, data }: Pick<Job, 'idempotencyKey' | 'data'>): Recipient | undefined {
  const endpointId = KEY_PATTERN.exec(idempotencyKey ?? '')?.[1]
  return endpointId === undefined ? undefined : { endpointId, url: (data as Partial<WebhookData> | undefined)?.url }
}

/** True if the endpoint wants the event, which is not a delivery's. `names` match jobs; `queues` match jobs and queues themselves. */
export function wants({ events, queues, names, cursor }: Endpoint, event: MillraceEvent): boolean {
  return (
    event.seq > cursor &&
    events.includes(event.type) &&
    (queues === undefined || ('queue' in event && queues.includes(event.queue))) &&
    (names === undefined || ('run' in event && names.includes(event.name)))
  )
}

export function eventDelivery(endpoint: Endpoint, queue: string, event: MillraceEvent): JobRequest {
  const { type, at, ...data } = event
  const what = type.includes('.') ? type : `job.${type}`
  return delivery(endpoint, queue, String(event.seq), { type: what, timestamp: at.toISOString(), data })
}

/** Returns a delivery that tests an endpoint: it is tried once, and each test is a job of its own. */
export function testDelivery(endpoint: Endpoint, queue: string, at: number): JobRequest<string> {
  const body = { type: 'test', timestamp: new Date(at).toISOString(), data: {} }
  const { options, ...request } = delivery(endpoint, queue, `test:${newTestId()}`, body)
  return { ...request, options: { ...options, maxAttempts: 1 } }
}

export function gapDelivery(endpoint: Endpoint, queue: string, { after, resumesAt }: EventsGap, at: number): JobRequest {
  const timestamp = new Date(at).toISOString()
  return delivery(endpoint, queue, `gap:${after}:${resumesAt}`, { type: 'gap', timestamp, data: { after, resumesAt } })
}

/** @param what is new to the endpoint: each has one delivery, however often the feed makes it */
function delivery({ id, url, secret, headers }: Endpoint, queue: string, what: string, body: EventWebhook): JobRequest<string> {
  const data: WebhookData = { url, body, ...(secret !== undefined && { secret }), ...(headers !== undefined && { headers }) }
  const tag = tagOf(id)
  const once = { idempotencyKey: `${KEY}${id}:${what}`, idempotencyTtl: KEY_TTL }
  // Endpoints take turns if the app limits keys of the queue.
  // Enqueued by name: retries follow the settings of the queue, then those of the worker that delivers.
  return { job: webhookJob.name, data, options: { ...once, queue, tags: [tag], concurrencyKey: tag } }
}
