/**
 * One client of a server, from its greeting to its end. It has its own Port to the engine: the client's requests go there
 * unchanged, unless its token does not allow them, and the engine's deliveries for it come back.
 */
import {
  type AttachCommand,
  allowsLess,
  type Clock,
  type Command,
  changedNumber,
  type Delivery,
  isError,
  isUnbounded,
  LIMITS,
  type Logger,
  OPERATIONS,
  outsideOf,
  type Permit,
  type Port,
  type PortListener,
  type Refusal,
  type Reply,
  type Request,
  refusalFrom,
  tooManyWrongTokens,
  withChangedNumbers,
  withForbiddenKeys,
  withinNames,
} from '@millrace/core'
import { chooseVersion, ELEMENTS_MAX, type Message, type Refused, WireError } from '@millrace/wire'
import { isDead, isHere } from '@millrace/worker/process'
import { sendCut, slices } from '../frames.ts'
import { BOUNDS } from '../limits.ts'
import type { Link } from '../link.ts'
import { LIBRARY } from '../version.ts'
import type { Pass } from './gate.ts'
import type { ListenSettings } from './options.ts'
import { Readings } from './readings.ts'
import { SessionNames } from './sessionNames.ts'
import { ANYONE, type Tokens } from './tokens.ts'
import { type AuditedCall, Trail } from './trail.ts'
import { Unanswered } from './unanswered.ts'

type Hello = Extract<Message, { type: 'hello' }>

export interface ConnectionOptions {
  readonly link: Link
  readonly pass: Pass
  readonly tokens: Tokens
  readonly openPort: () => Port
  /** Returns the reason why a command is not sent to the engine; undefined if it may be sent. */
  readonly refusalOf: (command: Command) => Refusal | undefined
  /** Marks the entries of a `forward` that do not fit. */
  readonly checked: <Asked extends Command>(command: Asked) => Asked
  readonly declareDead: (sessions: readonly string[]) => void
  readonly helloTimeoutMs: number
  readonly clock: Clock
  readonly audit: ListenSettings['audit']
  readonly assertAuditable: ListenSettings['assertAuditable']
  readonly logger: Logger | undefined
  /** Called once, when the connection is over. */
  readonly over: (connection: Connection) => void
  /** Called when `unreadBytes` has changed. */
  readonly flowed: (connection: Connection) => void
}

/** The delays after which a dying process is looked for again: it closes its sockets before it is dead. */
const DYING_MS = [10, 100, 1_000] as const

/** The interval at which the process of a client with worker sessions is looked for. A client through Postgres dies without closing anything. */
const LOOK_MS = 2_000

/** The rights of a client that has not greeted. */
const NOTHING: Permit = { scopes: [] }

/** The id of the request that tests if the engine is there, before the client has any requests. */
const PROBE = 0

