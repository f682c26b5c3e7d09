/** Jobs that are enqueued in the app's own transaction: rows of a table there, which are sent to the engine once they are committed. */
import { type Engine, Forwarder, type ForwarderOptions, type Source, type SourceLine } from '@millrace/client'
import {
  checkKnown,
  decodeData,
  type EnqueueOptions,
  errorFrom,
  formatId,
  integerOption,
  type NewJob,
  OptionTypeError,
  PLACE_LIMIT,
  parseId,
  type Refusal,
  sourcedNode,
} from '@millrace/core'
import type { EnqueueArguments, JobType } from '@millrace/worker'
import { newSource } from './clock.ts'
import { type Connection, connectionOption, inTransaction } from './connection.ts'
import { type OutboxChunk, OutboxLog } from './log.ts'
import { BEGIN, OutboxTable, outboxSchema, type RefusedRow, TABLE, tableOption } from './table.ts'

export interface OutboxOptions {
  /** Of `openEngine` or `connect`. */
  readonly engine: Engine
  /** Default `millrace_outbox`; 1 to 64 of the characters `A-Z a-z 0-9 _`. */
  readonly table?: string
  /** Makes the table where it is not there yet. Default false: the app's migrations run `outboxSchema()`. */
  readonly createTable?: boolean
}

/** A job that is in the queue soon after its transaction has committed, and never if it does not. */
export interface OutboxJob {
  /** A UUIDv7: the job's id in the engine, unless a key matches an earlier job there. */
  readonly id: string
}

/** What the engine would not take, for good. */
export interface RefusedJob {
  readonly id: string
  readonly name: string
  /** As it was enqueued; with a codec, encoded. */
  readonly data: unknown
  readonly enqueuedAt: Date
  readonly error: { readonly code: string; readonly message: string }
}

const KNOWN = new Set(['engine', 'table', 'createTable'])
const CLOSED: Refusal = { code: 'ENGINE_STOPPED', message: 'the outbox was closed: what it holds is sent by the next one on this database' }
const GONE: Refusal = { code: 'ENGINE_STOPPED', message: 'the connection of the outbox was closed: close the outbox before' }
const REFUSED_MAX = 1_000

export class Outbox {
  readonly #connection: Connection
  readonly #line: SourceLine
  readonly #table: OutboxTable
  readonly #log: OutboxLog
  readonly #forwarder: Forwarder<OutboxChunk>
  readonly #drawSource: () => Source
  #source: Source
  #place = 0
  #waking = false
  #closed = false
  #over: Refusal | undefined
  /** Ends the listening for the engine's going away. */
  readonly #forget: () => void
  /** Ends the call that is under way. */
  #hangUp = (_reason: Error) => {}

  /** @internal Outboxes are opened by `outbox`. */
  constructor(connection: Connection, line: SourceLine, table: string, drawSource = newSource) {
    this.#connection = connection
    this.#line = line
    this.#drawSource = drawSource
    this.#source = drawSource()
    this.#table = new OutboxTable(connection, table)
    const { clock, logger } = line
    this.#log = new OutboxLog(connection, this.#table, clock, this.#source, () => void this.#end(GONE))
    this.#forwarder = new Forwarder({ what: 'outbox', log: this.#log, refusals: this.#log, clock, logger, call: this.#call })
    this.#forget = line.reach.whenAway(() => this.#forwarder.letGo())
  }

