/**
 * The actor owns the store, the tables and the clock, and takes turns: commands that have arrived are decided, written in
 * one transaction, and only then answered. It knows nothing of threads or sockets: connections bring requests and take
 * deliveries.
 */
import {
  type Calendar,
  type Clock,
  DEFERRED,
  isQuestion,
  LIMITS,
  type Now,
  type OwnerStats,
  type Random,
  type Refusal,
  Refused,
  type Reply,
  type Request,
  type Retention,
  type Vitals,
} from '@millrace/core'
import {
  type ConnectionId,
  type Decided,
  dismiss,
  Effects,
  nextTurnMs,
  type Settings,
  type Store,
  setHolder,
  type Tables,
  type TurnParts,
  takeTurn,
} from '@millrace/core/kernel'
import { Admission } from './admission.ts'
import { Answers } from './answers.ts'
import { Connections, type Deliver } from './connections.ts'
import { Deliveries } from './deliveries.ts'
import { Failures } from './failures.ts'
import { Housekeeping } from './housekeeping.ts'
import { type Arrived, Inbox } from './inbox.ts'
import { Memory } from './memory.ts'
import { Meter } from './meter.ts'
import { Waiters } from './waiters/waiters.ts'
import type { Post } from './waiters/waitingRoom.ts'

export interface ActorOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly settings: Settings
  /** Sessions that may come back for the jobs recorded for them: those of this process. */
  readonly alive: ReadonlySet<string>
  /** The version of the engine, which workers of its process run too; undefined if it is unknown. */
  readonly version?: string | undefined
  /** The process that owns the store; undefined if there is none to name. */
  readonly owner?: OwnerStats | undefined
  /** Logs a warning. Default: nothing is logged. */
  readonly warn?: Warn | undefined
}

export type Warn = (message: string, details: Readonly<Record<string, unknown>>) => void

const INVARIANT_BROKEN =
  'a turn has failed, because the tables in memory contradicted themselves: they are loaded again from the store. Please report this as a bug'

export class Actor {
  readonly store: Store
  readonly meter = new Meter()
  readonly calendar: Calendar
  readonly retention: Retention
  readonly version: string | undefined
  readonly owner: OwnerStats | undefined
  readonly waiters = new Waiters()
  readonly #clock: Clock
  readonly #parts: TurnParts
  readonly #memory: Memory
  readonly #admission: Admission
  readonly #housekeeping: Housekeeping
  readonly #answers: Answers
  readonly #failures: Failures
  readonly #connections = new Connections()
  readonly #inbox = new Inbox()
  /** Sessions of dead processes, until the end of their connection arrives. */
  readonly #dead = new Map<string, ConnectionId>()
  readonly #warn: Warn | undefined
  readonly #post: Post = (connection, reply) => this.answerLate(connection, reply)

