/** A Port over one end of a MessageChannel whose other end the writer thread listens to. */
import type { MessagePort } from 'node:worker_threads'
import type { Capability, Delivery, Port, PortListener, Request } from '@millrace/core'

export const CAPABILITIES: ReadonlySet<Capability> = new Set(['work', 'list', 'backup', 'events'])

export class ChannelPort implements Port {
  readonly capabilities = CAPABILITIES
  readonly #channel: MessagePort
  #listener: PortListener | undefined
  #closed = false

  constructor(channel: MessagePort) {
    this.#channel = channel
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    this.#channel.on('message', (delivery: Delivery) => listener.deliver(delivery))
    this.#channel.on('close', () => {
      if (!this.#closed) listener.ended({ code: 'ENGINE_STOPPED', message: 'the engine behind this port has stopped' })
    })
    this.#channel.unref()
  }

  send(requests: readonly Request[]): void {
    this.#channel.postMessage(requests)
  }

  /** Hands over what did not come through the channel. */
  deliver(delivery: Delivery): void {
    this.#listener?.deliver(delivery)
  }

  hold(alive: boolean): void {
    if (alive) this.#channel.ref()
    else this.#channel.unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#channel.close()
  }
}