  /**
   * Writes the job into the transaction that is open on `tx`, the outbox's connection. Once it commits, the job is sent to the engine by
   * itself; nothing is left of it where it rolls back. `delay` and `ttl` count from this call.
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError; EngineStoppedError after `close`; what the database throws
   */
  enqueue<Input>(tx: Connection, job: JobType<Input> | string, ...[data, options]: EnqueueArguments<Input>): OutboxJob {
    if (this.#closed) throw errorFrom(CLOSED)
    if (tx !== this.#connection) {
      const message =
        'tx is the connection of this outbox, whose commits it hears of: of drizzle or kysely, the one that they were made with'
      throw new OptionTypeError('tx', message)
    }
    if (!inTransaction(tx))
      throw new OptionTypeError('tx', 'tx has no transaction open: call enqueue within outbox.transaction(), or between BEGIN and COMMIT')
    const wanted = this.#line.newJob(job as JobType | string, data, options as EnqueueOptions | undefined)
    const at = this.#line.clock.read().wall
    if (this.#place + 1 >= PLACE_LIMIT) this.#beginSource()
    // One that is rolled back leaves a gap: no other job has ever the same id.
    const place = ++this.#place
    this.#table.insert(this.#source, place, anchored(wanted, at), at)
    this.#wakeSoon()
    return { id: idOf(place, this.#source, at) }
  }

  /**
   * Runs `work` in a transaction on the connection: committed when it returns, rolled back when it throws. What better-sqlite3, drizzle or
   * kysely offer, or BEGIN and COMMIT, does as well.
   *
   * @throws what `work` throws; OptionTypeError where it answers a promise, or a transaction is open already; what the database throws
   */
  transaction<Result>(work: (tx: Connection) => Result): Result {
    const connection = this.#connection
    if (inTransaction(connection))
      throw new OptionTypeError('tx', 'a transaction is already open on this connection: call enqueue in that one')
    connection.exec(BEGIN)
    try {
      const result = work(connection)
      if (result instanceof Promise) {
        result.catch(() => {})
        throw new OptionTypeError('work', 'work answers a promise, and the transaction ends when it returns: await before it')
      }
      connection.exec('COMMIT')
      return result
    } catch (error) {
      if (inTransaction(connection)) connection.exec('ROLLBACK')
      throw error
    }
  }

  /**
   * Resolves when all that is committed is in the queue, or refused; or when the engine takes nothing for a time that nobody knows. It need
   * not be called for jobs to be sent: it tells at once of a commit that an asynchronous transaction has made, and waits.
   *
   * @throws what ended the outbox, or its engine
   */
  flush(): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(errorFrom(this.#over))
    this.#forwarder.wake()
    this.#log.look()
    return this.#line.reach.away ? Promise.resolve() : this.#forwarder.forwarded()
  }

  /**
   * What the engine has refused, the oldest first; `limit` 1 to 1,000, default 100.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  refused(options: { readonly limit?: number } = {}): readonly RefusedJob[] {
    checkKnown('refused', options, new Set(['limit']))
    return this.#table.refused(integerOption('limit', options['limit'] ?? 100, 1, REFUSED_MAX)).map(refusedOf)
  }

  /** Removes a refused job from the table; answers whether there was one. */
  dismiss(id: string): boolean {
    const key = typeof id === 'string' ? parseId(id) : undefined
    return key !== undefined && this.#table.dismiss(key.node, key.seq, key.enqueuedAt)
  }

  /** Ends the outbox and leaves the connection to the app. What was not sent stays for the next one. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#end(CLOSED)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Behind this tick, and so behind the end of a synchronous transaction. */
  #wakeSoon(): void {
    if (this.#waking) return
    this.#waking = true
    queueMicrotask(() => {
      this.#waking = false
      this.#forwarder.wake()
    })
  }

  #beginSource(): void {
    this.#source = this.#drawSource()
    this.#place = 0
    this.#log.begin(this.#source)
  }

  readonly #call: ForwarderOptions['call'] = (command) =>
    new Promise((resolve, reject) => {
      // What was read before the end is not sent after it: nobody would end that call.
      if (this.#over !== undefined) {
        reject(errorFrom(this.#over))
        return
      }
      this.#hangUp = reject
      this.#line.call(command).then(resolve, (error) => {
        const over = this.#line.ended()
        if (over !== undefined) void this.#end(over)
        reject(error)
      })
    })

  #end(reason: Refusal): Promise<void> {
    const { code, message } = reason
    if (this.#over === undefined && reason !== CLOSED) this.#line.logger?.warn('the outbox no longer sends anything', { code, message })
    this.#over ??= reason
    const ended = this.#forwarder.close(reason)
    this.#log.close()
    this.#forget()
    this.#hangUp(errorFrom(reason))
    return ended
  }
}

/**
 * The outbox on the app's connection: sends what its table holds, and from then on what is committed there.
 *
 * @throws OptionTypeError, OptionRangeError: no such connection, engine or table
 */
export function outbox(connection: Connection, options: OutboxOptions): Outbox {
  const checked = connectionOption(connection)
  checkKnown('outbox', options, KNOWN)
  const { engine, table = TABLE, createTable = false } = options as OutboxOptions
  if (typeof engine?.sourceLine !== 'function') throw new OptionTypeError('engine', 'engine must be the result of openEngine or connect')
  if (typeof createTable !== 'boolean')
    throw new OptionTypeError('createTable', `createTable must be true or false, got ${typeof createTable}`)
  const name = tableOption(table)
  if (createTable) checked.exec(outboxSchema(name))
  return new Outbox(checked, engine.sourceLine(), name)
}

/** Delays count from the call, however much later the engine hears of it. */
function anchored({ delay, ...job }: NewJob, at: number): NewJob {
  return delay === undefined ? job : { ...job, runAt: at + delay }
}

function idOf(place: number, { number }: Source, enqueuedAt: number): string {
  return formatId({ seq: 0, node: sourcedNode(place, number), enqueuedAt })
}

function refusedOf({ source, place, entry: { at, jobs }, code, message }: RefusedRow): RefusedJob {
  const { name, data } = jobs[0] as NewJob
  return { id: idOf(place, source, at), name, data: decodeData(data), enqueuedAt: new Date(at), error: { code, message } }
}
