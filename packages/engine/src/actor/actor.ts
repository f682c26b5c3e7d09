/**
 * The actor owns the store, the tables and the clock, and takes turns: what has arrived is decided, written in one
 * transaction, and only then answered. Nothing here knows of threads or sockets: connections bring requests and take
 * deliveries.
 */
import {
  awaited,
  type Calendar,
  type Clock,
  type ConnectionId,
  type Delivery,
  dismiss,
  Effects,
  forgetHolders,
  HELD,
  isQuestion,
  keepHolders,
  LIMITS,
  loadTables,
  type Now,
  type Random,
  type Refusal,
  Refused,
  type Reply,
  type Request,
  type Settings,
  type Store,
  StoreFailure,
  setHolder,
  type Tables,
} from '@millrace/core'
import { Answers, describe } from './answers.ts'
import { Deliveries } from './deliveries.ts'
import { Drains } from './drains.ts'
import { Exporters } from './exporters.ts'
import { ActorFailure } from './failure.ts'
import { Followers } from './followers.ts'
import { Housekeeping } from './housekeeping.ts'
import { Intake } from './intake.ts'
import { Meter } from './meter.ts'
import { nextTurnMs } from './next.ts'
import { type Decided, type Letter, type TurnParts, takeTurn } from './turn.ts'
import { Watches } from './watches.ts'
import { jobsOf } from './weight.ts'

export interface ActorOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly settings: Settings
  /** Sessions that may come back for the jobs on record for them: those of this very process. */
  readonly alive: ReadonlySet<string>
}

export class Actor {
  readonly store: Store
  readonly meter = new Meter()
  readonly calendar: Calendar
  readonly #clock: Clock
  readonly #parts: TurnParts
  readonly watches = new Watches()
  readonly followers = new Followers()
  readonly exporters = new Exporters()
  readonly drains = new Drains()
  readonly #answers: Answers
  readonly #connections = new Map<ConnectionId, (delivery: Delivery) => void>()
  readonly #subscribed = new Set<ConnectionId>()
  /** Sessions that are dead while the end of their connection is yet to be heard of. */
  readonly #dead = new Map<string, ConnectionId>()
  readonly #housekeeping: Housekeeping
  #tables: Tables
  /** When they were loaded. */
  #loaded: Now
  #mail: Letter[] = []
  #nextConnection = 1
  readonly #intake: Intake
  #busySinceMono = -1
  /** When the lock is tried again. */
  #busyUntilMono = 0
  /** The tables were loaded anew, and nothing has been written since. */
  #unwritten = false
  /** When sessions are asked to attach again. */
  #reattachMono = Number.POSITIVE_INFINITY
  /** The last turn could not be written: time alone sets off no other before. */
  #retryMono = Number.NEGATIVE_INFINITY

  constructor({ store, clock, random, settings, alive }: ActorOptions) {
    this.store = store
    this.calendar = settings.calendar
    this.#clock = clock
    this.#answers = new Answers(this, clock)
    this.#loaded = clock.read()
    this.#tables = loadTables(store, alive, this.#loaded)
    this.#housekeeping = new Housekeeping(settings.retention, this.#loaded)
    this.#parts = { store, clock, random, settings, housekeeping: this.#housekeeping, meter: this.meter }
    this.#intake = new Intake(store)
    // Where there is no room for it now, a full disk has less to give; that is no reason not to start.
    store.restoreBallast()
  }

  get tables(): Tables {
    return this.#tables
  }

  get draining(): boolean {
    return this.#intake.refusal !== undefined
  }

  get now(): Now {
    return this.#clock.read()
  }

  /** What is still to be decided or answered. */
  get mailboxDepth(): number {
    return this.#mail.length + this.#answers.waiting
  }

  get hasMail(): boolean {
    return this.mailboxDepth > 0
  }

  /** Questions that the last turn had no time for. */
  get unanswered(): number {
    return this.#answers.waiting
  }

  connect(deliver: (delivery: Delivery) => void): ConnectionId {
    const connection = this.#nextConnection++
    this.#connections.set(connection, deliver)
    return connection
  }

