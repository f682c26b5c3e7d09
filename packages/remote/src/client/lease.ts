/**
 * The runs that a worker in another process may still treat as its own. It says "I live" again and again (`renew`), and every
 * delivery names the last of these that the engine had counted. A lease runs from when that one was *sent*, on this process's
 * own clock: no delay on the way can make it longer here than there. Held in memory; no sockets, no timers but the clock's.
 */
import { type AttachCommand, type Clock, type Delivery, type Grant, LIMITS, leaseMs, type Reply, type Request } from '@millrace/core'
import type { VitalSigns } from '@millrace/worker'

/** The part of a lease that counts here: two clocks differ in speed, so a lease ends slightly earlier here than in the engine. */
const MARGIN = 0.95
/** The number of renewals within the shortest lease. */
const PARTS = 4
const RENEW_MIN_MS = 50
const RENEW_MAX_MS = 15_000
/** The ratio of the steps in which runs with longer leases end while the silence lasts, each before its time. */
const STEP = 1.04
const STEP_MIN_MS = 10

export interface LeaseOptions {
  readonly clock: Clock
  /** Sends the lease's own requests: their numbers are negative, and only the lease sees the answers. */
  readonly send: (requests: readonly Request[]) => void
  /** Called when runs with leases of this many milliseconds or less may belong to another worker by now. */
  readonly lapsed: (ms: number) => void
  /** The figures of this process, which ride in renewals. Default none. */
  readonly vitals?: Pick<VitalSigns, 'begin' | 'end' | 'takeDue'>
}

interface Renewal {
  readonly number: number
  readonly sentMono: number
}

