/** Endpoints that receive events, and how far each of them has got. */
import { EVENT_TYPES, type EventType, OptionTypeError } from '@millrace/core'
import { webhookIssues } from '../job.ts'

/** An endpoint that receives events. */
export interface Endpoint {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`. No other endpoint may have it, even later: it is part of the keys of its deliveries. */
  readonly id: string
  readonly url: string
  /** The name of a secret of the worker that delivers. No other endpoint may have it. */
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The types of events that it receives. */
  readonly events: readonly EventType[]
  /** Limits events to these queues; default all but that of the deliveries. */
  readonly queues?: readonly string[]
  /** Limits events to jobs with these names; default all. */
  readonly names?: readonly string[]
  readonly enabled: boolean
  readonly createdAt: Date
  /** The `seq` of the last event that was posted to it, or that was not for it. */
  readonly cursor: number
  /** The time of the first failure since the last successful delivery. */
  readonly failingSince?: Date | undefined
  /** The reason if the feed, not the app, has disabled it. */
  readonly disabledReason?: DisabledReason | undefined
}

/** The fields of an endpoint that the app sets. */
export type NewEndpoint = Pick<Endpoint, 'id' | 'url' | 'secret' | 'headers' | 'events' | 'queues' | 'names'>

/** `gone`: it answered 410; `failing`: all deliveries failed for too long; `invalid`: nothing can be delivered to it. */
export type DisabledReason = 'gone' | 'failing' | 'invalid'

/** The fields of an endpoint that the feed changes. All others belong to the app. */
export interface EndpointChange {
  readonly id: string
  readonly cursor?: number
  readonly enabled?: boolean
  /** If present and undefined, nothing fails any more. */
  readonly failingSince?: Date | undefined
  readonly disabledReason?: DisabledReason | undefined
}

/** A store of endpoints: a table of the app. */
export interface EndpointStore {
  list(): Promise<readonly Endpoint[]>
  /** Adds an endpoint, or replaces the one with its id. */
  save(endpoint: Endpoint): Promise<void>
  /** Resolves with true if the endpoint existed. */
  delete(id: string): Promise<boolean>
  /** Applies all changes or none, durably. Sets only the given fields, and skips endpoints that no longer exist. */
  update(changes: readonly EndpointChange[]): Promise<void>
}

/** Returns the fields that belong to the feed when the app sets the URL. A different URL clears `failingSince`. */
export function placeOf(before: Endpoint, url: string): Omit<Endpoint, keyof NewEndpoint> {
  const { enabled, createdAt, cursor, failingSince, disabledReason } = before
  return {
    enabled,
    createdAt,
    cursor,
    ...(failingSince !== undefined && before.url === url && { failingSince }),
    ...(disabledReason !== undefined && { disabledReason }),
  }
}

/** The options that `add` accepts. Others are refused, because a misspelt filter would not filter. */
export const ENDPOINT_OPTIONS: ReadonlySet<string> = new Set<keyof NewEndpoint>([
  'id',
  'url',
  'secret',
  'headers',
  'events',
  'queues',
  'names',
])

const ID = /^[A-Za-z0-9_-]{1,64}$/

/** Returns the first fault of an endpoint, or undefined if it has none. */
export function endpointIssue(endpoint: Endpoint): string | undefined {
  const { id, url, secret, headers, events, queues, names, cursor } = endpoint
  if (typeof id !== 'string' || !ID.test(id)) return 'id has 1 to 64 of A-Z a-z 0-9 _ -'
  const [issue] = webhookIssues({ url, secret, headers })
  if (issue !== undefined) return `${issue.path.join('.')} ${issue.message}`
  if (!Array.isArray(events) || events.length === 0 || !events.every((type) => EVENT_TYPES.includes(type)))
    return `events is an array of one or more of ${EVENT_TYPES.join(', ')}`
  for (const [name, list] of Object.entries({ queues, names }))
    if (list !== undefined && !(Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === 'string')))
      return `${name} is an array of one or more names; left out, it is all`
  if (names !== undefined && events.every((type) => type.includes('.'))) return 'names is for events of jobs, and events has no such type'
  return Number.isSafeInteger(cursor) && cursor >= 0 ? undefined : 'cursor is the seq of an event'
}

/**
 * Refuses a secret that another endpoint has. Each receiver could pass off as ours what it sends to the other.
 *
 * @throws OptionTypeError
 */
export function refuseSharedSecret({ id, secret }: Endpoint, known: readonly Endpoint[]): void {
  const other = secret === undefined ? undefined : known.find((endpoint) => endpoint.id !== id && endpoint.secret === secret)
  if (other === undefined) return
  throw new OptionTypeError(
    'secret',
    `the secret '${secret}' is that of the endpoint '${other.id}', and each endpoint has its own: name another, or delete that one`,
  )
}
