/**
 * Turns events into deliveries, with one reading of the journal for all endpoints. Deliveries are enqueued first, then the
 * cursors are saved. If the process dies in between, repeated deliveries have the keys of the first ones. If anything fails,
 * this state is discarded, and a new feed starts from the store.
 */
import type { Engine, EngineEvent, EventStreamItem, EventsGap, JobRequest, MillraceEvent } from '@millrace/client'
import type { EventType, Logger } from '@millrace/core'
import { cancelDeliveries, eventDelivery, gapDelivery, type Prove, type Recipient, recipientOf, wants } from './deliveries.ts'
import { type OnDisabled, tellDisabled } from './disabled.ts'
import type { Endpoint, EndpointStore } from './endpoint.ts'
import { after, isOutcome } from './health.ts'

export interface FeedSettings {
  readonly engine: Engine
  readonly store: EndpointStore
  /** The queue of the deliveries. Endpoints do not receive the events of its jobs. */
  readonly queue: string
  readonly prove: Prove
  readonly disableAfterMs: number
  readonly onDisabled: OnDisabled | undefined
  readonly logger: Logger | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Deliveries are enqueued when there are this many, or slightly more: one event makes one for each endpoint. */
const JOBS_AT_ONCE = 500
/** The number of events after which the cursors are saved, even if no endpoint wanted them. */
const EVENTS_UNSAVED_MAX = 1_000
/** The number of deliveries whose recipients are remembered. For others, the feed reads their jobs. */
const REMEMBERED_MAX = 10_000
/** Types that are always read: how deliveries end, and enough of all others that cursors keep up with the journal. */
const ALWAYS: readonly EventType[] = ['enqueued', 'retrying', 'completed', 'failed', 'cancelled']

export class Feed {
  readonly #settings: FeedSettings
  /** The enabled endpoints, with their changes since the store was read. */
  readonly #endpoints: Map<string, Endpoint>
  /** Endpoints whose health differs from the store's. */
  readonly #changed = new Set<string>()
  /** Endpoints that have something to save: deliveries, a gap, their health. */
  readonly #touched = new Set<string>()
  readonly #recipients = new Map<string, Recipient>()
  #position: number
  #saved: number

  constructor(settings: FeedSettings, endpoints: readonly Endpoint[]) {
    this.#settings = settings
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
    this.#position = this.#saved = Math.min(...endpoints.map(({ cursor }) => cursor))
  }

  /** The `seq` after which to read. */
  get position(): number {
    return this.#position
  }

