/**
 * Many Ports of this thread over one MessageChannel. A thread looks at each of its channels whenever one of them wakes
 * it: a thousand silent connections, with a channel each, would cost both threads a tenth of their time.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Port, PortListener, Refusal, Request } from '@millrace/core'
import { CAPABILITIES } from './channel.ts'
import { type PackedDelivery, unpackDelivery } from './pack/deliveries.ts'
import { type PackedRequests, packRequests } from './pack/requests.ts'

/** A message to the writer: requests, the number of events that have been read, or null when the Port is closed. */
export type MuxRequest = readonly [port: number, message: PackedRequests | number | null]
export type MuxDelivery = readonly [port: number, message: PackedDelivery]

export class PortMux {
  readonly #channel: MessagePort
  readonly #ports = new Map<number, MuxedPort>()
  readonly #maxDataBytes: number | undefined
  #opened = 0
  /** The number of Ports that keep the process alive. */
  #held = 0
  #ended = false

  constructor(channel: MessagePort, maxDataBytes?: number) {
    this.#channel = channel
    this.#maxDataBytes = maxDataBytes
    channel.on('message', ([port, message]: MuxDelivery) => this.#ports.get(port)?.hear(message))
    channel.on('close', () => this.#end())
    channel.unref()
  }

  /** True if the writer's end is gone: further Ports need another mux. */
  get ended(): boolean {
    return this.#ended
  }

  openPort(): Port {
    const number = ++this.#opened
    const port = new MuxedPort({
      maxDataBytes: this.#maxDataBytes,
      say: (message) => this.#channel.postMessage([number, message] satisfies MuxRequest),
      hold: (by) => this.#hold(by),
      closed: () => this.#ports.delete(number),
    })
    this.#ports.set(number, port)
    return port
  }

  #hold(by: 1 | -1): void {
    this.#held += by
    if (this.#held > 0) this.#channel.ref()
    else this.#channel.unref()
  }

  #end(): void {
    this.#ended = true
    const ports = [...this.#ports.values()]
    this.#ports.clear()
    for (const port of ports) port.end({ code: 'ENGINE_STOPPED', message: 'the engine behind this port has stopped' })
  }
}

interface MuxPortOptions {
  readonly maxDataBytes: number | undefined
  readonly say: (message: MuxRequest[1]) => void
  readonly hold: (by: 1 | -1) => void
  readonly closed: () => void
}

class MuxedPort implements Port {
  readonly capabilities = CAPABILITIES
  readonly maxDataBytes: number | undefined
  readonly #options: MuxPortOptions
  #listener: PortListener | undefined
  #held = false
  #over = false

  constructor(options: MuxPortOptions) {
    this.#options = options
    this.maxDataBytes = options.maxDataBytes
  }

  listen(listener: PortListener): void {
    this.#listener = listener
  }

  send(requests: readonly Request[]): void {
    if (!this.#over) this.#options.say(packRequests(requests))
  }

  hold(alive: boolean): void {
    if (alive === this.#held || this.#over) return
    this.#held = alive
    this.#options.hold(alive ? 1 : -1)
  }

  async close(): Promise<void> {
    if (this.#over) return
    this.hold(false)
    this.#over = true
    this.#options.say(null)
    this.#options.closed()
  }

  hear(packed: PackedDelivery): void {
    // First, so that a listener that takes long, or ends the process, delays nobody.
    if (packed.events.length > 0) this.#options.say(packed.events.length)
    this.#listener?.deliver(unpackDelivery(packed))
  }

  end(refusal: Refusal): void {
    this.#over = true
    this.#listener?.ended(refusal)
  }
}