  /**
   * The other side is gone: sessions of this process have lost their jobs from the next turn on, one that is only about to attach
   * too; those of others are away, and keep theirs for their leases.
   */
  disconnect(connection: ConnectionId): void {
    this.#connections.delete(connection)
    this.#subscribed.delete(connection)
    this.forget(connection)
    this.#mail = this.#mail.map((letter) => (letter.connection === connection ? { ...letter, gone: true } : letter))
    const tables = this.#tables
    tables.renewals.delete(connection)
    for (const session of tables.sessions.values()) {
      if (session.connection !== connection) continue
      session.connection = undefined
      tables.weigh(session)
      const { renewedMono, intro } = session
      tables.setLease(
        session,
        intro.local || this.#dead.has(intro.uuid) ? Number.NEGATIVE_INFINITY : Math.min(session.leaseMono, renewedMono + LIMITS.leaseMs),
      )
    }
    for (const [uuid, of] of this.#dead) if (of === connection) this.#dead.delete(uuid)
  }

  /** One question of a connection, or all of them, is given up: nobody waits for its answer. */
  forget(connection: ConnectionId, request?: number): void {
    this.#answers.forget(connection, request)
    this.watches.forget(connection, request)
    this.followers.forget(connection, request)
    this.exporters.forget(connection, request)
    this.drains.forget(connection, request)
  }

  /** The process of these sessions is dead: nobody comes back for what they run. */
  bury(sessions: readonly string[]): void {
    for (const uuid of sessions) {
      const session = this.#tables.sessions.get(uuid)
      if (session?.connection === undefined) {
        if (session !== undefined) this.#tables.setLease(session, Number.NEGATIVE_INFINITY)
        else dismiss(this.#tables, uuid)
      } else this.#dead.set(uuid, session.connection)
    }
  }

  receive(connection: ConnectionId, requests: readonly Request[]): void {
    const atMono = this.#clock.read().mono
    for (const request of requests) this.#mail.push({ connection, request, atMono })
  }

  /** Takes one turn, and answers in how many milliseconds the next is due at the latest: 0 for at once. */
  turn(): number {
    const now = this.#clock.read()
    // Each attempt on a locked file loads the tables and asks all sessions to attach again: their answers are not to bring on the next.
    const lockedMs = this.#busySinceMono < 0 ? 0 : this.#busyUntilMono - now.mono
    if (lockedMs > 0) return lockedMs
    if (now.mono >= this.#reattachMono) this.#askToAttach()
    this.#answers.beginTurn()
    const unanswered = this.#answers.waiting > 0
    if (unanswered && this.#mail.length === 0 && now.mono < this.#retryMono) return this.#onlyAnswer(now)
    const mail = this.#takeMail()
    this.#retryMono = Number.NEGATIVE_INFINITY
    this.#intake.look(now)
    const decided = this.#decideSafely(mail, now)
    if (decided !== undefined) this.#deliver(mail, decided)
    this.#answerBacklog(unanswered)
    if (decided !== undefined && mail.length === 0 && !this.hasMail && decided.effects.events.length === 0) this.#shrink(now)
    const after = this.#clock.read()
    if (this.hasMail) return this.#busySinceMono >= 0 ? BUSY_RETRY_MS : 0
    const dueMs = Math.min(nextTurnMs(this.#tables, after), this.#housekeeping.nextMs(after))
    return Math.min(Math.max(dueMs, this.#retryMono - after.mono), this.#intake.nextMs, Math.max(0, this.#reattachMono - after.mono))
  }

  /** A turn that is not to be tried again yet is no reason for questions to wait. */
  #onlyAnswer(now: Now): number {
    this.#answerBacklog(true)
    return this.#answers.waiting > 0 ? 0 : this.#retryMono - now.mono
  }

  #decide(mail: readonly Letter[], now: Now): Decided {
    this.#answers.outdate()
    const heardMono = Math.min(now.mono, this.#mail[0]?.atMono ?? now.mono)
    return takeTurn(this.#parts, this.#tables, mail, now, heardMono, this.#intake.refusal)
  }

  /** A turn, with what is to be done when it fails; undefined where its mail is answered, or put off, already. */
  #decideSafely(mail: readonly Letter[], now: Now): Decided | undefined {
    try {
      const decided = this.#decide(mail, now)
      this.#succeeded(decided)
      return decided
    } catch (error) {
      this.meter.failedTurns++
      if (error instanceof StoreFailure && error.phase !== 'broken') return this.#storeFailed(mail, now, error)
      return this.#oneByOne(mail, error)
    }
  }

  #storeFailed(mail: readonly Letter[], now: Now, error: StoreFailure): Decided | undefined {
    this.#retryMono = this.#clock.read().mono + FAILED_RETRY_MS
    if (error.reason === 'owner') throw new ActorFailure({ code: 'OWNER_LOST', message: error.message }, { cause: error })
    if (error.phase === 'commit') {
      this.#reload(mail, () => this.store.reopen())
      const message = `the commit's outcome is unknown (${error.message}): the call may have happened; repeat it with the same idempotencyKey`
      // Who only asks would ask again at once, and set off a turn that fails as this one did.
      this.#refuse(mail, { code: 'COMMIT_UNKNOWN', message })
      return undefined
    }
    this.#reload(mail)
    if (error.reason === 'busy') return this.#storeBusy(mail, now, error)
    if (error.reason === 'full' && this.#intake.diskIsFull(now)) return this.#decideSafely(mail, this.#loaded)
    const message = `nothing was written: ${error.message}`
    this.#refuse(mail, error.reason === 'full' ? this.#intake.diskFull(message) : { code: 'STORAGE', message })
    return undefined
  }

  /** Another program holds the lock (a shell, a replicator): the mail waits for some turns before it is refused. */
  #storeBusy(mail: readonly Letter[], now: Now, error: StoreFailure): undefined {
    if (this.#busySinceMono < 0) this.#busySinceMono = now.mono
    if (now.mono - this.#busySinceMono < BUSY_PATIENCE_MS) {
      this.#busyUntilMono = now.mono + BUSY_RETRY_MS
      this.#mail = [...mail, ...this.#mail]
      return
    }
    this.#busySinceMono = -1
    const message = `another program has held the file's write lock for ${BUSY_PATIENCE_MS} ms: ${error.message}`
    this.#refuse(mail, { code: 'STORAGE_BUSY', message })
  }

  /** Nothing depends on it: what fails before its commit is tried again in its time, and the tables are as true as before. */
  #shrink(now: Now): void {
    try {
      this.#housekeeping.shrink(this.store, now)
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      if (error.reason === 'owner' || error.phase === 'commit') this.#storeFailed([], now, error)
      else if (error.phase === 'broken') throw new ActorFailure({ code: 'INTERNAL', message: describe(error) }, { cause: error })
    }
  }

  /**
   * One command's fault: each is decided again in a transaction of its own, and only the culprit is refused. Their time is that of
   * the last reload: leases and deadlines count from there, and what is said in the rest of the mail is heard before any ends.
   */
  #oneByOne(mail: readonly Letter[], cause: unknown): undefined {
    this.#reload(mail)
    if (mail.length === 0) throw new ActorFailure({ code: 'INTERNAL', message: describe(cause) }, { cause })
    for (const [index, letter] of mail.entries()) {
      const now = this.#loaded
      const decided = this.#decideAlone(letter, now)
      if (decided !== undefined) this.#deliver([letter], decided)
      // Refused it is gone, also where an earlier turn waits for the lock since.
      if (this.#mail[0] !== letter) continue
      // It waits for the lock, in front: those after it keep their place.
      this.#mail.splice(1, 0, ...mail.slice(index + 1))
      return
    }
  }

  #decideAlone(letter: Letter, now: Now): Decided | undefined {
    try {
      const decided = this.#decide([letter], now)
      this.#succeeded(decided)
      return decided
    } catch (error) {
      this.meter.failedTurns++
      if (error instanceof StoreFailure && error.phase !== 'broken') return this.#storeFailed([letter], now, error)
      this.#reload([letter])
      this.#refuse([letter], { code: 'INTERNAL', message: describe(error) })
      return undefined
    }
  }

  /** Tables that ran ahead of the disk are thrown away; every session is asked to say again what it holds. */
  #reload(mail: readonly Letter[], reopen?: () => void): void {
    const alive = this.#aliveBefore(mail)
    const before = this.#tables
    try {
      reopen?.()
      // Read anew: a commit that took seconds to fail takes nothing of the grace that sessions have to come back.
      this.#loaded = this.#clock.read()
      this.#tables = loadTables(this.store, alive, this.#loaded)
    } catch (cause) {
      const code = cause instanceof StoreFailure && cause.reason === 'owner' ? 'OWNER_LOST' : 'STORAGE'
      throw new ActorFailure({ code, message: describe(cause) }, { cause })
    }
    // Their connections are what they were: until they have attached again, renewals count.
    for (const [uuid, { connection }] of before.sessions) {
      const session = this.#tables.sessions.get(uuid)
      if (session !== undefined) session.connection = connection
    }
    keepHolders(this.#tables, before)
    for (const [connection, renewal] of before.renewals) this.#tables.renewals.set(connection, renewal)
    this.meter.reloads++
    // Where the store fails again and again, what sessions answer is not to bring on the next failure at once.
    if (this.#unwritten) this.#reattachMono = this.#clock.read().mono + Math.min(FAILED_RETRY_MS, LIMITS.reattachGraceMs / 10)
    else this.#askToAttach()
    this.#unwritten = true
    this.watches.recheck(this.store, (connection, reply) => this.#post(connection, { replies: [reply] }))
    this.drains.settle(this.#tables, (connection, reply) => this.#post(connection, { replies: [reply] }))
    this.#answers.askAgain([...this.followers.takeAll(), ...this.exporters.takeAll()])
  }

  #askToAttach(): void {
    this.#reattachMono = Number.POSITIVE_INFINITY
    for (const connection of this.#connections.keys()) this.#post(connection, { notices: [{ kind: 'reattach' }] })
  }

  #succeeded({ effects }: Decided): void {
    this.#busySinceMono = -1
    forgetHolders(this.#tables)
    if (!this.#unwritten || effects.empty) return
    this.#unwritten = false
    if (this.#reattachMono < Number.POSITIVE_INFINITY) this.#askToAttach()
  }

  /** The sessions that were there before the turn that failed: one that wanted to leave has not left. */
  #aliveBefore(mail: readonly Letter[]): ReadonlySet<string> {
    const alive = new Set([...this.#tables.unattached.keys(), ...awaited(this.#tables)])
    for (const [uuid, session] of this.#tables.sessions) if (session.intro.local && session.connection !== undefined) alive.add(uuid)
    for (const { request } of mail) if (request.command.op === 'leave') alive.add(request.command.session)
    return alive
  }

  #takeMail(): readonly Letter[] {
    let jobs = 0
    let count = 0
    for (const { request } of this.#mail) {
      if (jobs >= LIMITS.jobsPerTurn) break
      count++
      jobs += jobsOf(request.command)
    }
    if (count === this.#mail.length) {
      const mail = this.#mail
      this.#mail = []
      return mail
    }
    return this.#mail.splice(0, count)
  }

  #deliver(mail: readonly Letter[], { decisions, effects, now }: Decided): void {
    const deliveries = new Deliveries(this.#tables, effects, now, this.#subscribed)
    const events = this.followers.any ? deliveries.events : []
    // Before this turn's questions: who asks now finds these events in the journal.
    this.followers.tell(events, (connection, reply) => deliveries.push(connection, reply))
    this.#answers.askAgain([...this.exporters.take(effects.events, this.#tables.nextEvent - 1), ...this.exporters.end(effects.exportsGone)])
    for (const [index, { connection, request, gone }] of mail.entries()) {
      const decision = decisions[index]
      // Nobody is left to wait for what may come.
      if (decision === HELD && gone) continue
      if (decision === HELD) this.#answers.inTime(deliveries, { connection, request })
      else if (decision instanceof Refused) deliveries.refuse(connection, request.id, decision.refusal)
      else deliveries.reply(connection, request.id, decision)
    }
    deliveries.add()
    this.watches.settle(effects, (connection, reply) => deliveries.push(connection, reply))
    this.drains.settle(this.#tables, (connection, reply) => deliveries.push(connection, reply))
    this.#send(deliveries)
  }

  /** What earlier turns had no time for. */
  #answerBacklog(atLeastOne: boolean): void {
    if (this.#answers.waiting === 0) return
    const deliveries = new Deliveries(this.#tables, new Effects(), this.#loaded, this.#subscribed)
    this.#answers.rest(deliveries, atLeastOne)
    this.#send(deliveries)
  }

  #send({ byConnection }: Deliveries): void {
    for (const [connection, delivery] of byConnection) this.#connections.get(connection)?.(delivery)
  }

  /**
   * Of a turn that was not written, after the reload: whoever only asks is answered, from the file. An attach is refused, and
   * heard: what comes behind it on its connection is its session's.
   */
  #refuse(mail: readonly Letter[], refusal: Refusal): void {
    const deliveries = new Deliveries(this.#tables, new Effects(), this.#loaded, this.#subscribed)
    for (const { connection, request, gone } of mail) {
      if (request.command.op === 'attach') setHolder(this.#tables, request.command.session.uuid, connection)
      if (!gone && isQuestion(request.command)) this.#answers.inTime(deliveries, { connection, request })
      else deliveries.refuse(connection, request.id, refusal)
    }
    this.#send(deliveries)
  }

  /** Whether a connection hears of events as they happen. */
  subscribe(connection: ConnectionId, on: boolean): void {
    if (on) this.#subscribed.add(connection)
    else this.#subscribed.delete(connection)
  }

  /** An answer that comes when its turn is long over. */
  answerLate(connection: ConnectionId, reply: Reply): void {
    this.#post(connection, { replies: [reply] })
  }

  #post(connection: ConnectionId, { replies = [], notices = [] }: Partial<Pick<Delivery, 'replies' | 'notices'>>): void {
    this.#connections.get(connection)?.({ replies, notices, grants: [], events: [], renewal: this.#tables.renewals.get(connection) ?? 0 })
  }
}

const BUSY_PATIENCE_MS = 5_000
const BUSY_RETRY_MS = 25
const FAILED_RETRY_MS = 250
