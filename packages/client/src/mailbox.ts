/**
 * Sends calls to a Port and matches the answers. Calls of one tick leave in one post (a burst in several), and every
 * answer finds its call by number. Calls under way are bounded: beyond the bounds they wait here in order. Only new work
 * is ever refused as busy.
 */
import {
  BusyError,
  type Clock,
  type Command,
  type CommandOf,
  errorFrom,
  isPatient,
  LIMITS,
  NumberMap,
  type Operation,
  type Port,
  type Refusal,
  type Reply,
  type ReplyOf,
  type Request,
  traitsOf,
  weighCommand,
} from '@millrace/core'
import { Slots } from './slots.ts'

interface Pending {
  readonly id: number
  /** The request, until it is sent. */
  request: Request | undefined
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
  readonly bytes: number
  /** True if it leaves with this tick, whatever is under way: the runs that it reports as held may soon end. */
  readonly urgent: boolean
  readonly patient: boolean
  readonly endless: boolean
}

/** The maximum number of whole journal pages under way: enough for the writer to read one while another is received. */
const PAGES_MAX = 4
/** The `retryAfter` of a refused call. */
const RETRY_AFTER_MS = 100
/**
 * The number of calls in each post of a burst, so that the writer begins with the first while the rest is still being
 * called. Whole jobs, 500 in flight: 106k per second in one post per tick, 128k in posts of 128 (of 64: 115k; of 250:
 * 126k).
 */
const CALLS_PER_POST = 128
/** Below this length, forgotten calls may stay in line. */
const LINE_MIN = 128

export class Mailbox {
  /** Limits the pages that streams request at a time while they catch up. */
  readonly pages = new Slots(PAGES_MAX)
  readonly #port: Port
  readonly #afterTurn: Clock['afterTurn']
  readonly #sent = new NumberMap<Pending>()
  #sentBytes = 0
  #patient = 0
  readonly #held = new NumberMap<Pending>()
  #heldBytes = 0
  /** Calls that are held, or were and are forgotten, in the order in which they leave. */
  #line: Pending[] = []
  #nextId = 1
  /** True if held calls leave with this tick. */
  #ticking = false
  /** True if this turn of the event loop has had its post: calls of its other ticks are gathered. */
  #gathering = false
  /** True if calls have been gathered. */
  #gathered = false
  #broken = false
  #end: Refusal | undefined
  /** The number of attached workers, which keep the Port's process alive as open calls do. */
  #workers = 0
  #alive = false
  /** The wait for the answers to all calls before a number. */
  #awaited: { readonly before: number; readonly resolve: () => void } | undefined

  /** Creates a mailbox. Without `afterTurn`, each tick has its own post. */
  constructor(port: Port, afterTurn?: Clock['afterTurn']) {
    this.#port = port
    this.#afterTurn = afterTurn
  }

  /** The refusal that every further call rejects with. */
  get ended(): Refusal | undefined {
    return this.#end
  }

