/**
 * One end of a connection: a socket that carries messages. It cuts bytes into frames, holds both ends to the table of states,
 * pings, and treats the other end as dead after a silence. Only frames that arrived count as signs of life: a socket accepts
 * writes long after the other end is gone.
 */
import type { Socket } from 'node:net'
import type { Clock } from '@millrace/core'
import { decodeMessage, encodeMessage, FrameReader, type Message, nextState, type Role, type SessionState, WireError } from '@millrace/wire'
import { BOUNDS } from './limits.ts'

/** The reason why a connection is over: the goodbye of one of the ends, or how it broke. */
export interface End {
  readonly code: string
  readonly message: string
  /** Milliseconds before another attempt, as in a goodbye; -1 for never. */
  readonly retryAfterMs: number
}

export interface LinkListener {
  /** @param bytes the size of the message's payload */
  heard(message: Message, bytes: number): void
  /** Called once: nothing is heard afterwards, and nothing that is sent arrives. */
  over(end: End): void
  /** Called when there are new unread bytes, or none are left. It may be called after the end, until the socket is closed. */
  flowed?(): void
}

export interface LinkOptions {
  /** The role of this end. */
  readonly role: Role
  readonly clock: Clock
  /** The time in which a frame that has begun must be whole; otherwise the connection is over. */
  readonly frameMs: number
}

export class Link {
  listener: LinkListener | undefined
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #role: Role
  readonly #clock: Clock
  readonly #frameMs: number
  readonly #reader = new FrameReader({ frameBytes: BOUNDS.greetingBytes })
  #state: SessionState = 'greeting'
  #over = false
  #corked = false
  #paused = false
  /** The bytes queued within this tick, and the most that one tick has queued since the socket last had nothing to send. */
  #tickBytes = 0
  #burstBytes = 0
  /** Infinity until the welcome: the greeting has its own timeout. */
  #pingMs = Number.POSITIVE_INFINITY
  #silenceMs = Number.POSITIVE_INFINITY
  #heardMono: number
  #pingedMono: number
  /** The time at which the incomplete frame began; -1 for none. */
  #partialMono = -1
  #cancelWatch: (() => void) | undefined
  #watchMono = Number.POSITIVE_INFINITY

