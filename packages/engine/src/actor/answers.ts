/** Answers questions after the commit: so they see at least all that was decided before them. A turn does so for a while, and leaves the rest. */
import {
  type Clock,
  type Command,
  type ConnectionId,
  type Envelope,
  HELD,
  Refused,
  type Request,
  type Sender,
  StoreFailure,
  traitsOf,
} from '@millrace/core'
import type { Actor } from './actor.ts'
import { answer } from './answer.ts'
import { Backlog } from './backlog.ts'
import type { Deliveries } from './deliveries.ts'
import type { Repeated } from './waiters/waiters.ts'

export class Answers {
  readonly #actor: Actor
  readonly #backlog: Backlog
  /** Since the last decision: whoever asks until the next is told the same, which crosses a channel once. */
  #stats: unknown

  constructor(actor: Actor, clock: Clock) {
    this.#actor = actor
    this.#backlog = new Backlog(clock)
  }

  /** Questions that no turn had time for yet. */
  get waiting(): number {
    return this.#backlog.size
  }

  beginTurn(): void {
    this.outdate()
    this.#backlog.beginTurn()
  }

  /** Something is decided, in one of the transactions of this turn: earlier answers may not be true any more. */
  outdate(): void {
    this.#stats = undefined
  }

  /** At once, if the turn has time for it and the connection's earlier questions are answered; otherwise one of the next turns does. */
  inTime(deliveries: Deliveries, envelope: Envelope): void {
    const { reads } = traitsOf(envelope.request.command.op)
    const waits = reads !== 'nothing' && (this.#backlog.holds(envelope) || !this.#backlog.hasTime())
    if (waits) this.#backlog.add(envelope)
    else this.#answer(deliveries, envelope)
  }

  /** Those that wait, while there is time. One answer at least, so that a turn that is slow for other reasons gets on with them. */
  rest(deliveries: Deliveries, atLeastOne: boolean): void {
    for (let due = this.#backlog.hasTime() || atLeastOne; due; due = this.#backlog.hasTime()) {
      const envelope = this.#backlog.take()
      if (envelope === undefined) return
      this.#answer(deliveries, envelope)
    }
  }

  /** Adds questions that have waited for something to happen: this turn answers them, or one of the next. */
  askAgain(questions: readonly Repeated[]): void {
    for (const { connection, request: id, command } of questions) this.#backlog.add({ connection, request: { id, command } })
  }

  forget(connection: ConnectionId, request?: number): void {
    this.#backlog.forget(connection, request)
  }

  #answer(deliveries: Deliveries, { connection, request }: Envelope): void {
    const { command, id } = request
    if (command.op === 'subscribe') {
      this.#actor.subscribe(connection, command.on)
      deliveries.reply(connection, id, true)
    } else if (command.op === 'backup') this.#backup(connection, request, command.file)
    else {
      const reply = this.#ask(command, { connection, request: id })
      if (reply instanceof Refused) deliveries.refuse(connection, id, reply.refusal)
      else if (reply !== HELD) deliveries.reply(connection, id, reply)
    }
  }

  #backup(connection: ConnectionId, { id }: Request, file: string): void {
    this.#actor.store.backup(file).then(
      (value) => this.#actor.answerLate(connection, { id, value }),
      (error) => this.#actor.answerLate(connection, { id, refusal: { code: 'STORAGE', message: `the backup failed: ${describe(error)}` } }),
    )
  }

  /** A row that cannot be read is one question's trouble. */
  #ask(command: Command, sender: Sender): unknown {
    try {
      if (command.op !== 'stats') return answer(this.#actor, command, sender)
      this.#stats ??= answer(this.#actor, command, sender)
      return this.#stats
    } catch (error) {
      const code = error instanceof StoreFailure && error.phase !== 'broken' ? 'STORAGE' : 'INTERNAL'
      return new Refused({ code, message: `it could not be read: ${describe(error)}` })
    }
  }
}

/** An error in a message that a caller is told. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