  /** Sends the command with all others that are called within this tick. Rejects with the typed error of a refusal. */
  call<Op extends Operation>(command: CommandOf<Op>): Promise<ReplyOf[Op]> {
    return new Promise((resolve, reject) => this.#accept(this.#nextId++, command, resolve as Pending['resolve'], reject))
  }

  /** Calls, and returns the call's number as well. */
  track<Op extends Operation>(command: CommandOf<Op>): { readonly id: number; readonly reply: Promise<ReplyOf[Op]> } {
    return { id: this.#nextId, reply: this.call(command) }
  }

  #accept(id: number, command: Command, resolve: Pending['resolve'], reject: Pending['reject']): void {
    if (this.#end !== undefined) {
      reject(errorFrom(this.#end))
      return
    }
    const traits = traitsOf(command.op)
    const bytes = weighCommand(command, traits)
    if (
      (command.op === 'enqueue' || command.op === 'flow') &&
      (this.#held.size >= LIMITS.enqueuesHeld || this.#heldBytes + bytes > LIMITS.bytesHeld)
    ) {
      reject(busy())
      return
    }
    const pending: Pending = {
      id,
      request: { id, command },
      resolve,
      reject,
      bytes,
      urgent: command.op === 'attach',
      patient: isPatient(traits),
      endless: traits.answered === 'openEnded',
    }
    if (pending.urgent && (this.#broken || this.#isFull(this.#held.size, this.#heldBytes))) this.#goFirst(pending)
    else this.#line.push(pending)
    this.#held.set(id, pending)
    this.#heldBytes += bytes
    if (!this.#alive) this.#keepAlive()
    if (this.#held.size >= CALLS_PER_POST) this.#flush()
    else this.#flushLater(pending.urgent)
  }

  /** Puts a call in front of all but other urgent ones. */
  #goFirst(pending: Pending): void {
    const place = this.#line.findIndex(({ urgent }) => !urgent)
    this.#line.splice(place < 0 ? this.#line.length : place, 0, pending)
  }

  /** Takes a reply. A reply that nobody waits for any more is dropped. */
  answer({ id, value, refusal }: Reply): void {
    const pending = this.#take(id)
    if (pending === undefined) return
    if (refusal === undefined) pending.resolve(value as never)
    else pending.reject(errorFrom(refusal))
  }

  /** Runs after a delivery: there may be room for held calls, and no more reason to stay alive. */
  settle(): void {
    if (this.#held.size > 0) this.#flushLater()
    else if (this.#sent.size === 0) this.#keepAlive()
    if (this.#awaited !== undefined) this.#tellAnswered(this.#awaited)
  }

  /**
   * Resolves when every call made so far is answered, except results, drains, events and exports, which may take forever.
   * Lists, which come from other threads, and backups are waited for.
   */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { before: this.#nextId, resolve }
      this.settle()
    })
  }

  #tellAnswered({ before, resolve }: { readonly before: number; readonly resolve: () => void }): void {
    for (const calls of [this.#sent, this.#held]) for (const { id, endless } of calls.values()) if (id < before && !endless) return
    this.#awaited = undefined
    resolve()
  }

  /** Stops waiting for the reply to a call. Returns true if it was under way, so that the far side still knows of it. */
  forget(id: number): boolean {
    const sent = this.#take(id) !== undefined
    if (!sent) {
      this.#heldBytes -= this.#held.get(id)?.bytes ?? 0
      this.#held.delete(id)
      // Without a connection, nothing else takes forgotten calls out of the line.
      if (this.#line.length > LINE_MIN && this.#line.length > 2 * this.#held.size)
        this.#line = this.#line.filter((one) => this.#held.has(one.id))
    }
    this.settle()
    return sent
  }

  /** Handles the loss of the far side: sent calls are of unknown outcome, and unsent calls wait. */
  break(refusal: Refusal): void {
    this.#broken = true
    const sent = this.#sent.values().sort((one, other) => one.id - other.id)
    this.#sent.clear()
    this.#sentBytes = 0
    this.#patient = 0
    for (const { reject } of sent) reject(errorFrom(refusal))
    this.settle()
  }

  /** Continues after a break. Calls that `first` makes, such as attaching, leave first. */
  mend(first: () => void): void {
    const held = this.#line
    this.#line = []
    this.#broken = false
    first()
    this.#line = this.#line.concat(held)
    this.#flushLater()
  }

  /** Ends the mailbox: every call, open or future, is rejected. */
  end(sentRefusal: Refusal, later: Refusal = sentRefusal): void {
    if (this.#end !== undefined) return
    this.#end = later
    this.break(sentRefusal)
    const held = this.#line.filter(({ id }) => this.#held.has(id))
    this.#line = []
    this.#held.clear()
    this.#heldBytes = 0
    for (const { reject } of held) reject(errorFrom(later))
    this.settle()
  }

  /** Counts attached workers, which keep the process alive as open calls do. */
  countWorkers(change: 1 | -1): void {
    this.#workers += change
    this.#keepAlive()
  }

  #take(id: number): Pending | undefined {
    const pending = this.#sent.get(id)
    if (pending === undefined) return undefined
    this.#sent.delete(id)
    this.#sentBytes -= pending.bytes
    if (pending.patient) this.#patient--
    return pending
  }

  #keepAlive(): void {
    const alive = this.#workers > 0 || this.#sent.size > 0 || this.#held.size > 0
    if (alive === this.#alive) return
    this.#alive = alive
    this.#port.hold(alive)
  }

  /** True if no more calls may be under way, when this number of held calls and their bytes count too. */
  #isFull(held = 0, heldBytes = 0): boolean {
    const underWay = this.#sent.size - this.#patient + held
    return underWay >= LIMITS.commandsInFlight || (this.#sentBytes + heldBytes >= LIMITS.bytesInFlight && this.#sent.size + held > 0)
  }

  /**
   * Posts held calls. The first tick of an event-loop turn that calls something posts it at once, so that a lone call
   * does not wait. Calls of later ticks leave together when the turn is over: handlers that await timers or sockets end
   * in a tick each.
   */
  #flushLater(urgent = false): void {
    if (this.#ticking || this.#broken) return
    if (this.#gathering && !urgent) {
      this.#gathered = true
      return
    }
    this.#ticking = true
    if (!this.#gathering && this.#afterTurn !== undefined) {
      this.#gathering = true
      this.#afterTurn(this.#endTurn)
    }
    // Run after the microtasks of this burst and all that they set off, so that everything leaves in one post.
    queueMicrotask(this.#afterMicrotasks)
  }

  readonly #afterMicrotasks = (): void => process.nextTick(this.#flush)

  readonly #endTurn = (): void => {
    this.#gathering = false
    if (this.#gathered) this.#flush()
  }

  readonly #flush = (): void => {
    this.#ticking = false
    this.#gathered = false
    if (this.#broken) return
    const requests: Request[] = []
    let taken = 0
    for (const pending of this.#line) {
      const { id } = pending
      if (!this.#held.has(id)) {
        taken++
        continue
      }
      if (!pending.urgent && this.#isFull()) break
      taken++
      requests.push(pending.request as Request)
      pending.request = undefined
      this.#held.delete(id)
      this.#heldBytes -= pending.bytes
      this.#sentBytes += pending.bytes
      this.#sent.set(id, pending)
      if (pending.patient) this.#patient++
    }
    if (taken > 0) this.#line = this.#line.slice(taken)
    if (requests.length > 0) this.#port.send(requests)
  }
}

function busy(): BusyError {
  return new BusyError(
    `the queue takes no new work just now: ${LIMITS.enqueuesHeld} calls or ${LIMITS.bytesHeld} bytes wait to be sent; await the calls made before, or try again in ${RETRY_AFTER_MS} ms`,
    { retryAfter: RETRY_AFTER_MS },
  )
}
