/** Talks to a Port command by command, and keeps what the Port says until a test asks for it: tests wait for signals, never for time. */
import {
  type CommandOf,
  type Delivery,
  errorFrom,
  type Grant,
  isJobEvent,
  type JobEvent,
  type NewJob,
  type Notice,
  type Operation,
  type Port,
  type Refusal,
  type Reply,
  type ReplyOf,
  type Request,
  type SessionIntro,
  type SystemEvent,
} from '@millrace/core'

/** The items that have arrived, and the calls that wait for one. */
class Inbox<T> {
  readonly #items: T[] = []
  readonly #waiting: ((item: T) => void)[] = []

  put(item: T): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#items.push(item)
    else waiting(item)
  }

  take(): Promise<T> {
    const item = this.#items.shift()
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item)
  }

  get size(): number {
    return this.#items.length
  }
}

export class Probe {
  readonly port: Port
  readonly grants = new Inbox<Grant>()
  readonly notices = new Inbox<Notice>()
  /** Events of jobs. */
  readonly events = new Inbox<JobEvent>()
  /** All other events. */
  readonly systemEvents = new Inbox<SystemEvent>()
  /** The reasons why the Port ended. */
  readonly ends = new Inbox<Refusal>()
  /** The ids of all replies, in the order of their arrival. */
  readonly replied: number[] = []
  /** The `renewal` of the last delivery. */
  renewal = 0
  readonly #open = new Map<number, (reply: Reply) => void>()
  #nextId = 1

  constructor(port: Port) {
    this.port = port
    port.listen({
      deliver: (delivery) => this.#take(delivery),
      broken: () => {},
      lapsed: () => {},
      reopened: () => {},
      ended: (refusal) => this.ends.put(refusal),
    })
    port.hold(true)
  }

  call<Op extends Operation>(command: CommandOf<Op>): Promise<ReplyOf[Op]> {
    return this.callAll([command]).then(([value]) => value as ReplyOf[Op])
  }

  /** Sends all commands in one post; rejects with the first refusal. */
  async callAll(commands: readonly CommandOf<Operation>[]): Promise<unknown[]> {
    const settled = await this.settle(commands)
    return settled.map((reply) => {
      if (reply.refusal !== undefined) throw errorFrom(reply.refusal)
      return reply.value
    })
  }

  /** Does the same as `callAll`, but returns refusals as well. */
  settle(commands: readonly CommandOf<Operation>[]): Promise<Reply[]> {
    const requests: Request[] = commands.map((command) => ({ id: this.#nextId++, command }))
    const replies = requests.map(({ id }) => new Promise<Reply>((resolve) => this.#open.set(id, resolve)))
    this.port.send(requests)
    return Promise.all(replies)
  }

  async enqueue(name: string, job: Partial<NewJob> = {}) {
    const [enqueued] = await this.call<'enqueue'>({ op: 'enqueue', jobs: [{ name, data: null, ...job }] })
    if (enqueued === undefined) throw new Error('an enqueue of one job was answered with none')
    return enqueued
  }

  attach(names: readonly string[], intro: Partial<SessionIntro> = {}, held: CommandOf<'attach'>['held'] = []) {
    return this.call<'attach'>({ op: 'attach', session: sessionIntro(names, intro), held })
  }

  /** Resolves once everything sent before has been decided: it sends a query that changes nothing. */
  async barrier(): Promise<void> {
    await this.call<'workers'>({ op: 'workers' })
  }

  #take({ replies, grants, notices, events, renewal }: Delivery): void {
    this.renewal = renewal
    for (const reply of replies) {
      this.replied.push(reply.id)
      const resolve = this.#open.get(reply.id)
      if (resolve === undefined) throw new Error(`request ${reply.id} was answered twice, or never sent`)
      this.#open.delete(reply.id)
      resolve(reply)
    }
    for (const grant of grants) this.grants.put(grant)
    for (const notice of notices) this.notices.put(notice)
    for (const event of events) isJobEvent(event) ? this.events.put(event) : this.systemEvents.put(event)
  }
}

export function sessionIntro(names: readonly string[], intro: Partial<SessionIntro> = {}): SessionIntro {
  return {
    uuid: 'session-1',
    worker: 'worker-1',
    host: 'host',
    pid: 1,
    local: true,
    handlers: names.map((name) => ({ name, defaults: {} })),
    minConcurrency: 10,
    maxConcurrency: 10,
    abortGrace: 30_000,
    ...intro,
  }
}
