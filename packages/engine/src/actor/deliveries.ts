/** Collects the deliveries of one turn for each connection after the commit; each is posted once. */
import { type Delivery, type Grant, type JournalEvent, LIMITS, type Notice, type Now, type Refusal, type Reply } from '@millrace/core'
import {
  attemptOf,
  type ConnectionId,
  type Effects,
  type EventNote,
  type Job,
  type Session,
  type SystemEventNote,
  type Tables,
} from '@millrace/core/kernel'

interface Collected extends Delivery {
  readonly replies: Reply[]
  readonly grants: Grant[]
  readonly notices: Notice[]
  events: readonly JournalEvent[]
}

export class Deliveries {
  readonly byConnection = new Map<ConnectionId, Collected>()
  readonly #renewals: ReadonlyMap<ConnectionId, number>
  readonly #effects: Effects
  readonly #firstEvent: number
  readonly #now: Now
  #events: readonly JournalEvent[] | undefined
  readonly #subscribed: ReadonlySet<ConnectionId>

  constructor({ nextEvent, renewals }: Tables, effects: Effects, now: Now, subscribed: ReadonlySet<ConnectionId>) {
    this.#effects = effects
    this.#firstEvent = nextEvent - effects.events.length
    this.#renewals = renewals
    this.#now = now
    this.#subscribed = subscribed
  }

  /** The turn's events, created when they are first needed. */
  get events(): readonly JournalEvent[] {
    this.#events ??= this.#effects.events.map((note, index) => eventOf(note, this.#firstEvent + index, this.#now.wall))
    return this.#events
  }

  reply(connection: ConnectionId, id: number, value: unknown): void {
    this.of(connection).replies.push({ id, value })
  }

  refuse(connection: ConnectionId, id: number, refusal: Refusal): void {
    this.of(connection).replies.push({ id, refusal })
  }

  push(connection: ConnectionId, reply: Reply): void {
    this.of(connection).replies.push(reply)
  }

  add(): void {
    const effects = this.#effects
    for (const job of effects.grants) {
      // A job may have been handed out and given back, or cancelled, within the turn that started it.
      const { session } = job
      if (session?.connection !== undefined) this.of(session.connection).grants.push(grantOf(job, session))
      job.data = undefined
    }
    for (const { session, job, run, note } of effects.notices) {
      // A session that is away learns what is lost when it reports what it holds.
      if (session.connection !== undefined)
        this.of(session.connection).notices.push({ ...note, session: session.intro.uuid, seq: job.seq, run })
    }
    for (const { connection, intro, stopMs: timeout } of effects.stops) {
      if (connection !== undefined && timeout !== undefined)
        this.of(connection).notices.push({ kind: 'stop', session: intro.uuid, timeout })
    }
    if (this.#subscribed.size === 0 || effects.events.length === 0) return
    const events = withErrors(this.events, effects.events)
    for (const connection of this.#subscribed) this.of(connection).events = events
  }

  of(connection: ConnectionId): Collected {
    let collected = this.byConnection.get(connection)
    if (collected === undefined) {
      collected = { replies: [], grants: [], notices: [], events: [], renewal: this.#renewals.get(connection) ?? 0 }
      this.byConnection.set(connection, collected)
    }
    return collected
  }
}

function grantOf(job: Job, session: Session): Grant {
  const { policy, extras } = job
  return {
    session: session.intro.uuid,
    seq: job.seq,
    node: job.node,
    enqueuedAt: job.enqueuedAt,
    name: job.lane.name,
    queue: job.lane.queue.name,
    run: job.run,
    attempt: attemptOf(job),
    maxAttempts: policy.maxAttempts,
    priority: job.priority,
    weight: job.weight,
    runAt: job.runAt,
    timeout: policy.timeout,
    heartbeatTimeout: policy.heartbeatTimeout,
    data: job.data ?? null,
    checkpoint: job.checkpoint,
    tags: extras?.tags,
    meta: extras?.meta,
    concurrencyKey: extras?.concurrencyKey,
    idempotencyKey: extras?.idempotencyKey,
    joined: extras?.flow?.joined?.map(({ name, place, jobs }) => ({ name, place, jobs })),
    logLines: policy.logLines === LIMITS.logLinesPerRun ? undefined : policy.logLines,
  }
}

function eventOf(note: EventNote | SystemEventNote, seq: number, at: number): JournalEvent {
  if (note.job === undefined) return { seq, at, ...note.body }
  const { type, job, run, attempt, error, value } = note
  return {
    seq,
    type,
    jobSeq: job.seq,
    node: job.node,
    enqueuedAt: job.enqueuedAt,
    queue: job.lane.queue.name,
    name: job.lane.name,
    at,
    run,
    attempt,
    ...(error !== undefined && { error }),
    ...(value !== undefined && (type === 'progress' ? { fraction: value } : { runAt: value })),
  }
}

/** Adds the details of errors to events. Only current listeners get them: a reader of the journal never does. */
function withErrors(events: readonly JournalEvent[], notes: Effects['events']): readonly JournalEvent[] {
  return events.map((event, index) => {
    const note = notes[index]
    if (note?.job === undefined || note.failure === undefined) return event
    const { message, code, cause } = note.failure
    return { ...event, message, ...(code !== undefined && { code }), ...(cause !== undefined && { cause }) }
  })
}
