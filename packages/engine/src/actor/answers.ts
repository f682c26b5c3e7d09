/**
 * Answers questions after the commit, so that they see at least everything that was decided before them. A turn answers
 * for a limited time, and leaves the rest.
 */
import {
  type Clock,
  type Command,
  DEFERRED,
  isError,
  isErrorOf,
  type JobKey,
  type Refusal,
  Refused,
  type Reply,
  type Request,
  refusalFrom,
  traitsOf,
} from '@millrace/core'
import { type ConnectionId, type Envelope, type Sender, StoreFailure } from '@millrace/core/kernel'
import { type Answering, answer } from './answer.ts'
import { Backlog } from './backlog.ts'
import type { Deliveries } from './deliveries.ts'
import type { Repeated } from './waiters/waiters.ts'

const NO_FILE: Refusal = {
  code: 'UNSUPPORTED',
  message: 'the store is in no file: back it up with the tools of the database that has it',
}

/** The actor, as far as its answers and its connections need it. */
interface Subscribing extends Answering {
  subscribe(connection: ConnectionId, on: boolean): void
  answerLate(connection: ConnectionId, reply: Reply): void
}

export class Answers {
  readonly #actor: Subscribing
  readonly #backlog: Backlog
  /** The stats since the last decision, by the command: callers until the next get the same object, which crosses a channel once. */
  readonly #stats = new Map<string, unknown>()

  constructor(actor: Subscribing, clock: Clock) {
    this.#actor = actor
    this.#backlog = new Backlog(clock)
  }

  /** The number of questions that no turn had time for yet. */
  get waiting(): number {
    return this.#backlog.size
  }

  beginTurn(): void {
    this.outdate()
    this.#backlog.beginTurn()
  }

  /** Drops earlier answers: one of the transactions of this turn has decided something, so they may no longer be true. */
  outdate(): void {
    this.#stats.clear()
  }

  /** Reads together what the questions among these ask one by one, until `endQuestions`. */
  beginQuestions(mail: readonly Envelope[], decisions: readonly unknown[]): void {
    const ids: JobKey[] = []
    for (const [index, { request }] of mail.entries())
      if (request.command.op === 'watch' && decisions[index] === DEFERRED) ids.push(request.command.id)
    if (ids.length < 2) return
    const { store, tables, waiters } = this.#actor
    try {
      waiters.results.readTogether(store, tables.jobs, ids)
    } catch {
      // Each of them reads for itself, and reports what failed.
    }
  }

  endQuestions(): void {
    this.#actor.waiters.results.forgetRows()
  }

  /** Answers at once if the turn has time and earlier questions of the connection are answered; otherwise one of the next turns does. */
  inTime(deliveries: Deliveries, envelope: Envelope): void {
    const { reads } = traitsOf(envelope.request.command.op)
    const isBehind = this.#backlog.size > 0 && this.#backlog.holds(envelope)
    const waits = reads !== 'nothing' && (isBehind || !this.#backlog.hasTime())
    if (waits) this.#backlog.add(envelope)
    else this.#answer(deliveries, envelope)
  }

  /**
   * Answers waiting questions while there is time. With `atLeastOne` it answers one in any case, so that a turn that is
   * slow for other reasons makes progress.
   */
  rest(deliveries: Deliveries, atLeastOne: boolean): void {
    for (let due = this.#backlog.hasTime() || atLeastOne; due; due = this.#backlog.hasTime()) {
      const envelope = this.#backlog.take()
      if (envelope === undefined) return
      this.#answer(deliveries, envelope)
    }
  }

  /** Adds questions that have waited for an event: this turn answers them, or one of the next. */
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
      else if (reply !== DEFERRED) deliveries.reply(connection, id, reply)
    }
  }

  #backup(connection: ConnectionId, { id }: Request, file: string): void {
    const { care } = this.#actor.store
    if (care === undefined) {
      this.#actor.answerLate(connection, { id, refusal: NO_FILE })
      return
    }
    care.backup(file).then(
      (value) => this.#actor.answerLate(connection, { id, value }),
      (error) => this.#actor.answerLate(connection, { id, refusal: backupRefusal(error) }),
    )
  }

  /** Answers one question. If a row cannot be read, only this question fails. */
  #ask(command: Command, sender: Sender): unknown {
    try {
      if (command.op !== 'stats') return answer(this.#actor, command, sender)
      const { names, definitions } = command
      const key = `${names} ${definitions}`
      const known = this.#stats.get(key) ?? answer(this.#actor, command, sender)
      this.#stats.set(key, known)
      return known
    } catch (error) {
      const code = error instanceof StoreFailure && error.phase !== 'broken' ? 'STORAGE' : 'INTERNAL'
      return new Refused({ code, message: `it could not be read: ${describe(error)}` })
    }
  }
}

/** A target that cannot be written is the caller's to change. After any other failure, the same call may succeed later. */
function backupRefusal(error: unknown): Refusal {
  return isErrorOf(error, 'NotWritableError') ? refusalFrom(error) : { code: 'STORAGE', message: `the backup failed: ${describe(error)}` }
}

/** Describes an error in a message for a caller. */
export function describe(error: unknown): string {
  return isError(error) ? `${error.name}: ${error.message}` : String(error)
}
