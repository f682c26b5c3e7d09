/** What clients ask for, drawn at random, and what each answer tells the checker. */
import type { EnqueueOptions } from '@millrace/core'
import { MillraceError } from '@millrace/core'
import type { Chance } from './chance.ts'
import type { Checker } from './checker.ts'
import type { Client } from './client.ts'
import { ACTS, JOBS, type Task } from './handlers.ts'
import type { Scheduler } from './scheduler.ts'

/** Refusals after which nothing of the call has happened. */
const DEFINITE = new Set(['BUSY', 'DISK_FULL', 'STORAGE', 'STORAGE_BUSY', 'UNIQUE_CONFLICT', 'JOB_ACTIVE', 'INTERNAL'])

export class Operations {
  readonly #chance: Chance
  readonly #checker: Checker
  readonly #scheduler: Scheduler
  #number = 0
  /** Idempotency keys by job number. */
  readonly keys = new Map<number, string>()
  /** Jobs whose handlers cannot fail, and that nothing but their worker ends. */
  readonly sure = new Set<number>()
  readonly #ids: string[] = []

  constructor(chance: Chance, checker: Checker, scheduler: Scheduler) {
    this.#chance = chance
    this.#checker = checker
    this.#scheduler = scheduler
  }

  /** One call, of a client that lives. */
  act(client: Client): void {
    const chance = this.#chance
    if (this.#ids.length === 0 || chance.hits(0.65)) {
      if (chance.hits(0.15)) this.#enqueueMany(client)
      else this.#enqueue(client, this.#task(), this.#options())
      return
    }
    const id = chance.pick(this.#ids)
    const kind = chance.pick(['cancel', 'retry', 'update', 'runNow', 'delete', 'get', 'result', 'redrive', 'stats'] as const)
    const { engine } = client
    switch (kind) {
      case 'cancel':
        this.#forgetSure(id)
        this.#call(client, `cancel ${id}`, engine.cancel(id), (outcome) => {
          const known = this.#checker.known.get(id)
          if (outcome === 'cancelled' && known !== undefined && !known.revived) known.cancelled = true
        })
        break
      case 'retry':
        this.#revive(id)
        this.#call(client, `retry ${id}`, engine.retry(id))
        break
      case 'update':
        this.#call(
          client,
          `update ${id}`,
          engine.update(id, {
            priority: chance.whole(-5, 5),
            ...(chance.hits(0.3) && { runAt: this.#scheduler.wall + chance.delay(500) }),
          }),
        )
        break
      case 'runNow':
        this.#call(client, `runNow ${id}`, engine.runNow(id))
        break
      case 'delete':
        this.#checker.deletedUnknown.add(id)
        this.#call(client, `delete ${id}`, engine.delete(id), () => {
          const known = this.#checker.known.get(id)
          if (known !== undefined) known.deleted = true
        })
        break
      case 'get':
        this.#call(client, `get ${id}`, engine.get(id))
        break
      case 'redrive':
        for (const known of this.#checker.known.keys()) this.#revive(known)
        this.#call(client, 'redrive', engine.redrive())
        break
      case 'stats':
        this.#call(client, 'stats', engine.stats())
        break
      default:
        this.#call(client, `watch ${id}`, engine.get(id))
    }
  }

  #task(): Task {
    return { number: ++this.#number, act: this.#chance.pick(ACTS), ms: this.#chance.delay(120) }
  }

  #options(): EnqueueOptions {
    const chance = this.#chance
    return {
      ...(chance.hits(0.2) && { delay: chance.delay(2_000) }),
      ...(chance.hits(0.2) && { priority: chance.whole(-3, 3) }),
      ...(chance.hits(0.1) && { weight: chance.whole(1, 4) }),
      maxAttempts: chance.whole(1, 4),
      ...(chance.hits(0.1) && { ttl: chance.whole(1, 1_500) }),
      ...(chance.hits(0.1) && { timeout: chance.whole(50, 1_000) }),
      ...(chance.hits(0.1) && { queue: 'other' }),
      ...(chance.hits(0.1) && { tags: ['t'] }),
      ...(chance.hits(0.2) && { idempotencyKey: `key-${chance.whole(1, 5)}` }),
      ...(chance.hits(0.15) && {
        unique: { key: `unique-${chance.whole(1, 3)}`, onConflict: chance.pick(['skip', 'replace', 'reschedule', 'error'] as const) },
      }),
    }
  }

  #enqueue(client: Client, task: Task, options: EnqueueOptions, tries = 3): void {
    const job = this.#chance.pick(JOBS)
    const { number } = task
    // By name, as the engine keeps them.
    if (options.idempotencyKey !== undefined) this.keys.set(number, `${job.name} ${options.idempotencyKey}`)
    const plain =
      options.ttl === undefined && options.timeout === undefined && options.unique === undefined && options.idempotencyKey === undefined
    if (plain && task.act === 'ok') this.sure.add(number)
    const call = client.engine.enqueue(job, task, options)
    this.#call(
      client,
      `enqueue ${number}`,
      call,
      (handle) => {
        this.#ids.push(handle.id)
        if (!handle.created) return
        this.#checker.enqueued(handle.id, number)
      },
      (code) => {
        if (DEFINITE.has(code)) this.#checker.refused.add(number)
        // Safe to repeat under its key, whatever became of it.
        else if (options.idempotencyKey !== undefined && tries > 0 && !client.dead)
          this.#scheduler.after(100, () => client.dead || this.#again(client, job.name, task, options, tries - 1))
      },
    )
  }

  #again(client: Client, name: string, task: Task, options: EnqueueOptions, tries: number): void {
    this.#call(
      client,
      `again ${task.number}`,
      client.engine.enqueue(name, task, options),
      (handle) => void this.#ids.push(handle.id),
      () => {
        if (tries > 0 && !client.dead) this.#scheduler.after(100, () => client.dead || this.#again(client, name, task, options, tries - 1))
      },
    )
  }

  #enqueueMany(client: Client): void {
    const tasks = Array.from({ length: this.#chance.whole(2, 6) }, () => this.#task())
    const requests = tasks.map((data) => ({ job: this.#chance.pick(JOBS), data }))
    this.#call(
      client,
      `enqueueMany ${tasks.map(({ number }) => number).join()}`,
      client.engine.enqueueMany(requests),
      (handles) => {
        for (const [index, { id }] of handles.entries()) {
          this.#ids.push(id)
          this.#checker.enqueued(id, (tasks[index] as Task).number)
        }
      },
      (code) => {
        if (DEFINITE.has(code)) for (const { number } of tasks) this.#checker.refused.add(number)
      },
    )
  }

  #revive(id: string): void {
    const known = this.#checker.known.get(id)
    if (known === undefined) return
    known.revived = true
    known.cancelled = false
    this.#forgetSure(id)
  }

  #forgetSure(id: string): void {
    const known = this.#checker.known.get(id)
    if (known !== undefined) this.sure.delete(known.number)
  }

  #call<T>(client: Client, what: string, call: Promise<T>, done?: (value: T) => void, refused?: (code: string) => void): void {
    const checker = this.#checker
    checker.open++
    checker.note(this.#scheduler.mono, client.name, what)
    const settle = (outcome: string) => {
      checker.open--
      checker.note(this.#scheduler.mono, client.name, what, outcome)
    }
    client.calls.add(what)
    call.then(
      (value) => {
        if (client.dead) return
        client.calls.delete(what)
        settle('ok')
        done?.(value)
      },
      (error: unknown) => {
        if (client.dead) return
        client.calls.delete(what)
        const code = error instanceof MillraceError ? error.code : String(error)
        settle(code)
        if (!(error instanceof MillraceError)) checker.fail('errors', `${what} was answered with ${String(error)}`)
        refused?.(code)
      },
    )
  }
}
