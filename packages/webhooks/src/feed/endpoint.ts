/** Who is told of what happens to jobs, and how far it has been told. */
import { EVENT_TYPES, type EventType, OptionTypeError } from '@millrace/core'
import { webhookIssues } from '../job.ts'

export interface Endpoint {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`; of no other endpoint, also later: the keys of its deliveries have it. */
  readonly id: string
  readonly url: string
  /** The name of a secret of the worker that delivers, and of no other endpoint. */
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Of these types. */
  readonly events: readonly EventType[]
  /** In these queues alone; default all but that of the deliveries. */
  readonly queues?: readonly string[]
  /** Of jobs of these names alone; default all. */
  readonly names?: readonly string[]
  readonly enabled: boolean
  readonly createdAt: Date
  /** The last event that was posted to it, or that was not for it. */
  readonly cursor: number
  /** No delivery has succeeded since this one failed. */
  readonly failingSince?: Date | undefined
  /** Why it is not `enabled`, where it is not the app that said so. */
  readonly disabledReason?: DisabledReason | undefined
}

/** What an app says of an endpoint. */
export type NewEndpoint = Pick<Endpoint, 'id' | 'url' | 'secret' | 'headers' | 'events' | 'queues' | 'names'>

/** `gone`: it answered 410; `failing`: all has failed for too long; `invalid`: it is none that could be delivered to. */
export type DisabledReason = 'gone' | 'failing' | 'invalid'

/** What the feed changes of an endpoint; all else is the app's. */
export interface EndpointChange {
  readonly id: string
  readonly cursor?: number
  readonly enabled?: boolean
  /** Undefined where it is there: nothing fails any more. */
  readonly failingSince?: Date | undefined
  readonly disabledReason?: DisabledReason | undefined
}

/** Where endpoints are kept: a table of the app. */
export interface EndpointStore {
  list(): Promise<readonly Endpoint[]>
  /** A new one, or one in place of that of its id. */
  save(endpoint: Endpoint): Promise<void>
  /** Answers whether there was one. */
  delete(id: string): Promise<boolean>
  /** All of it or nothing, durably: only the fields that are given, of those that are still there. */
  update(changes: readonly EndpointChange[]): Promise<void>
}

/** All that is the feed's to say, where the app says that it is at `url`: what has failed at another is over. */
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

/** What `add` knows: a filter that is misspelt would be none. */
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

/** What is wrong with an endpoint; undefined where nothing is. */
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
  return Number.isSafeInteger(cursor) && cursor >= 0 ? undefined : 'cursor is the seq of an event'
}

/**
 * Two receivers that share a secret could each pass off as ours what they send to the other.
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
