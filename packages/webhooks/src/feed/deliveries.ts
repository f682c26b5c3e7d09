/** The job that tells an endpoint of an event. */
import type { Engine, EventsGap, JobRequest, MillraceEvent } from '@millrace/client'
import { type WebhookData, webhookJob } from '../job.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * How long the key of a delivery is known: twice as long as the journal is kept by default. What was enqueued without its cursor having
 * been saved is told again only by who starts later than that.
 */
const KEY_TTL = '14d'

/** Ends all deliveries to an endpoint that have yet to succeed; what runs has its request aborted. */
export async function cancelDeliveries(engine: Engine, queue: string, endpointId: string): Promise<void> {
  // Whatever their states: between one state's turn and the next a job may go from what is yet to be asked for to what was.
  await engine.cancelMany({ queue, tag: tagOf(endpointId) })
}

/** Tries again, from the first attempt, what `cancelDeliveries` has ended. */
export async function retryDeliveries(engine: Engine, queue: string, endpointId: string): Promise<void> {
  await engine.retryMany({ queue, tag: tagOf(endpointId), state: 'cancelled' })
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
  return `endpoint:${endpointId}`
}

export function endpointOfTags(tags: readonly string[]): string | undefined {
  return tags.find((tag) => tag.startsWith('endpoint:'))?.slice('endpoint:'.length)
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
  return { job: webhookJob, data, options: { queue, tags: [tag], ...keys } }
}
