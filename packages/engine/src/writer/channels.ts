/** The writer's channels. Active channels are read before each turn, without waiting for the event loop to announce their messages. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

/** Takes a message; returns true if it brings work for a turn. */
type Listener = (message: unknown) => boolean

/** The maximum number of channels read before each turn: reading many silent channels would take longer than the turn. */
const TALKATIVE_MAX = 8

export class Channels {
  readonly #listeners = new Map<MessagePort, Listener>()
  /** The channels that spoke last, the latest at the end. */
  readonly #talkative = new Set<MessagePort>()
  readonly #wake: () => void

  /** `wake` runs when the event loop delivers a message that brings work, and when a channel has closed. */
  constructor(wake: () => void) {
    this.#wake = wake
  }

  add(channel: MessagePort, listener: Listener, closed: () => void): void {
    this.#listeners.set(channel, listener)
    channel.on('message', (message: unknown) => {
      if (this.#take(channel, message)) this.#wake()
    })
    channel.on('close', () => {
      this.#listeners.delete(channel)
      this.#talkative.delete(channel)
      closed()
      this.#wake()
    })
  }

  /** Takes in what has arrived on the channels that spoke last. */
  drain(): void {
    this.#drain(this.#talkative)
  }

  /** Takes in what has arrived on any channel. */
  drainAll(): void {
    this.#drain(this.#listeners.keys())
  }

  close(): void {
    for (const channel of this.#listeners.keys()) channel.close()
  }

  #drain(channels: Iterable<MessagePort>): void {
    // A copy: taking a message changes their order.
    for (const channel of [...channels]) {
      for (let received = receiveMessageOnPort(channel); received !== undefined; received = receiveMessageOnPort(channel))
        this.#take(channel, received.message)
    }
  }

  #take(channel: MessagePort, message: unknown): boolean {
    const hasWork = this.#listeners.get(channel)?.(message) ?? false
    if (!hasWork) return false
    this.#talkative.delete(channel)
    this.#talkative.add(channel)
    if (this.#talkative.size > TALKATIVE_MAX) this.#talkative.delete(this.#talkative.keys().next().value as MessagePort)
    return true
  }
}
