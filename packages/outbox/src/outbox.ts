/** Enqueues jobs in the app's own transaction: they are rows of a table there, which are sent to the engine once they are committed. */
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

/** The options of `outbox`. */
export interface OutboxOptions {
  /** The result of `openEngine` or `connect`. */
  readonly engine: Engine
  /** The name of the table: 1 to 64 of the characters `A-Z a-z 0-9 _`. Default `millrace_outbox`. */
  readonly table?: string
  /** If true, creates the table if it does not exist. Default false: the app's migrations run `outboxSchema()`. */
  readonly createTable?: boolean
}

/** A job that is in the queue soon after its transaction commits, and never if it does not. */
export interface OutboxJob {
  /** A UUIDv7: the job's id in the engine, unless a key matches an earlier job there. */
  readonly id: string
}

/** A job that the engine rejected permanently. */
export interface RefusedJob {
  readonly id: string
  readonly name: string
  /** The data as it was enqueued; with a codec, encoded. */
  readonly data: unknown
  readonly enqueuedAt: Date
  readonly error: { readonly code: string; readonly message: string }
}

const KNOWN = new Set(['engine', 'table', 'createTable'])
const CLOSED: Refusal = { code: 'ENGINE_STOPPED', message: 'the outbox was closed: what it holds is sent by the next one on this database' }
const GONE: Refusal = { code: 'ENGINE_STOPPED', message: 'the connection of the outbox was closed: close the outbox before' }
const REFUSED_MAX = 1_000

/** Enqueues jobs within the transactions of the application's own database. `outbox` opens one. */
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
  /** Stops listening for the engine to become unreachable. */
  readonly #forget: () => void
  /** Ends the call in progress. */
  #hangUp = (_reason: Error) => {}

  /** @internal `outbox` opens outboxes. */
  constructor(connection: Connection, line: SourceLine, table: string, drawSource = newSource) {
    this.#connection = connection
    this.#line = line
    this.#drawSource = drawSource
    this.#source = drawSource()
    this.#table = new OutboxTable(connection, table)
    const { clock, logger } = line
    this.#log = new OutboxLog(connection, this.#table, clock, this.#source, () => void this.#end(GONE))
    this.#forwarder = new Forwarder({ what: 'outbox', log: this.#log, refusals: this.#log, clock, logger, call: this.#call })
    this.#forget = line.connectivity.whenAway(() => this.#forwarder.letGo())
  }

  /**
   * Writes the job into the transaction that is open on `tx`, the outbox's connection. Once it commits, the job is sent to the
   * engine automatically. If it rolls back, nothing of the job is left. `delay` and `ttl` count from this call.
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
    // A job that is rolled back leaves a gap: no other job ever has the same id.
    const place = ++this.#place
    this.#table.insert(this.#source, place, anchored(wanted, at), at)
    this.#wakeSoon()
    return { id: idOf(place, this.#source, at) }
  }

  /**
   * Runs `work` in a transaction on the connection: commits when it returns, rolls back when it throws. A transaction of
   * better-sqlite3, drizzle or kysely, or BEGIN and COMMIT, works as well.
   *
   * @throws what `work` throws; OptionTypeError if it returns a promise, or if a transaction is open already; what the database
   * throws
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
   * Resolves when all committed jobs are in the queue, or refused. Also resolves while the engine is unreachable, because nobody
   * knows for how long. Jobs are sent without this call, too: it notices the commit of an asynchronous transaction at once, and
   * waits.
   *
   * @throws what ended the outbox, or its engine
   */
  flush(): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(errorFrom(this.#over))
    this.#forwarder.wake()
    this.#log.look()
    return this.#line.connectivity.away ? Promise.resolve() : this.#forwarder.forwarded()
  }

  /**
   * Returns the jobs that the engine has refused, the oldest first; `limit` 1 to 1,000, default 100.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  refused(options: { readonly limit?: number } = {}): readonly RefusedJob[] {
    checkKnown('refused', options, new Set(['limit']))
    return this.#table.refused(integerOption('limit', options['limit'] ?? 100, 1, REFUSED_MAX)).map(refusedOf)
  }

  /** Removes a refused job from the table. Returns true if there was one. */
  dismiss(id: string): boolean {
    const key = typeof id === 'string' ? parseId(id) : undefined
    return key !== undefined && this.#table.dismiss(key.node, key.seq, key.enqueuedAt)
  }

  /** Ends the outbox and leaves the connection to the app. Jobs that were not sent stay for the next one. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#end(CLOSED)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Wakes the forwarder after this tick, and so after the end of a synchronous transaction. */
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
      // Jobs read before the end are not sent after it: nothing would end that call.
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
 * Opens the outbox on the app's connection. It sends what its table holds, and from then on what is committed there.
 *
 * @example
 * ```ts
 * const box = outbox(new Database('app.db'), { engine })
 * box.transaction((tx) => {
 *   saveOrder.run(100)
 *   box.enqueue(tx, receipt, { total: 100 })
 * })
 * ```
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

/** Delays count from the call, however much later the job reaches the engine. */
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
