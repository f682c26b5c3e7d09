/**
 * An app that writes its own rows and jobs in one transaction, through the real outbox. Its processes die at any statement, and are
 * followed by others on the same database: what is committed there becomes one job each, and nothing else does.
 */
import type { SourceLine } from '@millrace/client'
import { type EnqueueOptions, formatId, MillraceError, NODE_LIMIT } from '@millrace/core'
import type { Job } from '@millrace/core/kernel'
import { type Connection, Outbox } from '@millrace/outbox'
import { sqliteError } from '../../../packages/sqlite/src/driver.ts'
import { AppDatabase } from './appDatabase.ts'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import { ACTS, JOBS, plain, QUEUES, type Task } from './handlers.ts'
import type { History } from './history.ts'
import type { Model } from './model.ts'
import type { Operations } from './operations.ts'

export interface AppOptions {
  /** 1 or more: for its name, and for the numbers of its calls. */
  readonly number: number
  readonly chance: Chance
  readonly history: History
  readonly model: Model
  readonly operations: Operations
  /** How often it dies at a statement; and how often that has an error. */
  readonly death: number
  readonly error: number
  readonly healed: () => boolean
  readonly newClient: () => Client
  readonly kill: (client: Client) => void
}

interface Expected {
  readonly number: number
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly data: string
  /** By a key another job may stand for it, or it may be refused. */
  readonly keyed: boolean
}

/** A process of the app's; its outbox is ended now and then, and another one opened. */
interface Running {
  readonly client: Client
  readonly connection: Connection
  box: Outbox | undefined
}

/** Its process dies here and now. */
class Death extends Error {}
class Undo extends Error {}

/** The numbers of calls: above all others. */
const CALLS = 10_000_000
const CHILDREN = 1_000_000
const DEATHS_MAX = 6
/** Of what is not between two commits. */
const ELSEWHERE = 0.2
const WRITES = /^(?:INSERT|UPDATE|DELETE|BEGIN|COMMIT)/
const KEYED: ReadonlySet<string> = new Set(['UNIQUE_CONFLICT', 'JOB_ACTIVE'])
/** Of a call, said again later. */
const PUT_OFF: ReadonlySet<string> = new Set(['QUEUE_FULL', 'QUEUE_DRAINING', 'BUSY', 'DISK_FULL', 'STORAGE', 'STORAGE_BUSY'])

export class App {
  readonly #options: AppOptions
  readonly #name: string
  readonly #database = new AppDatabase()
  readonly #committed = new Map<number, Expected>()
  /** Of the transaction that goes on. */
  #open: Expected[] = []
  #running: Running | undefined
  #calls = 0
  #deaths = 0
  #sources = 0
  #source = ''
  /** Of jobs without a key. */
  #lastAppeared = 0

  constructor(options: AppOptions) {
    this.#options = options
    this.#name = `app${options.number}`
  }