  get types(): readonly EventType[] {
    return [...new Set([...ALWAYS, ...[...this.#endpoints.values()].flatMap(({ events }) => events)])]
  }

  get isEmpty(): boolean {
    return this.#endpoints.size === 0
  }

  /** Sends a gap to endpoints whose cursor is beyond the journal, which was restored to an earlier state. They resume at its end. */
  async begin(head: number): Promise<void> {
    const ahead = [...this.#endpoints.values()].filter(({ cursor }) => cursor > head)
    await this.#enqueue(ahead.map((endpoint) => this.#gap(endpoint, { type: 'gap', after: endpoint.cursor, resumesAt: head + 1 })))
    this.#position = Math.min(this.#position, head)
    if (ahead.length > 0) await this.save()
  }

  /** Processes items in their order. Resolves when that is done. */
  async handle(items: readonly EventStreamItem[]): Promise<void> {
    const requests: JobRequest[] = []
    const outcomes: EngineEvent[] = []
    for (const item of items) {
      if (item.type === 'gap') {
        requests.push(...this.#gapsOf(item))
        this.#saved = Math.min(this.#saved, item.resumesAt - 1)
      } else if ('run' in item && item.queue === this.#settings.queue) {
        if (isOutcome(item)) outcomes.push(item)
      } else {
        for (const endpoint of this.#endpoints.values()) if (wants(endpoint, item)) requests.push(this.#deliver(endpoint, item))
      }
      if (requests.length >= JOBS_AT_ONCE) await this.#enqueue(requests.splice(0))
      this.#position = item.type === 'gap' ? item.resumesAt - 1 : item.seq
    }
    await this.#enqueue(requests)
    const disabled = await this.#hear(outcomes)
    // Before they are saved as disabled: if the process dies in between, both happen again.
    for (const { id } of disabled) await cancelDeliveries(this.#settings.engine, this.#settings.queue, id)
    if (this.#position - this.#saved >= EVENTS_UNSAVED_MAX) await this.save()
    else if (this.#touched.size > 0) await this.#save([...this.#touched])
    for (const endpoint of disabled) {
      this.#endpoints.delete(endpoint.id)
      void tellDisabled(endpoint, this.#settings)
    }
  }

  /** Moves all cursors to the position of the reading, unless they are beyond it. */
  async save(): Promise<void> {
    await this.#save([...this.#endpoints.keys()])
    this.#saved = this.#position
  }

  async #save(ids: readonly string[]): Promise<void> {
    const changes = ids.map((id) => {
      const endpoint = this.#endpoints.get(id) as Endpoint
      const { failingSince, disabledReason } = endpoint
      const cursor = Math.max(endpoint.cursor, this.#position)
      this.#endpoints.set(id, { ...endpoint, cursor })
      const disabled = disabledReason !== undefined && { enabled: false, disabledReason }
      return { id, cursor, ...(this.#changed.has(id) && { failingSince, ...disabled }) }
    })
    if (changes.length > 0) await this.#settings.store.update(changes)
    this.#changed.clear()
    this.#touched.clear()
  }

  #gapsOf(gap: EventsGap): JobRequest[] {
    const isForward = gap.resumesAt > gap.after
    const missed = [...this.#endpoints.values()].filter(({ cursor }) => {
      const reached = Math.max(cursor, gap.after)
      return isForward ? reached < gap.resumesAt - 1 : reached >= gap.resumesAt
    })
    return missed.map((endpoint) => this.#gap(endpoint, { ...gap, after: Math.max(endpoint.cursor, gap.after) }))
  }

  #deliver(endpoint: Endpoint, event: MillraceEvent): JobRequest {
    this.#touched.add(endpoint.id)
    return eventDelivery(endpoint, this.#settings.queue, event)
  }

  /** Makes a delivery of the gap. The endpoint resumes behind the gap, or before it if the journal was restored. */
  #gap(endpoint: Endpoint, gap: EventsGap): JobRequest {
    this.#endpoints.set(endpoint.id, { ...endpoint, cursor: gap.resumesAt - 1 })
    this.#touched.add(endpoint.id)
    return gapDelivery(endpoint, this.#settings.queue, gap, this.#settings.now())
  }

  async #enqueue(requests: readonly JobRequest[]): Promise<void> {
    // Not as an array, which is one command: URLs and headers may be long, and one endpoint must not hold up the others.
    const { engine, prove } = this.#settings
    const handles = await engine.enqueueMany((await prove(requests)).values())
    for (const [index, { id, created }] of handles.entries()) {
      const { data, options } = requests[index] as JobRequest
      // A delivery that already existed has the URL of its time.
      if (created) this.#remember(id, recipientOf({ idempotencyKey: options?.idempotencyKey, data }))
    }
  }

  #remember(jobId: string, recipient: Recipient | undefined): void {
    if (recipient !== undefined) this.#recipients.set(jobId, recipient)
    if (this.#recipients.size <= REMEMBERED_MAX) return
    const [oldest] = this.#recipients.keys()
    if (oldest !== undefined) this.#recipients.delete(oldest)
  }

  /** Records how deliveries ended. Returns the endpoints to disable. */
  async #hear(events: readonly EngineEvent[]): Promise<readonly Endpoint[]> {
    const fails = events.some(({ type }) => type !== 'completed')
    // If no endpoint is failing, a completed delivery changes nothing.
    if (!fails && ![...this.#endpoints.values()].some(({ failingSince }) => failingSince !== undefined)) return []
    const recipients = await Promise.all(events.map(({ jobId }) => this.#recipients.get(jobId) ?? this.#askRecipient(jobId)))
    const disabled = new Map<string, Endpoint>()
    for (const [index, event] of events.entries()) {
      const recipient = recipients[index]
      if (recipient === undefined) continue
      // A completed job that is no longer kept counts for all endpoints, so that none is disabled by mistake.
      const meant = recipient === null ? (event.type === 'completed' ? [...this.#endpoints.keys()] : []) : [recipient.endpointId]
      for (const id of meant) {
        const endpoint = this.#endpoints.get(id)
        if (endpoint === undefined || event.seq <= endpoint.cursor || disabled.has(id)) continue
        // An outcome at a former URL says nothing about the current one.
        if (recipient !== null && recipient.url !== endpoint.url) continue
        const health = after(endpoint, event, this.#settings.disableAfterMs)
        if (health.failingSince === endpoint.failingSince && health.disabledReason === undefined) continue
        const changed = { ...endpoint, ...health }
        this.#endpoints.set(id, changed)
        this.#changed.add(id)
        this.#touched.add(id)
        if (health.disabledReason !== undefined) disabled.set(id, changed)
      }
      if (event.type !== 'retrying') this.#recipients.delete(event.jobId)
    }
    return [...disabled.values()]
  }

  /** Returns the recipient of an older delivery, null if its job is no longer kept, or undefined if no feed has created it. */
  async #askRecipient(jobId: string): Promise<Recipient | null | undefined> {
    const job = await this.#settings.engine.get(jobId)
    return job === undefined ? null : recipientOf(job)
  }
}
