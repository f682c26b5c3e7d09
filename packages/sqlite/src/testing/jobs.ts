/** Builds the input of a turn for the store: jobs, lanes and effects, without the decisions. */
import { ACTIVE, COMPLETED, type Data, DEFAULT_POLICY, isFinal, parsePolicy, SCHEDULED, type StateCode, WAITING } from '@millrace/core'
import {
  DIRTY_COMPLETE,
  DIRTY_INSERT,
  DIRTY_START,
  Effects,
  type Job,
  type JobExtras,
  type Lane,
  newJob,
  newLane,
  newQueue,
  type Queue,
  type Session,
  type TurnHeader,
} from '@millrace/core/kernel'
import type { SqliteStore } from '../store.ts'

export interface JobOptions {
  readonly lane?: Lane
  readonly seq?: number
  /** The key of a job from a producer's journal. */
  readonly origin?: { readonly node: number; readonly enqueuedAt: number }
  readonly state?: StateCode
  readonly priority?: number
  readonly weight?: number
  readonly runAt?: number
  readonly expiresAt?: number
  readonly policy?: string
  readonly extras?: JobExtras
  readonly data?: Data
}

/** A turn as the engine would build it: fill `effects`, then `commit`. */
export class Turns {
  readonly store: SqliteStore
  at: number
  nextSeq = 1
  nextEvent = 1
  nextSession = 1
  effects = new Effects()
  #lanes = new Map<string, Lane>()
  #queues = new Map<string, Queue>()
  readonly #running = new Set<number>()

  constructor(store: SqliteStore, at = 1_700_000_000_000) {
    this.store = store
    this.at = at
    const loaded = store.load()
    this.nextSeq = loaded.nextSeq
    this.nextEvent = loaded.nextEvent
    this.nextSession = loaded.nextSession
  }

  get header(): TurnHeader {
    return {
      at: this.at,
      nextSeq: this.nextSeq,
      nextEvent: this.nextEvent + this.effects.events.length,
      nextSession: this.nextSession,
      mono: 1_000,
      running: () => [...this.#running],
    }
  }

  /** Writes the turn; `during` runs while its transaction is open. */
  commit(during: () => void = () => {}): void {
    const { header, effects } = this
    const midway = {
      ...header,
      get nextSession() {
        during()
        return header.nextSession
      },
    }
    this.store.write(effects, midway)
    effects.clear()
    this.nextEvent = header.nextEvent
    this.effects = new Effects()
    this.at += 1
  }

  lane(name = 'work', queueName = 'default'): Lane {
    const known = this.#lanes.get(`${queueName}/${name}`)
    if (known !== undefined) return known
    let queue = this.#queues.get(queueName)
    if (queue === undefined) {
      queue = newQueue(this.#queues.size + 1, queueName)
      this.#queues.set(queueName, queue)
    }
    const lane = newLane(this.#lanes.size + 1, queue, name)
    this.#lanes.set(`${queueName}/${name}`, lane)
    this.effects.newLanes.push(lane)
    return lane
  }

  session(worker = 'worker-1', uuid = `uuid-${this.nextSession}`): Session {
    const id = this.nextSession++
    const intro = {
      uuid,
      worker,
      host: 'host',
      pid: 7,
      local: true,
      handlers: [],
      minConcurrency: 1,
      maxConcurrency: 1,
      abortGrace: 0,
      lease: 0,
    }
    const session = { id, intro } as unknown as Session
    this.effects.newSessions.push(session)
    return session
  }

  insert(options: JobOptions = {}): Job {
    const { lane = this.lane(), seq = this.nextSeq, priority = 0, weight = 1, runAt = this.at, expiresAt = 0, data = '{"n":1}' } = options
    const state = options.state ?? (runAt > this.at ? SCHEDULED : WAITING)
    const policy = options.policy === undefined ? DEFAULT_POLICY : parsePolicy(options.policy)
    const key = { seq, node: this.store.node, enqueuedAt: this.at, ...options.origin }
    const job = newJob(key, lane, state, { priority, weight, runAt, expiresAt }, policy, options.extras, data)
    this.nextSeq = Math.max(this.nextSeq, seq + 1)
    this.effects.touch(job, DIRTY_INSERT)
    this.effects.countJob(job, 1)
    this.effects.total(lane, 'enqueued')
    this.effects.event('enqueued', job)
    return job
  }

  start(job: Job, session: Session): void {
    this.effects.move(job, 'start', ACTIVE, DIRTY_START)
    job.run++
    job.startedAt = this.at
    job.sessionId = session.id
    this.#running.add(job.seq)
    this.effects.event('started', job)
  }

  complete(job: Job, output: Data = null): void {
    job.output = output
    job.finishedAt = this.at
    this.effects.move(job, 'complete', COMPLETED, DIRTY_COMPLETE)
    this.effects.total(job.lane, 'completed')
    this.effects.event('completed', job)
    this.effects.settled.push(job)
    this.#running.delete(job.seq)
  }

  /** Makes any other move: the caller has set the fields that go with it. */
  move(job: Job, state: StateCode): void {
    this.effects.countJob(job, -1)
    job.state = state
    this.effects.countJob(job, 1)
    this.effects.touch(job)
    if (state === ACTIVE) this.#running.add(job.seq)
    else this.#running.delete(job.seq)
    if (isFinal(state)) this.effects.settled.push(job)
    this.effects.event(state === ACTIVE ? 'started' : isFinal(state) ? 'failed' : 'released', job)
  }
}