export class Lease {
  readonly #options: LeaseOptions
  /** Sessions that live here, each with true if the engine has it on this connection. */
  readonly #sessions = new Map<string, boolean>()
  /** Sessions by the request that attaches them, until it is answered. */
  readonly #attaching = new Map<number, string>()
  /** Renewals sent on this connection and not counted yet, oldest first. */
  #sent: Renewal[] = []
  /** The last renewal that was counted on this connection; 0 is its greeting. */
  #counted: Renewal = { number: 0, sentMono: 0 }
  #renewals = 0
  #open = false
  #nextId = -1
  #unanswered = 0
  /** The last time at which the engine knew that all sessions lived. */
  #knownMono = 0
  #shortestMs: number = LIMITS.leaseMs
  /** The length of silence at which the next runs end. */
  #silenceMs = MARGIN * LIMITS.leaseMs
  #renewedMono = 0
  #cancel: (() => void) | undefined
  #wakeMono = Number.POSITIVE_INFINITY

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Starts to renew on a new connection, whose greeting was sent at `greetedMono`. */
  opened(greetedMono: number): void {
    // The timer may be late, and is set again below: a process that was stopped must not continue for that long.
    this.#look(this.#options.clock.read().mono)
    this.#open = true
    this.#sent = []
    this.#renewals = 0
    this.#counted = { number: 0, sentMono: greetedMono }
    if (this.#sessions.size > 0) this.#options.vitals?.begin()
    this.#arm()
  }

  /** Called when the connection is lost: until a session has attached again, it is not known to live. */
  broken(): void {
    this.#open = false
    this.#unanswered = 0
    this.#attaching.clear()
    this.#doubt()
    this.#arm()
  }

  /** Returns the requests to send, with a renewal in front if one of them is an `attach`. */
  outgoing(requests: readonly Request[]): readonly Request[] {
    let before: Request | undefined
    for (const { id, command } of requests) {
      if (command.op === 'leave') this.#left(command.session)
      else if (command.op === 'attach') {
        this.#attached(id, command)
        before ??= this.#renewal()
      }
    }
    return before === undefined ? requests : [before, ...requests]
  }

  /** Returns the delivery without the lease's own replies and without grants that came too late; undefined if nothing is left. */
  incoming(delivery: Delivery): Delivery | undefined {
    const { mono } = this.#options.clock.read()
    if (this.#sessions.size === 0 && this.#unanswered === 0) return delivery
    // Checked first: a process that was stopped must not continue as if no time had passed.
    this.#look(mono)
    const replies = this.#attaching.size === 0 && this.#unanswered === 0 ? delivery.replies : this.#read(delivery.replies)
    if (delivery.notices.some(({ kind }) => kind === 'reattach')) this.#doubt()
    this.#count(delivery.renewal)
    const grants = this.#inTime(delivery.grants, mono)
    this.#arm()
    if (replies.length + grants.length + delivery.notices.length + delivery.events.length === 0) return undefined
    return replies === delivery.replies && grants === delivery.grants ? delivery : { ...delivery, replies, grants }
  }

  close(): void {
    this.#sessions.clear()
    this.#rest()
  }

  #attached(id: number, { session: { uuid } }: AttachCommand): void {
    if (this.#sessions.size === 0) {
      const { mono } = this.#options.clock.read()
      this.#knownMono = mono
      this.#renewedMono = mono
      this.#shortestMs = LIMITS.leaseMs
      this.#silenceMs = MARGIN * LIMITS.leaseMs
      this.#options.vitals?.begin()
    }
    this.#attaching.set(id, uuid)
    // A new session has no runs yet that could count as lost.
    if (!this.#sessions.has(uuid)) this.#sessions.set(uuid, true)
  }

  #left(uuid: string): void {
    this.#sessions.delete(uuid)
    if (this.#sessions.size === 0) this.#rest()
  }

  /** Renews and measures nothing until there is a session again. */
  #rest(): void {
    this.#options.vitals?.end()
    this.#arm()
  }

  /** Marks all sessions as possibly unknown to the engine: until their attach is answered, renewals say nothing about them. */
  #doubt(): void {
    for (const uuid of this.#sessions.keys()) this.#sessions.set(uuid, false)
  }

  #renewal(): Request {
    const { mono } = this.#options.clock.read()
    this.#renewedMono = mono
    this.#renewals++
    this.#sent.push({ number: this.#renewals, sentMono: mono })
    this.#unanswered++
    this.#arm()
    const vitals = this.#options.vitals?.takeDue(mono)
    return { id: this.#nextId--, command: { op: 'renew', renewal: this.#renewals, ...(vitals !== undefined && { vitals }) } }
  }

  #read(replies: readonly Reply[]): readonly Reply[] {
    return replies.filter(({ id, refusal }) => {
      if (id < 0) {
        this.#unanswered--
        return false
      }
      const uuid = this.#attaching.get(id)
      if (uuid === undefined) return true
      this.#attaching.delete(id)
      if (refusal === undefined && this.#sessions.has(uuid)) this.#sessions.set(uuid, true)
      return true
    })
  }

  #count(number: number): void {
    while (this.#sent[0] !== undefined && this.#sent[0].number <= number) this.#counted = this.#sent.shift() as Renewal
    if (this.#counted.sentMono <= this.#knownMono) return
    for (const attached of this.#sessions.values()) if (!attached) return
    this.#knownMono = this.#counted.sentMono
    this.#silenceMs = MARGIN * this.#shortestMs
  }

  /** Returns the grants whose lease has not passed on the way. The others go back, and come again with a newer renewal. */
  #inTime(grants: readonly Grant[], nowMono: number): readonly Grant[] {
    const age = nowMono - this.#counted.sentMono
    let late: Grant[] | undefined
    for (const grant of grants) {
      const lease = leaseMs(grant.heartbeatTimeout)
      if (lease < this.#shortestMs) this.#shorten(lease)
      if (age >= MARGIN * lease) late = [...(late ?? []), grant]
    }
    if (late === undefined) return grants
    const back = late.map(({ seq, run }): Request => ({ id: this.#nextId--, command: { op: 'giveBack', seq, run } }))
    this.#unanswered += back.length
    this.#options.send([this.#renewal(), ...back])
    const gone = new Set(late)
    return grants.filter((grant) => !gone.has(grant))
  }

  #shorten(lease: number): void {
    this.#shortestMs = lease
    this.#silenceMs = Math.min(this.#silenceMs, MARGIN * lease)
  }

  #look(nowMono: number): void {
    const silence = nowMono - this.#knownMono
    if (this.#sessions.size === 0 || silence < this.#silenceMs) return
    this.#silenceMs = Math.max(silence * STEP, silence + STEP_MIN_MS)
    this.#options.lapsed(this.#silenceMs / MARGIN)
  }

  get #renewMono(): number {
    return this.#open
      ? this.#renewedMono + Math.min(RENEW_MAX_MS, Math.max(RENEW_MIN_MS, this.#shortestMs / PARTS))
      : Number.POSITIVE_INFINITY
  }

  /** Sets one timer, to the next renewal or the next end of runs. A timer that fires too early sets the next. */
  #arm(): void {
    if (this.#sessions.size === 0) {
      this.#cancel?.()
      this.#cancel = undefined
      return
    }
    const dueMono = Math.min(this.#renewMono, this.#knownMono + this.#silenceMs)
    if (this.#cancel !== undefined && this.#wakeMono <= dueMono) return
    this.#cancel?.()
    this.#wakeMono = dueMono
    this.#cancel = this.#options.clock.setTimer(Math.max(1, dueMono - this.#options.clock.read().mono), () => {
      this.#cancel = undefined
      const { mono } = this.#options.clock.read()
      this.#look(mono)
      if (mono >= this.#renewMono) this.#options.send([this.#renewal()])
      this.#arm()
    })
  }
}
