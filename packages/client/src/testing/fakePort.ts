/** A Port whose far side is the test: it keeps the requests sent, and delivers what the test asks for. */
import {
  type Capability,
  type Command,
  type CommandOf,
  type Delivery,
  type ErrorCode,
  type Grant,
  type JobEvent,
  MillraceError,
  type Notice,
  type Operation,
  type Port,
  type PortListener,
  type Refusal,
  type Request,
  refusalFrom,
} from '@millrace/core'

const EMPTY: Delivery = { replies: [], grants: [], notices: [], events: [], renewal: 0 }

export class FakePort implements Port {
  readonly capabilities: ReadonlySet<Capability>
  /** The requests that were sent, post by post. */
  readonly posts: (readonly Request[])[] = []
  /** The values that `hold` was called with. */
  readonly holds: boolean[] = []
  closed = 0
  /** The argument of the last `close`. */
  closedWithinMs: number | undefined
  distant = false
  readonly #usual = new Map<Operation, (command: never) => unknown>()
  #listener: PortListener | undefined

  constructor(capabilities: readonly Capability[] = ['work', 'list', 'backup', 'events']) {
    this.capabilities = new Set(capabilities)
  }

  listen(listener: PortListener): void {
    this.#listener = listener
  }

  send(requests: readonly Request[]): void {
    this.posts.push(requests)
    const known = requests.filter(({ command }) => this.#usual.has(command.op))
    if (known.length === 0) return
    queueMicrotask(() => {
      const replies = known.map(({ id, command }) => {
        const value = this.#usual.get(command.op)?.(command as never)
        return value instanceof MillraceError ? { id, refusal: refusalFrom(value) } : { id, value }
      })
      this.deliver({ replies })
    })
  }

  hold(alive: boolean): void {
    this.holds.push(alive)
  }

  async close(withinMs?: number): Promise<void> {
    this.closed++
    this.closedWithinMs = withinMs
  }

  /** Stops answering commands of that kind automatically. */
  silence(op: Operation): void {
    this.#usual.delete(op)
  }

  /** Answers later commands of that kind automatically with the returned value; a MillraceError refuses them. */
  answer<Op extends Operation>(op: Op, value: (command: CommandOf<Op>) => unknown): void {
    this.#usual.set(op, value as (command: never) => unknown)
  }

  get requests(): readonly Request[] {
    return this.posts.flat()
  }

  get commands(): readonly Command[] {
    return this.requests.map(({ command }) => command)
  }

  /** Returns the requests of that kind, in order. */
  of<Op extends Operation>(op: Op): readonly { readonly id: number; readonly command: CommandOf<Op> }[] {
    return this.requests.filter((request): request is Request & { command: CommandOf<Op> } => request.command.op === op)
  }

  deliver(delivery: Partial<Delivery>): void {
    this.#listener?.deliver({ ...EMPTY, ...delivery })
  }

  reply(id: number, value: unknown): void {
    this.deliver({ replies: [{ id, value }] })
  }

  refuse(id: number, code: ErrorCode, message = 'refused', details?: Refusal['details']): void {
    this.deliver({ replies: [{ id, refusal: { code, message, ...(details !== undefined && { details }) } }] })
  }

  grant(...grants: Grant[]): void {
    this.deliver({ grants })
  }

  notice(...notices: Notice[]): void {
    this.deliver({ notices })
  }

  events(...events: JobEvent[]): void {
    this.deliver({ events })
  }

  break(message = 'the writer died', code: ErrorCode = 'COMMIT_UNKNOWN'): void {
    this.#listener?.broken({ code, message })
  }

  reopen(): void {
    this.#listener?.reopened()
  }

  end(code: ErrorCode = 'ENGINE_FAILED', message = 'the writer failed again and again'): void {
    this.#listener?.ended({ code, message })
  }
}

/** Resolves once everything that was set off in ticks and microtasks has run. */
export async function quiet(): Promise<void> {
  for (let round = 0; round < 2; round++) await new Promise<void>((resolve) => setImmediate(resolve))
}
