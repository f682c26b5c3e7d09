/** Sends questions to reader threads in place of the writer, for every kind of Port. */
import {
  type Command,
  type CommandOf,
  type Delivery,
  type Port,
  type PortListener,
  type Reply,
  type Request,
  traitsOf,
} from '@millrace/core'
import type { Paged, Readers } from './readers.ts'

type Pages = Pick<Readers, 'page'>

/** Asks the readers the questions that are theirs. Returns the requests that are left for the writer. */
export function askReaders(readers: Pages, requests: readonly Request[], answer: (reply: Reply) => void): readonly Request[] {
  if (!requests.some(({ command }) => isForReaders(command))) return requests
  const rest: Request[] = []
  for (const request of requests) {
    const { id, command } = request
    if (isForReaders(command)) {
      readers.page(command).then(
        (value) => answer({ id, value }),
        (error) => answer({ id, refusal: { code: 'STORAGE', message: `the page could not be read: ${error.message}` } }),
      )
    } else rest.push(request)
  }
  return rest
}

function isForReaders(command: Command): command is CommandOf<Paged> {
  return traitsOf(command.op).isForReaders?.(command) ?? false
}

/** `renewal` is the last that the writer has named: readers count none. */
export function deliveryOf(reply: Reply, renewal: number): Delivery {
  return { replies: [reply], grants: [], notices: [], events: [], renewal }
}

/** A Port to the writer whose pages are read elsewhere, so that a long one delays no turn. */
export class ReadingPort implements Port {
  readonly capabilities: Port['capabilities']
  readonly maxDataBytes: number | undefined
  readonly #port: Port
  readonly #readers: Pages
  /** The listener; undefined once the Port is over, when late answers of readers are dropped. */
  #listener: PortListener | undefined
  #renewal = 0

  constructor(port: Port, readers: Pages) {
    this.#port = port
    this.#readers = readers
    this.capabilities = port.capabilities
    this.maxDataBytes = port.maxDataBytes
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    this.#port.listen({
      deliver: (delivery) => {
        this.#renewal = delivery.renewal
        listener.deliver(delivery)
      },
      broken: (refusal) => listener.broken(refusal),
      reopened: () => listener.reopened(),
      lapsed: (ms) => listener.lapsed(ms),
      ended: (refusal) => {
        this.#listener = undefined
        listener.ended(refusal)
      },
    })
  }

  send(requests: readonly Request[]): void {
    const rest = askReaders(this.#readers, requests, (reply) => this.#listener?.deliver(deliveryOf(reply, this.#renewal)))
    if (rest.length > 0) this.#port.send(rest)
  }

  hold(alive: boolean): void {
    this.#port.hold(alive)
  }

  close(): Promise<void> {
    this.#listener = undefined
    return this.#port.close()
  }
}
