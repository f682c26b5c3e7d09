/**
 * The engine's own Port, with the actor behind it on this thread. The actor may be replaced over the same store, as when the
 * writer thread dies. Sessions may be dead: whatever they say again, they do not come back.
 */
import type { Delivery, Port, PortListener, Request } from '@millrace/core'
import type { InThreadEngine } from '@millrace/engine/internal'

export class TestWriter implements Port {
  readonly capabilities: Port['capabilities']
  readonly #open: (alive: ReadonlySet<string>) => InThreadEngine
  readonly #sessions = new Set<string>()
  readonly #dead = new Set<string>()
  #inThread: InThreadEngine
  #port: Port
  #listener: PortListener | undefined
  #tellSent: (() => void)[] = []

  /** @param open starts an actor; `alive` are the sessions that may come back for their runs */
  constructor(open: (alive: ReadonlySet<string>) => InThreadEngine) {
    this.#open = open
    this.#inThread = open(new Set())
    this.#port = this.#inThread.port({ owner: true })
    this.capabilities = this.#port.capabilities
  }

  get inThread(): InThreadEngine {
    return this.#inThread
  }

  /** Resolves at the next send: when a handler ends, or when the test makes a call. */
  sent(): Promise<void> {
    return new Promise((resolve) => this.#tellSent.push(resolve))
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    this.#port.listen(listener)
  }

  send(requests: readonly Request[]): void {
    for (const { command } of requests) {
      if (command.op === 'attach') this.#sessions.add(command.session.uuid)
      else if (command.op === 'leave') this.#sessions.delete(command.session)
    }
    const ofDead = requests.filter((request) => this.#isOfDead(request))
    this.#port.send(ofDead.length === 0 ? requests : requests.filter((request) => !this.#isOfDead(request)))
    if (ofDead.length > 0) queueMicrotask(() => this.#listener?.deliver(allLost(ofDead)))
    for (const tell of this.#tellSent.splice(0)) tell()
  }

  hold(): void {}

  close(): Promise<void> {
    return this.#port.close()
  }

  /** Replaces the actor: unanswered calls have an unknown outcome, the tables are what the store says, and live sessions attach again. */
  restart(): void {
    this.#inThread.abandon()
    this.#listener?.broken({ code: 'COMMIT_UNKNOWN', message: 'the engine was restarted before it answered: the call may have happened' })
    this.#inThread = this.#open(new Set([...this.#sessions].filter((session) => !this.#dead.has(session))))
    this.#port = this.#inThread.port({ owner: true })
    if (this.#listener !== undefined) this.#port.listen(this.#listener)
    this.#listener?.reopened()
  }

  /** Notes that the process of a session is dead: it does not come back. */
  declareDead(session: string): void {
    this.#dead.add(session)
  }

  /** Kills the process of a session: its runs are lost in the next turn. */
  kill(session: string): void {
    this.declareDead(session)
    const { tables } = this.#inThread.actor
    const found = tables.sessions.get(session)
    if (found !== undefined) tables.setLease(found, Number.NEGATIVE_INFINITY)
    this.#port.send([])
  }

  #isOfDead({ command }: Request): boolean {
    return command.op === 'attach' && this.#dead.has(command.session.uuid)
  }
}

function allLost(requests: readonly Request[]): Delivery {
  const replies = requests.map(({ id, command }) => ({ id, value: { lost: command.op === 'attach' ? command.held : [] } }))
  return { replies, grants: [], notices: [], events: [], renewal: 0 }
}