  constructor({ store, clock, random, settings, alive, version, owner, warn }: ActorOptions) {
    this.#warn = warn
    this.store = store
    this.calendar = settings.calendar
    this.retention = settings.retention
    this.version = version
    this.owner = owner
    this.#clock = clock
    this.#answers = new Answers(this, clock)
    this.#memory = new Memory(store, clock, alive)
    this.#housekeeping = new Housekeeping(settings.retention, this.#memory.loadedAt)
    this.#parts = { store, clock, random, settings, upkeep: this.#housekeeping, meter: this.meter }
    this.#admission = new Admission(store.care)
    this.#failures = new Failures({
      store,
      clock,
      meter: this.meter,
      admission: this.#admission,
      memory: this.#memory,
      inbox: this.#inbox,
      decide: (mail, now) => this.#decide(mail, now),
      deliver: (mail, decided) => this.#deliver(mail, decided),
      refuse: (mail, refusal) => this.#refuse(mail, refusal),
      reloaded: () => this.#answers.askAgain(this.waiters.reloaded(store, this.tables, this.#post)),
      askToAttach: () => this.#askToAttach(),
      invariantBroken: (invariant) => this.#warn?.(INVARIANT_BROKEN, { invariant }),
    })
    // If a full disk has no room for the ballast, less can be released later. That is no reason not to start.
    store.care?.restoreBallast()
  }

  get tables(): Tables {
    return this.#memory.tables
  }

  get draining(): boolean {
    return this.#admission.refusal !== undefined
  }

  get now(): Now {
    return this.#clock.read()
  }

  /** The number of requests that are still to be decided or answered. */
  get mailboxDepth(): number {
    return this.#inbox.size + this.#answers.waiting
  }

  get hasMail(): boolean {
    return this.mailboxDepth > 0
  }

  /** The number of questions that the last turn had no time for. */
  get unanswered(): number {
    return this.#answers.waiting
  }

  connect(deliver: Deliver): ConnectionId {
    return this.#connections.add(deliver)
  }

  /** Sets whether a connection receives events as they happen. */
  subscribe(connection: ConnectionId, on: boolean): void {
    this.#connections.subscribe(connection, on)
  }

  /**
   * Handles the end of a connection. Sessions of this process lose their jobs from the next turn on, even one that is
   * about to attach. Sessions of other processes are away, and keep their jobs for their leases.
   */
  disconnect(connection: ConnectionId): void {
    this.#connections.remove(connection)
    this.forget(connection)
    this.#inbox.close(connection)
    const { tables } = this
    tables.renewals.delete(connection)
    tables.vitals.delete(connection)
    for (const session of tables.sessions.values()) {
      if (session.connection !== connection) continue
      session.connection = undefined
      tables.weigh(session)
      const { renewedMono, intro } = session
      const isLost = intro.local || this.#dead.has(intro.uuid)
      tables.setLease(session, isLost ? Number.NEGATIVE_INFINITY : Math.min(session.leaseMono, renewedMono + LIMITS.leaseMs))
    }
    for (const [uuid, of] of this.#dead) if (of === connection) this.#dead.delete(uuid)
  }

  /** Drops one question of a connection, or all of them, because nobody waits for the answers any more. */
  forget(connection: ConnectionId, request?: number): void {
    this.#answers.forget(connection, request)
    this.waiters.forget(connection, request)
  }

  /** Reports that the process of these sessions is dead: they do not come back for their runs. */
  declareDead(sessions: readonly string[]): void {
    for (const uuid of sessions) {
      const session = this.tables.sessions.get(uuid)
      if (session === undefined) dismiss(this.tables, uuid)
      else if (session.connection === undefined) this.tables.setLease(session, Number.NEGATIVE_INFINITY)
      else this.#dead.set(uuid, session.connection)
    }
  }

  receive(connection: ConnectionId, requests: readonly Request[]): void {
    this.#inbox.add(connection, requests, this.#clock.read().mono)
  }

  /** Takes the report of a process. It waits for no turn, and causes none. */
  note(connection: ConnectionId, vitals: Vitals): void {
    this.tables.vitals.set(connection, vitals)
  }

  /** Takes one turn. Returns the number of milliseconds after which the next is due at the latest; 0 means at once. */
  turn(): number {
    const now = this.#clock.read()
    const failures = this.#failures
    // Each attempt on a locked file loads the tables and asks all sessions to attach again. Their answers must not cause
    // the next attempt.
    const lockedMs = failures.lockedMs(now)
    if (lockedMs > 0) return lockedMs
    failures.askToAttachInTime(now)
    this.#answers.beginTurn()
    const unanswered = this.#answers.waiting > 0
    if (unanswered && this.#inbox.size === 0 && failures.restMs(now) > 0) return this.#onlyAnswer(now)
    try {
      this.#admission.look(now)
    } catch (error) {
      failures.failedBeside(error, now)
    }
    const mail = this.#inbox.take()
    const decided = failures.take(mail, now)
    if (decided !== undefined) this.#deliver(mail, decided)
    const news = this.#admission.isOpen ? undefined : this.#admission.news
    if (news !== undefined) this.#warn?.(news.message, news.details)
    if (this.#answers.waiting > 0) this.#answerBacklog(unanswered)
    if (decided !== undefined && mail.length === 0 && !this.hasMail && decided.effects.events.length === 0) this.#shrink(now)
    if (this.hasMail) return failures.mailMs
    const after = this.#clock.read()
    const dueMs = Math.min(nextTurnMs(this.tables, after), this.#housekeeping.nextMs(after))
    return Math.min(
      Math.max(dueMs, failures.restMs(after)),
      this.#admission.isOpen ? LIMITS.timerSliceMs : this.#admission.nextMs,
      failures.reattachMs(after),
    )
  }

  /** Answers questions while a failed turn is not to be tried again yet. */
  #onlyAnswer(now: Now): number {
    if (this.#answers.waiting > 0) this.#answerBacklog(true)
    return this.#answers.waiting > 0 ? 0 : this.#failures.restMs(now)
  }

  #decide(mail: readonly Arrived[], now: Now): Decided {
    this.#answers.outdate()
    const heardMono = Math.min(now.mono, this.#inbox.sinceMono ?? now.mono)
    const refusing = this.#admission.isOpen ? undefined : this.#admission.refusal
    return takeTurn(this.#parts, { tables: this.tables, mail, now, heardMono, refusing })
  }

  #deliver(mail: readonly Arrived[], { decisions, effects, now }: Decided): void {
    const deliveries = new Deliveries(this.tables, effects, now, this.#connections.subscribed)
    const post: Post = (connection, reply) => deliveries.push(connection, reply)
    const repeated = this.waiters.committed(effects, this.tables.nextEvent - 1, () => deliveries.events, post)
    if (repeated.length > 0) this.#answers.askAgain(repeated)
    this.#answers.beginQuestions(mail, decisions)
    for (const [index, { connection, request, gone }] of mail.entries()) {
      const decision = decisions[index]
      // Nobody is left to wait for a later answer.
      if (decision === DEFERRED && gone) continue
      if (decision === DEFERRED) this.#answers.inTime(deliveries, { connection, request })
      else if (decision instanceof Refused) deliveries.refuse(connection, request.id, decision.refusal)
      else deliveries.reply(connection, request.id, decision)
    }
    this.#answers.endQuestions()
    deliveries.add()
    this.waiters.settle(effects, this.tables, post)
    this.#connections.send(deliveries)
  }

  /** Answers questions that earlier turns had no time for. */
  #answerBacklog(atLeastOne: boolean): void {
    const deliveries = this.#noDeliveries()
    this.#answers.rest(deliveries, atLeastOne)
    this.#connections.send(deliveries)
  }

  /**
   * Answers the mail of a turn that was not written, after the reload. A question is answered from the file. An attach is
   * refused but noted: later requests on its connection belong to its session.
   */
  #refuse(mail: readonly Arrived[], refusal: Refusal): void {
    const deliveries = this.#noDeliveries()
    for (const { connection, request, gone } of mail) {
      if (request.command.op === 'attach') setHolder(this.tables, request.command.session.uuid, connection)
      if (!gone && isQuestion(request.command)) this.#answers.inTime(deliveries, { connection, request })
      else deliveries.refuse(connection, request.id, refusal)
    }
    this.#connections.send(deliveries)
  }

  #noDeliveries(): Deliveries {
    return new Deliveries(this.tables, new Effects(), this.#memory.loadedAt, this.#connections.subscribed)
  }

  #shrink(now: Now): void {
    if (this.store.care === undefined) return
    try {
      this.#housekeeping.shrink(this.store.care, now)
    } catch (error) {
      this.#failures.failedBeside(error, now)
    }
  }

  #askToAttach(): void {
    for (const connection of this.#connections.all)
      this.#connections.post(connection, { notices: [{ kind: 'reattach' }], renewal: this.#renewal(connection) })
  }

  /** Answers a request whose turn ended long ago. */
  answerLate(connection: ConnectionId, reply: Reply): void {
    this.#connections.post(connection, { replies: [reply], renewal: this.#renewal(connection) })
  }

  #renewal(connection: ConnectionId): number {
    return this.tables.renewals.get(connection) ?? 0
  }
}
