/** Looks at the requests of a batch once, and sends questions to reader threads in place of the writer, for every kind of Port. */
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

/** A worker's session that comes or goes. */
export type SessionChange = CommandOf<'attach' | 'leave'>

/** The parts that concern themselves with one request in 10,000, before the writer does. */
export interface Rare {
  /** The threads that answer lists; undefined if the writer does. */
  readonly readers: Pages | undefined
  /** Receives the answers of readers. */
  readonly answer: (reply: Reply) => void
  readonly noteSession: (change: SessionChange) => void
}

/** Looks at each request once. Returns the requests that are left for the writer: nearly always all of them. */
export function sortOut(requests: readonly Request[], rare: Rare): readonly Request[] {
  const { readers } = rare
  let rest: Request[] | undefined
  for (let index = 0; index < requests.length; index++) {
    const request = requests[index] as Request
    const { id, command } = request
    if (readers !== undefined && isForReaders(command)) {
      rest ??= requests.slice(0, index)
      askReaders(readers, id, command, rare.answer)
      continue
    }
    if (command.op === 'attach' || command.op === 'leave') rare.noteSession(command)
    rest?.push(request)
  }
  return rest ?? requests
}

function askReaders(readers: Pages, id: number, command: CommandOf<Paged>, answer: Rare['answer']): void {
  readers.page(command).then(
    (value) => answer({ id, value }),
    (error) => answer({ id, refusal: { code: 'STORAGE', message: `the page could not be read: ${error.message}` } }),
  )
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
  readonly #rare: Rare
  /** The listener; undefined once the Port is over, when late answers of readers are dropped. */
  #listener: PortListener | undefined
  #renewal = 0

  /** @param readers undefined if the writer reads pages itself */
  constructor(port: Port, readers: Pages | undefined, noteSession: Rare['noteSession'] = () => {}) {
    this.#port = port
    this.#rare = { readers, noteSession, answer: (reply) => this.#listener?.deliver(deliveryOf(reply, this.#renewal)) }
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
    const rest = sortOut(requests, this.#rare)
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
