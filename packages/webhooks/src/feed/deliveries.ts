/** The job that tells an endpoint of an event. */
import type { Engine, EventsGap, Job, JobRequest, MillraceEvent } from '@millrace/client'
import type { Keyring } from '../deliver/secrets.ts'
import { type WebhookData, webhookJob } from '../job.ts'
import { proofOf } from '../proof.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * How long the key of a delivery is known: twice as long as the journal is kept by default. What was enqueued without its cursor having
 * been saved is told again only by who starts later than that.
 */
const KEY_TTL = '14d'
const TAG = 'endpoint:'
const PAGE_JOBS = 200

/** Ends all deliveries to an endpoint that have yet to succeed; what runs has its request aborted. */
export async function cancelDeliveries(engine: Engine, queue: string, endpointId: string): Promise<void> {
  // Whatever their states: between one state's turn and the next a job may go from what is yet to be asked for to what was.
  await engine.cancelMany({ queue, tag: tagOf(endpointId) })
}

/** Gives up what `cancelDeliveries` has ended: no later replay is to bring it back. */
export async function deleteDeliveries(engine: Engine, queue: string, endpointId: string): Promise<void> {
  await engine.deleteMany({ queue, tag: tagOf(endpointId), state: 'cancelled' })
}

/**
 * Tries again, from the first attempt, what `cancelDeliveries` has ended. What was to go to a former URL goes to that of now, as a new job:
 * enqueued before the old one is deleted, with a key of the old one, so that it is one also where this is done again.
 */
export async function retryDeliveries({ engine, queue, prove }: Deliverer, endpoint: Endpoint): Promise<void> {
  const cancelled = { queue, tag: tagOf(endpoint.id), state: 'cancelled' } as const
  let after: string | undefined
  do {
    const { jobs, next } = await engine.list({ ...cancelled, limit: PAGE_JOBS, ...(after !== undefined && { after }) })
    const moved = jobs.filter((job) => ![undefined, endpoint.url].includes(recipientOf(job)?.url))
    const bodyOf = ({ data }: Job) => (data as WebhookData).body as EventWebhook
    const again = moved.map((job) => delivery(endpoint, queue, `again:${job.id}`, bodyOf(job)))
    await engine.enqueueMany((await prove(again)).values())
    // One by one, since that keeps the keys: an event that is read again is told no more.
    await Promise.all(moved.map(({ id }) => engine.delete(id)))
    after = next
  } while (after !== undefined)
  await engine.retryMany(cancelled)
}

/** What makes deliveries. */
interface Deliverer {
  readonly engine: Engine
  readonly queue: string
  readonly prove: Prove
}

/** Deliveries with what shows that they are ours. */
export type Prove = (requests: readonly JobRequest[]) => Promise<readonly JobRequest[]>

/** Where the secrets are not known here, deliveries are as they were: a secret that has hosts signs them all the same. */
export function prover(find: Keyring): Prove {
  return (requests) => Promise.all(requests.map((request) => proven(find, request)))
}

async function proven(find: Keyring, request: JobRequest): Promise<JobRequest> {
  const data = request.data as WebhookData
  const secret = data.secret === undefined ? undefined : await find(data.secret)
  const [key] = secret?.keys ?? []
  return key === undefined ? request : { ...request, data: { ...data, proof: proofOf(key, data) } }
}

/** What a receiver gets as JSON. */
export interface EventWebhook {
  /** `job.completed` and so on for each type of event of jobs; others as they are (`queue.paused`); `gap` where events are not known any more. */
  readonly type: string
  /** When it happened; of a gap, when it was found. ISO 8601. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

export function tagOf(endpointId: string): string {
  return `${TAG}${endpointId}`
}

/** Whom a delivery is for, and where it goes. */
export interface Recipient {
  readonly endpointId: string
  readonly url: string | undefined
}

/** Undefined where a job is no endpoint's. */
export function recipientOf({ tags, data }: Pick<Job, 'tags' | 'data'>): Recipient | undefined {
  const tag = tags.find((one) => one.startsWith(TAG))
  return tag === undefined ? undefined : { endpointId: tag.slice(TAG.length), url: (data as Partial<WebhookData> | undefined)?.url }
}

/** Whether it is told of the event, which is of no delivery: `names` are of jobs, and `queues` of jobs and of queues themselves. */
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

export function gapDelivery(endpoint: Endpoint, queue: string, { after, resumesAt }: EventsGap, at: number): JobRequest {
  const timestamp = new Date(at).toISOString()
  return delivery(endpoint, queue, `gap:${after}:${resumesAt}`, { type: 'gap', timestamp, data: { after, resumesAt } })
}

function delivery({ id, url, secret, headers }: Endpoint, queue: string, what: string, body: EventWebhook): JobRequest {
  const data: WebhookData = { url, body, ...(secret !== undefined && { secret }), ...(headers !== undefined && { headers }) }
  const tag = tagOf(id)
  // Endpoints take turns where the app limits keys of the queue.
  const keys = { idempotencyKey: `${tag}:${what}`, idempotencyTtl: KEY_TTL, concurrencyKey: tag } as const
  // By its name: how it is tried again is the word of its queue, and beneath that of the worker that delivers.
  return { job: webhookJob.name, data, options: { queue, tags: [tag], ...keys } }
}