  act(): void {
    this.#survive(() => {
      const running = this.#start()
      const { client, box } = running
      if (box === undefined || client.frozenMs > 0) return
      if (this.#database.inTransaction) this.#goOn(running, box)
      else this.#begin(running, box)
    })
  }

  /** Nothing goes wrong any more: whether all is sent that is committed. */
  heal(): boolean {
    this.act()
    return !this.#database.inTransaction && this.#database.waiting() === 0
  }

  noted(entry: string): boolean {
    const [source, place] = entry.split(' ') as [string, string]
    return this.#database.noted(source, Number(place))
  }

  /** A job is created. */
  appeared(number: number, job: Job): void {
    const { history } = this.#options
    const call = number - this.#options.number * CALLS
    if (call < 1 || call > CHILDREN) return
    const expected = this.#committed.get(number)
    if (expected === undefined) {
      history.violate(6, `job ${job.seq} is of call ${number}, which ${this.#name} has not committed`)
      return
    }
    if (expected.keyed) return
    const { id, name, queue, data } = expected
    const [found, wanted] = [
      [formatId(job), job.lane.name, job.lane.queue.name, job.data],
      [id, name, queue, data],
    ]
    history.hold(`${found}` === `${wanted}`, 34, () => `job ${job.seq} is ${found}, and ${this.#name} has committed ${wanted}`)
    history.hold(number > this.#lastAppeared, 21, () => `call ${number} of ${this.#name} comes after call ${this.#lastAppeared}`)
    this.#lastAppeared = number
    history.meet('outboxed')
  }

  /** At the end of a healed world. */
  audit(): void {
    const { history, model } = this.#options
    const waiting = this.#database.waiting()
    history.hold(waiting === 0, 19, () => `${waiting} rows of the outbox of ${this.#name} are never sent`)
    const [rows, numbers] = [this.#database.rows(), [...this.#committed.keys()]]
    history.hold(`${rows}` === `${numbers}`, 1, () => `${this.#name} has the rows ${rows}, and has committed ${numbers}`)
    const refusals = this.#database.refusals()
    for (const number of refusals.keys())
      history.hold(this.#committed.has(number), 6, () => `call ${number} is refused, and ${this.#name} has not committed it`)
    for (const { number, keyed } of this.#committed.values()) {
      const there = model.numbers.has(number)
      const code = refusals.get(number)
      if (code === undefined) {
        history.hold(there || keyed, 1, () => `call ${number}, which ${this.#name} has committed, is lost`)
        continue
      }
      history.hold(!there, 6, () => `call ${number} of ${this.#name} is refused, and has happened`)
      const expected = keyed && KEYED.has(code) ? true : code === 'INTERNAL' && history.met['statementError'] !== undefined
      history.hold(expected, 4, () => `call ${number} of ${this.#name} is refused with ${code}`)
    }
  }

  close(): void {
    this.#database.close()
  }

  /** The process that goes on, or the next one. */
  #start(): Running {
    if (this.#running?.client.dead === false) return this.#running
    const { newClient, history } = this.#options
    const client = newClient()
    history.note(`${this.#name} starts as ${client.name}`)
    this.#open = []
    const connection = this.#database.connect({
      dead: () => client.dead,
      before: (sql) => this.#before(client, sql),
      after: (sql) => this.#after(client, sql),
    })
    const running: Running = { client, connection, box: undefined }
    this.#running = running
    this.#openBox(running)
    return running
  }

  #openBox(running: Running): void {
    const { chance } = this.#options
    running.box = new Outbox(running.connection, this.#line(running.client), 'millrace_outbox', () => {
      this.#source = `${this.#name}-${++this.#sources}-${Math.floor(chance.random() * 2 ** 48)}`
      return { uuid: this.#source, number: 1 + Math.floor(chance.random() * (NODE_LIMIT - 1)) }
    })
  }

  /** The engine's own, listened to. */
  #line(client: Client): SourceLine {
    const { history } = this.#options
    const line = client.engine.sourceLine()
    return {
      ...line,
      call: async (command) => {
        if (command.source !== this.#source) history.meet('outboxLeftBehind')
        try {
          const answer = await line.call(command)
          if (answer.refused !== undefined) history.meet('outboxRefused')
          return answer
        } catch (error) {
          if (error instanceof MillraceError && PUT_OFF.has(error.code)) history.meet('outboxPutOff')
          throw error
        }
      },
    }
  }

  #begin(running: Running, box: Outbox): void {
    const { chance, operations, healed } = this.#options
    const { client, connection } = running
    const kind = healed() ? 'nothing' : chance.pick(['write', 'write', 'write', 'write', 'begin', 'begin', 'flush', 'reopen'] as const)
    if (kind === 'write') {
      box.transaction(() => {
        this.#write(connection, box)
        if (chance.hits(0.25)) throw new Undo()
      })
    } else if (kind === 'begin') {
      connection.exec('BEGIN')
      this.#write(connection, box)
    } else if (kind === 'flush') this.#flush(client, box)
    else if (kind === 'reopen') {
      running.box = undefined
      operations.call(client, `close the outbox of ${this.#name}`, box.close(), () => this.#survive(() => this.#openBox(running)))
    }
  }

  #goOn({ client, connection }: Running, box: Outbox): void {
    const { chance, healed } = this.#options
    const kind = chance.pick(
      healed() ? (['COMMIT', 'ROLLBACK'] as const) : (['COMMIT', 'COMMIT', 'ROLLBACK', 'write', 'part', 'flush'] as const),
    )
    if (kind === 'write') this.#write(connection, box)
    else if (kind === 'flush') this.#flush(client, box)
    else if (kind === 'part') {
      const before = this.#open
      connection.exec('SAVEPOINT part')
      this.#write(connection, box)
      connection.exec('ROLLBACK TO part')
      this.#open = before
    } else connection.exec(kind)
  }

  #flush(client: Client, box: Outbox): void {
    this.#options.operations.call(client, `flush the outbox of ${this.#name}`, box.flush())
  }

  /** Rows of the app's own, and a job for each. */
  #write(connection: Connection, box: Outbox): void {
    const { chance, history } = this.#options
    const row = connection.prepare('INSERT INTO app_row (number) VALUES (?)')
    for (let jobs = chance.whole(1, chance.hits(0.2) ? 12 : 3); jobs > 0; jobs--) {
      const number = this.#options.number * CALLS + ++this.#calls
      const task: Task = { number, act: chance.pick(ACTS), ms: chance.small(200) }
      const { name } = chance.pick(JOBS)
      const options = this.#drawOptions()
      row.run(number)
      const { id } = box.enqueue(connection, name, task, options)
      history.note(`${this.#name} writes call ${number} ${name} ${task.act} ${JSON.stringify(options)}`)
      const { queue = 'default', idempotencyKey, unique } = options
      const keyed = (idempotencyKey ?? unique) !== undefined
      this.#open = [...this.#open, { number, id, name, queue, data: JSON.stringify(task), keyed }]
    }
  }

  #drawOptions(): EnqueueOptions {
    const { chance } = this.#options
    return {
      maxAttempts: chance.whole(1, 3),
      ...(chance.hits(0.2) && { delay: chance.small(2_500) }),
      ...(chance.hits(0.2) && { priority: chance.whole(-3, 3) }),
      ...(chance.hits(0.1) && { ttl: chance.whole(1, 1_500) }),
      ...plain(),
      ...(chance.hits(0.1) && { timeout: Number.POSITIVE_INFINITY, heartbeatTimeout: 400 }),
      ...(chance.hits(0.25) && { queue: QUEUES[1] }),
      ...(chance.hits(0.1) && { idempotencyKey: `key-${chance.whole(1, 6)}` }),
      ...(chance.hits(0.15) && {
        unique: { key: `unique-${chance.whole(1, 3)}`, onConflict: chance.pick(['skip', 'replace', 'error'] as const) },
      }),
    }
  }

  #before(client: Client, sql: string): void {
    const { chance, error, healed } = this.#options
    if (client.dead) throw new Death()
    this.#mayDie(client, 'before', sql)
    if (healed() || !WRITES.test(sql) || !chance.hits(error)) return
    this.#options.history.meet(`appError at ${verbOf(sql)}`)
    throw sqliteError('simulated trouble of an app', 'SQLITE_BUSY')
  }

  #after(client: Client, sql: string): void {
    const { history } = this.#options
    const verb = verbOf(sql)
    const open = this.#open
    const over = !this.#database.inTransaction
    if (over) this.#open = []
    if (verb === 'COMMIT') {
      history.note(`${this.#name} commits ${open.map(({ number }) => number)}`)
      for (const expected of open) this.#committed.set(expected.number, expected)
      if (open.length > 0) this.#mayDie(client, 'after', sql)
    } else if (verb === 'DELETE') this.#mayDie(client, this.#database.waiting() > 0 ? 'amid' : 'after', sql)
    else if (verb === 'ROLLBACK' && over && open.length > 0) history.meet('outboxRolledBack')
  }

  #mayDie(client: Client, when: string, sql: string): void {
    const { chance, death, history, kill, healed } = this.#options
    const verb = verbOf(sql)
    const likely = verb === 'COMMIT' || verb === 'DELETE' || verb === 'UPDATE' ? death : death * ELSEWHERE
    if (healed() || this.#deaths === DEATHS_MAX || !chance.hits(likely)) return
    this.#deaths++
    history.note(`${this.#name} dies ${when} ${verb}`)
    history.meet(`app dies ${when} ${verb}`)
    kill(client)
    throw new Death()
  }

  /** Ends what the app does where its process dies; after an error of its database it rolls back, and goes on. */
  #survive(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (error instanceof Death || error instanceof Undo) return
      if ((error as { readonly code?: unknown }).code !== 'SQLITE_BUSY') throw error
      const running = this.#running as Running
      if (this.#database.inTransaction) this.#survive(() => void running.connection.exec('ROLLBACK'))
    }
  }
}

function verbOf(sql: string): string {
  return sql.split(' ', 1)[0] as string
}
