/** What one turn has for each connection: collected after the commit, posted once. */
import {
  attemptOf,
  type ConnectionId,
  type Delivery,
  type Effects,
  type EventNote,
  type Grant,
  type Job,
  type JournalEvent,
  type NewsNote,
  type Notice,
  type Now,
  type Refusal,
  type Reply,
  type Session,
  type Tables,
} from '@millrace/core'

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

  /** The turn's, made when somebody is to hear of them. */
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
      // Away, it is told what is lost when it names what it holds.
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
  }
}

function eventOf(note: EventNote | NewsNote, seq: number, at: number): JournalEvent {
  if (note.job === undefined) return { seq, at, ...note.news }
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

/** What errors say is for those who listen now: a reader of the journal finds it nowhere, whenever it reads. */
function withErrors(events: readonly JournalEvent[], notes: Effects['events']): readonly JournalEvent[] {
  return events.map((event, index) => {
    const note = notes[index]
    if (note?.job === undefined || note.failure === undefined) return event
    const { message, code, cause } = note.failure
    return { ...event, message, ...(code !== undefined && { code }), ...(cause !== undefined && { cause }) }
  })
}