/** One connection, from its greeting to its end. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #link: Link
  readonly #unanswered = new Unanswered()
  readonly #readings = new Readings(
    (requests) => this.#port?.send(requests),
    () => this.#link.unreadBytes < BOUNDS.unreadBytes,
  )
  /** Undefined if there is no `audit`. */
  readonly #trail: Trail | undefined
  readonly #cancelHello: () => void
  #port: Port | undefined
  #version = 0
  /** Undefined until the client has greeted. */
  #permit: Permit | undefined
  #token: string | undefined
  /** True if the client may do everything: nothing needs to be checked. */
  #unbounded = false
  /** The renewal that the engine's last delivery named. */
  #renewal = 0
  /** The library that the client says it runs, name and version. */
  #library = ''
  /** The process that the client says it is, and the worker sessions that live there. */
  #process = ''
  #sessions = new SessionNames(undefined)
  #cancelLook: (() => void) | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    const { link, clock, helloTimeoutMs, audit } = options
    this.#link = link
    this.#trail = audit && new Trail(clock)
    link.listener = { heard: (message, bytes) => this.#hear(message, bytes), over: () => this.#end(), flowed: () => this.#flowed() }
    this.#cancelHello = clock.setTimer(helloTimeoutMs, () => {
      link.goodbye('BUSY', `there was no greeting within ${helloTimeoutMs} ms, or the engine did not answer`, BOUNDS.busyRetryMs)
    })
  }

  /** Sets whether the connection keeps the process alive. */
  hold(alive: boolean): void {
    this.#link.hold(alive)
  }

  /** Asks the client to come back, and closes; resolves when the socket is closed. */
  close(): Promise<void> {
    this.#link.goodbye('CLOSING', 'the server is closing', BOUNDS.restartRetryMs)
    return this.#link.closed
  }

  /** The number of bytes that were sent and that the client has yet to read. */
  get unreadBytes(): number {
    return this.#link.unreadBytes
  }

  /** Closes the connection: all clients together have more unread than the server may hold, and this one has the most. */
  crowdOut(): void {
    this.#options.logger?.warn('a client was cut off: all clients together have too much unread, and it has the most', {
      unreadBytes: this.unreadBytes,
    })
    this.#link.abandon('the client has read too little of what it was sent')
  }

  /** Checks the token again: it may have been revoked, or may allow something else. */
  recheck(): void {
    if (this.#permit === undefined || !this.#options.tokens.change) return
    const permit = this.#permitOf(this.#token)
    if (permit === undefined) this.#link.goodbye('AUTH_FAILED', 'the server knows this token no more', -1)
    else if (permit === 'unknown') return
    // Its workers and subscriptions rely on what is gone: the client asks again for those that it may still have.
    else if (allowsLess(permit, this.#permit))
      this.#link.goodbye('CLOSING', 'the token allows less now: come back with what it allows', BOUNDS.restartRetryMs)
    else this.#allow(permit)
  }

  #hear(message: Message, bytes: number): void {
    if (message.type === 'hello') this.#greet(message)
    else if (message.type === 'requests') this.#ask(message.requests, bytes)
  }

  #greet({ versions, token, client }: Hello): void {
    const { openPort } = this.#options
    if (this.#permit !== undefined) throw new WireError('BAD_MESSAGE', 'a client says hello once')
    this.#version = chooseVersion(versions)
    const permit = this.#permitOf(token)
    if (permit === 'unknown') return
    if (permit === undefined) {
      this.#refuse(token, client)
      return
    }
    // Tokens that are known beforehand are kept only as digests.
    if (this.#options.tokens.change) this.#token = token
    this.#allow(permit)
    this.#sessions = new SessionNames(this.#options.tokens.ownerOf(token, permit))
    this.#library = client.library
    this.#process = client.process
    try {
      const port = openPort()
      this.#port = port
      port.listen(this.#heard)
      port.send([{ id: PROBE, command: { op: 'unwatch', request: PROBE } }])
    } catch (error) {
      this.#stopped(refusalFrom(error))
    }
  }

  /** Refuses a wrong token. Beyond the limit of its address, this is neither reported nor logged each time. */
  #refuse(token: string | undefined, { host, pid }: Hello['client']): void {
    const { pass, logger } = this.#options
    const wrong = pass.failed()
    if (wrong?.kind !== 'beyond') logger?.warn('a client came with a wrong token', { host, pid })
    if (wrong?.kind === 'limit') logger?.warn(...tooManyWrongTokens(pass.address as string, wrong))
    if (wrong?.kind === 'beyond' && wrong.blockedMs > 0) {
      this.#link.goodbye('BUSY', 'too many wrong tokens from this address', Math.ceil(wrong.blockedMs))
      return
    }
    const what = token === undefined ? 'this server wants a token: give the option `token`' : 'the server does not know this token'
    this.#link.goodbye('AUTH_FAILED', what, -1)
  }

  #allow(permit: Permit): void {
    this.#permit = permit
    this.#unbounded = isUnbounded(permit)
  }

  /** Returns undefined for a wrong token. If it cannot be checked, the client is sent away for now. */
  #permitOf(token: string | undefined): Permit | undefined | 'unknown' {
    try {
      return this.#options.tokens.permitOf(token)
    } catch (error) {
      this.#options.logger?.error('a token could not be looked at', { error: isError(error) ? error.message : String(error) })
      this.#link.goodbye('BUSY', 'the server cannot look at tokens just now', BOUNDS.busyRetryMs)
      return 'unknown'
    }
  }

  readonly #heard: PortListener = {
    deliver: (delivery) => {
      this.#renewal = delivery.renewal
      if (this.#link.state === 'greeting') this.#welcome()
      else this.#tell(delivery)
    },
    broken: (refusal) => this.#stopped(refusal),
    reopened: () => {},
    lapsed: () => {},
    ended: (refusal) => this.#stopped(refusal),
  }

  /** Welcomes the client once the engine has answered the probe. */
  #welcome(): void {
    const maxDataBytes = this.#port?.maxDataBytes
    this.#cancelHello()
    this.#options.pass.greeted()
    this.#link.send({
      type: 'welcome',
      version: this.#version,
      server: LIBRARY,
      node: 0,
      scopes: this.#permit?.scopes ?? [],
      limits: {
        frameBytes: BOUNDS.frameBytes,
        requestsInFlight: LIMITS.commandsInFlight,
        bytesInFlight: BOUNDS.bytesInFlight,
        pingMs: BOUNDS.pingMs,
        silenceMs: BOUNDS.silenceMs,
        ...(maxDataBytes !== undefined && { dataBytes: maxDataBytes }),
      },
    })
    this.#link.begin(BOUNDS.frameBytes, BOUNDS.pingMs, BOUNDS.silenceMs)
  }

  #ask(requests: readonly (Request | Refused)[], bytes: number): void {
    const allowed = this.#allowed(requests)
    if (allowed.length === 0) return
    this.#unanswered.ask(allowed, bytes)
    this.#readings.ask(allowed)
    if (this.#unanswered.full) this.#link.pause()
  }

  /** Returns the command with the library and the process of its sender, and without a say in defaults if its token is bound to queues. */
  #attach(command: AttachCommand): AttachCommand {
    const { session } = command
    if (this.#sessions.size > BOUNDS.sessions)
      throw new WireError('BAD_MESSAGE', `one connection has at most ${BOUNDS.sessions} worker sessions: let some leave, or open another`)
    if (this.#cancelLook === undefined && isHere(this.#process)) this.#lookForProcess()
    const isBound = this.#permit?.queues !== undefined
    return { ...command, session: { ...session, library: this.#library, process: this.#process, ...(isBound && { defines: false }) } }
  }

  /** Returns the command with what the server knows and the client does not say. */
  #completed(command: Command): Command {
    switch (command.op) {
      case 'attach':
        return this.#attach(command)
      case 'cancel':
      case 'cancelTree':
      case 'byKey':
      case 'cancelMany':
        return this.#named(command)
      case 'send':
        return withinNames(this.#permit ?? NOTHING, this.#named(command))
      case 'forward':
        return withForbiddenKeys(this.#permit ?? NOTHING, withChangedNumbers(this.#options.checked(command)))
      default:
        return this.#options.checked(command)
    }
  }

  /** Returns the command with the name of its sender's token, unless it names somebody. */
  #named<C extends { readonly by?: string }>(command: C): C {
    const by = this.#permit?.name
    return command.by !== undefined || by === undefined || by === ANYONE ? command : { ...command, by: by.slice(0, LIMITS.nameLength) }
  }

  /** Returns the requests that could be read, that the token allows and whose jobs fit their schemas; refuses the others. */
  #allowed(requests: readonly (Request | Refused)[]): readonly Request[] {
    const refused: Reply[] = []
    const allowed: Request[] = []
    for (const request of requests) {
      if ('refusal' in request) {
        refused.push(request)
        continue
      }
      const { id, command } = request
      const isAudited = this.#trail?.ask(request) === true
      const message = this.#unbounded ? undefined : this.#forbidden(command)
      const refusal =
        message === undefined
          ? (changedNumber(command) ?? this.#options.refusalOf(command) ?? (isAudited ? this.#unauditable() : undefined))
          : ({ code: 'FORBIDDEN', message } as const)
      if (refusal !== undefined) {
        refused.push({ id, refusal })
        continue
      }
      allowed.push({ id, command: this.#completed(this.#sessions.translate(command)) })
    }
    if (refused.length > 0) {
      this.#audit(this.#trail?.answer(refused, this.#who))
      this.#send(this.#replying(refused))
    }
    return allowed
  }

  /** Returns why a call would leave no entry in the audit; undefined if it will. */
  #unauditable(): Refusal | undefined {
    try {
      this.#options.assertAuditable?.()
      return undefined
    } catch (error) {
      return refusalFrom(error)
    }
  }

  /** Returns what the token lacks for the command; undefined if it is allowed. */
  #forbidden(command: Command): string | undefined {
    const permit = this.#permit ?? NOTHING
    const enough = OPERATIONS[command.op].scopes
    if (enough.some((scope) => permit.scopes.includes(scope))) return outsideOf(permit, command)
    const has = permit.scopes.join(', ')
    return `'${command.op}' needs the scope '${enough.join("' or '")}', and the token has ${has}: use one that has it`
  }

  get #who(): string {
    return this.#permit?.name ?? 'unnamed'
  }

  /** Passes calls to `audit`. If it throws, the client still gets its answers: a gap in the trail shows in the log. */
  #audit(calls: readonly AuditedCall[] = []): void {
    const { audit, logger } = this.#options
    if (calls.length === 0) return
    try {
      audit?.(calls)
    } catch (error) {
      const operations = calls.map(({ operation }) => operation)
      logger?.error('calls could not be audited', {
        who: this.#who,
        operations,
        error: isError(error) ? error.message : String(error),
      })
    }
  }

  #tell(delivery: Delivery): void {
    this.#audit(this.#trail?.answer(delivery.replies, this.#who))
    this.#unanswered.answer(delivery.replies)
    this.#send(this.#sessions.deliver(delivery))
    // After the delivery was sent: whether it is read decides what is asked next.
    this.#readings.answer(delivery.replies)
    if (!this.#unanswered.full) this.#link.resume()
  }

  #flowed(): void {
    this.#options.flowed(this)
    if (this.#link.unreadBytes === 0) this.#readings.resume()
  }

  #send(delivery: Delivery): void {
    for (const slice of slices(delivery)) {
      const { replies } = slice
      const whole = sendCut<Reply | undefined>(replies.length > 0 ? replies : [undefined], {
        // If a slice has several kinds, the others are sent once.
        message: (some) => ({ type: 'delivery', delivery: some.length >= replies.length ? slice : this.#replying(some as Reply[]) }),
        frameBytes: BOUNDS.replyFrameBytes,
        elements: ELEMENTS_MAX.server,
        send: (frame) => this.#link.sendFrame('delivery', frame),
        refuse: (reply, reason) => this.#tooLarge(reply, reason),
      })
      if (!whole && slice.grants.length + slice.notices.length + slice.events.length > 0) this.#send({ ...slice, replies: [] })
    }
  }

  #tooLarge(reply: Reply | undefined, reason: string): void {
    if (reply === undefined) throw new Error(`a job or an event has ${reason}: more than any can have`)
    const message = `the answer has ${reason}: ask for less at a time, or in the engine's own process`
    this.#send(this.#replying([{ id: reply.id, refusal: { code: 'TOO_LARGE', message } }]))
  }

  #replying(replies: readonly Reply[]): Delivery {
    return { replies, grants: [], notices: [], events: [], renewal: this.#renewal }
  }

  #stopped({ code, message }: Refusal): void {
    this.#link.goodbye(code, message, BOUNDS.restartRetryMs)
  }

  #end(): void {
    this.#cancelHello()
    this.#cancelLook?.()
    this.#options.pass.leave()
    this.#options.over(this)
    this.#audit(this.#trail?.end(this.#who))
    void this.#port?.close()
    this.#port = undefined
    if (this.#sessions.size > 0 && this.#process !== '') this.#declareDead(DYING_MS)
  }

  #lookForProcess(): void {
    this.#cancelLook = this.#options.clock.setTimer(LOOK_MS, () => {
      if (isDead(this.#process)) this.#link.abandon('the process of the client is dead')
      else this.#lookForProcess()
    })
  }

  /** Reports the sessions of a dead client: it has no use for its workers' leases. A client that lives comes back within them. */
  #declareDead([waitMs, ...more]: readonly number[]): void {
    if (isDead(this.#process)) this.#options.declareDead(this.#sessions.inside)
    else if (waitMs !== undefined) this.#options.clock.setTimer(waitMs, () => this.#declareDead(more))
  }
}