  constructor(socket: Socket, { role, clock, frameMs }: LinkOptions) {
    this.#socket = socket
    this.#role = role
    this.#clock = clock
    this.#frameMs = frameMs
    this.#heardMono = clock.read().mono
    this.#pingedMono = this.#heardMono
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#lost(`the connection broke: ${error.message}`))
    socket.on('end', () => this.#lost('the other end has closed the connection'))
    socket.on('close', () => {
      this.#lost('the connection was closed')
      this.listener?.flowed?.()
    })
    socket.on('drain', () => {
      this.#burstBytes = 0
      this.listener?.flowed?.()
    })
  }

  get state(): SessionState {
    return this.#state
  }

  /** The number of bytes that were sent and have yet to leave this process. */
  get unreadBytes(): number {
    return this.#socket.destroyed ? 0 : this.#socket.writableLength
  }

  /** Ends the greeting: from now on frames may be large, and silence counts. */
  begin(frameBytes: number, pingMs: number, silenceMs: number): void {
    this.#reader.frameBytes = frameBytes
    this.#pingMs = pingMs
    this.#silenceMs = silenceMs
    this.#heardMono = this.#clock.read().mono
    this.#watch()
  }

  send(message: Message): void {
    this.sendFrame(message.type, encodeMessage(message))
  }

  /** Sends a message that is already encoded. */
  sendFrame(type: Message['type'], frame: Uint8Array): void {
    if (this.#over) return
    this.#state = nextState(this.#role, this.#state, type)
    this.#tickBytes += frame.length
    // All frames of one tick leave in one write.
    if (!this.#corked) {
      this.#corked = true
      this.#socket.cork()
      process.nextTick(this.#uncork)
    }
    this.#socket.write(frame)
  }

  /** Sends the reason, and closes once it is out. */
  goodbye(code: string, whole: string, retryAfterMs: number): void {
    if (this.#over) return
    // Before the welcome the other end accepts no more than this.
    const message = whole.slice(0, BOUNDS.goodbyeLength)
    this.send({ type: 'goodbye', code, message, retryAfterMs })
    this.#finish({ code, message, retryAfterMs })
  }

  /** Closes at once, without a goodbye, and drops everything that has yet to get out. */
  abandon(message: string): void {
    this.#socket.destroy()
    this.#lost(message)
  }

  /** Stops reading until `resume`. */
  pause(): void {
    if (this.#paused || this.#over) return
    this.#paused = true
    this.#socket.pause()
  }

  /** Reads again. The pause does not count as silence of the other end. */
  resume(): void {
    if (!this.#paused || this.#over) return
    this.#paused = false
    this.#heardMono = this.#clock.read().mono
    if (this.#partialMono >= 0) this.#partialMono = this.#heardMono
    this.#socket.resume()
    this.#watch()
  }

  /** Sets whether the socket keeps its process alive. */
  hold(alive: boolean): void {
    if (alive) this.#socket.ref()
    else this.#socket.unref()
  }

  readonly #uncork = (): void => {
    this.#corked = false
    this.#burstBytes = Math.max(this.#burstBytes, this.#tickBytes)
    this.#tickBytes = 0
    this.#socket.uncork()
    if (this.#socket.writableLength === 0) this.#burstBytes = 0
    else {
      this.listener?.flowed?.()
      this.#checkTaken()
    }
  }

  /** Cuts off a client that reads too slowly. A large burst answers large requests, so only bytes on top of it count. */
  #checkTaken(): void {
    if (this.#role === 'client' || this.#socket.writableLength <= BOUNDS.unsentBytes + this.#burstBytes) return
    const message = `more than ${BOUNDS.unsentBytes} bytes wait to be taken: read faster, or ask for less`
    this.goodbye('SLOW_CONSUMER', message, BOUNDS.busyRetryMs)
  }

  #read(chunk: Buffer): void {
    if (this.#over) return
    try {
      for (const payload of this.#reader.push(chunk)) {
        this.#partialMono = -1
        this.#hear(payload)
        if (this.#over) return
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      this.goodbye(error.code, error.message, -1)
      return
    }
    if (!this.#reader.partial) this.#partialMono = -1
    else if (this.#partialMono < 0) {
      this.#partialMono = this.#clock.read().mono
      this.#watch()
    }
  }

  #hear(payload: Uint8Array): void {
    const from: Role = this.#role === 'client' ? 'server' : 'client'
    const message = decodeMessage(payload, from)
    this.#state = nextState(from, this.#state, message.type)
    this.#heardMono = this.#clock.read().mono
    if (message.type === 'ping') this.#pong(message.nonce)
    else if (message.type === 'goodbye') this.#finish(message)
    else if (message.type !== 'pong') this.listener?.heard(message, payload.length)
  }

  /** Answers a ping, unless the socket's buffer is full: the unread bytes already prove that this end is alive. */
  #pong(nonce: number): void {
    if (this.#socket.writableLength <= BOUNDS.unsentPongBytes) this.send({ type: 'pong', nonce })
  }

  #lost(message: string): void {
    if (this.#over) return
    this.#socket.destroy()
    this.#finish({ code: 'CONNECTION_LOST', message, retryAfterMs: 0 })
  }

  #finish(end: End): void {
    if (this.#over) return
    this.#over = true
    this.#cancelWatch?.()
    const socket = this.#socket
    // Further input is dropped: a connection that closes with unread bytes is reset, and the goodbye is lost with it.
    socket.resume()
    socket.end()
    const cancel = this.#clock.setTimer(BOUNDS.goodbyeMs, () => socket.destroy())
    socket.once('close', cancel)
    this.listener?.over(end)
  }

  /** Sets one timer, to the first time at which there may be something to do. */
  #watch(): void {
    // During a pause, delays are not the other end's fault: `resume` resets its times.
    const dueMono = this.#paused
      ? this.#nextPingMono()
      : Math.min(
          this.#partialMono >= 0 ? this.#partialMono + this.#frameMs : Number.POSITIVE_INFINITY,
          this.#nextPingMono(),
          this.#heardMono + this.#silenceMs,
        )
    if (dueMono >= this.#watchMono || this.#over) return
    this.#cancelWatch?.()
    this.#watchMono = dueMono
    this.#cancelWatch = this.#clock.setTimer(Math.max(0, dueMono - this.#clock.read().mono), () => {
      // A thread that was held up runs the timer first, and only then reads what has arrived meanwhile.
      setImmediate(() => this.#look())
    })
  }

  #nextPingMono(): number {
    return Math.max(this.#heardMono, this.#pingedMono) + this.#pingMs
  }

  #look(): void {
    this.#watchMono = Number.POSITIVE_INFINITY
    if (this.#over) return
    const { mono } = this.#clock.read()
    if (!this.#paused && mono - this.#heardMono >= this.#silenceMs) {
      this.#lost(`nothing has been heard from the other end for ${this.#silenceMs / 1_000} s`)
    } else if (!this.#paused && this.#partialMono >= 0 && mono - this.#partialMono >= this.#frameMs) {
      this.goodbye('BAD_FRAME', `a frame was not whole within ${this.#frameMs / 1_000} s of its first byte`, 0)
    } else {
      if (mono >= this.#nextPingMono()) {
        this.#pingedMono = mono
        this.send({ type: 'ping', nonce: 0 })
      }
      this.#watch()
    }
  }
}
