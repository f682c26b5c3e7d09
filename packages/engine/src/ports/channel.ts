/** A Port over one end of a MessageChannel whose other end the writer thread listens to. */
import type { MessagePort } from 'node:worker_threads'
import type { Capability, Port, PortListener, Refusal, Request } from '@millrace/core'
import type { SessionChange } from '../readers/readRouter.ts'
import { type PackedDelivery, unpackDelivery } from './pack/deliveries.ts'
import { packRequests } from './pack/requests.ts'
import { Pulse } from './pulse.ts'

export const CAPABILITIES: ReadonlySet<Capability> = new Set(['work', 'list', 'backup', 'events'])

const OVER: Refusal = {
  code: 'ENGINE_STOPPED',
  message:
    'the engine behind this port has stopped, or its writer was started again, and calls without an answer may have happened: if the engine has not stopped, attach a new port() of it to continue',
}

export class ChannelPort implements Port {
  readonly capabilities = CAPABILITIES
  readonly #channel: MessagePort
  readonly #pulse: Pulse
  #closed = false

  constructor(channel: MessagePort) {
    this.#channel = channel
    this.#pulse = new Pulse((vitals) => channel.postMessage(vitals))
  }

  listen(listener: PortListener): void {
    this.#channel.on('message', (packed: PackedDelivery) => {
      // First, so that a listener that takes long, or ends the process, delays nobody.
      if (packed.events.length > 0) this.#channel.postMessage(packed.events.length)
      listener.deliver(unpackDelivery(packed))
    })
    this.#channel.on('close', () => {
      this.#pulse.end()
      if (!this.#closed) listener.ended(OVER)
    })
    this.#channel.unref()
  }

  /** Notes a worker that comes or goes, before the writer receives its command. */
  noteSession(change: SessionChange): void {
    this.#pulse.note(change)
  }

  send(requests: readonly Request[]): void {
    this.#channel.postMessage(packRequests(requests))
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
