/** What clients ask for, drawn at random; every call has an answer, and one whose outcome is unknown is made again under its key. */

import type { FlowNodeRequest, JobHandle } from '@millrace/client'
import {
  type EnqueueOptions,
  type FlowOptions,
  type KeepOptions,
  type ManyFilter,
  MillraceError,
  type OnParentFailure,
  PAUSE_PARTS,
  START,
} from '@millrace/core'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import { ACTS, type Act, JOBS, plain, QUEUES, SURE, type Task } from './handlers.ts'
import type { History } from './history.ts'
import type { Limits } from './limits.ts'
import { type Awaiting, messageOf } from './messageBook.ts'
import { MESSAGES } from './programs.ts'
import type { Requests } from './requests.ts'
import type { StepBook } from './stepBook.ts'
import type { Timeline } from './timeline.ts'

export interface OperationsOptions {
  readonly chance: Chance
  /** Of their own, so that seeds whose world takes none are as they were. */
  readonly manyChance: Chance
  /** Decides which bulk calls make jobs due, or change where they wait. */
  readonly placeChance: Chance
  /** Decides which pauses end by themselves. */
  readonly timedChance: Chance
  /** Decides what is paused and resumed, and for how long. */
  readonly pauseChance: Chance
  /** Decides which calls name a job by its unique key, and which keys end with the start. */
  readonly keyedChance: Chance
  /** Decides which bulk calls, and which calls for one job, change tags. */
  readonly labelChance: Chance
  readonly batchChance: Chance
  readonly hastyChance: Chance
  /** The same, of how old jobs may get. */
  readonly ageChance: Chance
  /** And of how long queues keep their finished jobs. */
  readonly retainChance: Chance
  /** And of queues' shares. */
  readonly shareChance: Chance
  /** And of whether their job names take turns. */
  readonly fairChance: Chance
  /** Decides which jobs log many lines, and how many of them their runs keep. */
  readonly logChance: Chance
  /** Decides which queues are to tell of calls that an earlier job answers. */
  readonly repeatChance: Chance
  /** Of where queues leave their dead letters. */
  readonly letterChance: Chance
  /** Of rates in the same worlds. */
  readonly rateChance: Chance
  readonly sharedChance: Chance
  readonly tierChance: Chance
  /** And of what a start takes from them. */
  readonly tokensChance: Chance
  /** And of keys that crowd. */
  readonly keyChance: Chance
  /** And of jobs that join others. */
  readonly joinChance: Chance
  /** And of jobs whose handlers remember. */
  readonly stepChance: Chance
  /** Calls about what queues are told may be about all of them at once. */
  readonly pausesAll: boolean
  readonly history: History
  readonly timeline: Timeline
  readonly requests: Requests
  /** Of most jobs, which then run for longer; 0: each has its own. */
  readonly leaseMs: number
  /** How often a queue is told something. */
  readonly limits: number
  /** How often a change of a queue's limits is about one that queues share. */
  readonly sharedLimits: number
  /** How often a change of a queue's limits is about a tier of its keys. */
  readonly keyTiers: number
  /** How often a queue is told how long its finished jobs are kept. */
  readonly retains: number
  /** How often whoever enqueues waits for the outcome. */
  readonly waits: number
  /** How often a call is for a flow. */
  readonly flows: number
  /** How often that is a batch: jobs that wait for nobody, and one that runs when they have ended. */
  readonly callbacks: number
  /** How many jobs join others. */
  readonly joins: number
  /** How many are programs of durable calls. */
  readonly programs: number
  /** Those of them that have failed or were cancelled, with the names of their results. */
  readonly messageChance: Chance
  /** Jobs that wait for messages. */
  readonly awaiting: () => readonly Awaiting[]
  readonly stuck: () => StepBook['stuck']
  /** By their ids: jobs that have joined others and have yet to complete, and those that they have joined. */
  readonly joiners: () => readonly string[]
  /** How often somebody acts as soon as a flow's first job has ended. */
  readonly hasty: number
  /** Of workers that somebody tells to stop: how long what runs may take. None: nobody does. */
  readonly stops: readonly number[]
  /** By their public names. */
  readonly workers: () => readonly string[]
}

const TAGS: readonly (readonly string[])[] = [[], ['t'], ['u'], ['t', 'u']]
export const KEYS = ['key-1', 'key-2', 'vip:3']
/** Times of jobs of their own. */
const KEEPS = [40, 'forever', 0, 1_500, 300] as const

/** 0: none are kept. */
const AGES_MS = [0, 300, 3_000, 7 * 86_400_000]
const COUNTS = [0, 1, 3, 1_000_000]
const LIMITLESS = {
  concurrencyLimit: null,
  perKeyLimit: null,
  share: null,
  rateLimit: null,
  perKeyRateLimit: null,
  keyTiers: null,
  sharedLimit: null,
}
const NOTHING_TOLD = { ...LIMITLESS, maxLength: null, onFull: null }
/** How long timed pauses last; that of a handler which snoozes is another. */
const PAUSES_MS = [1, 400, 2_500]
/** What goes on for longer than a short lease. */
const LONG: readonly Act[] = ['long', 'heartbeat', 'deaf']
const DEFINITE = new Set([
  'BUSY',
  'DISK_FULL',
  'STORAGE',
  'STORAGE_BUSY',
  'UNIQUE_CONFLICT',
  'QUEUE_FULL',
  'QUEUE_DRAINING',
  'JOB_ACTIVE',
  'INTERNAL',
])

type FlowShape = readonly (FlowNodeRequest & { readonly data: Task; readonly onParentFailure: OnParentFailure })[]
type Wanted = readonly { readonly job: (typeof JOBS)[number]; readonly data: Task; readonly options: EnqueueOptions }[]
type Create = (shape: FlowShape, options: FlowOptions) => Promise<readonly JobHandle[]>

export class Operations {
  readonly #options: OperationsOptions
  readonly #handles: { readonly handle: JobHandle; readonly of: Client }[] = []
  /** Calls whose jobs take one attempt in a world without faults. */
  readonly sure = new Set<number>()
  readonly touched = new Set<string>()
  /** In some worlds. */
  readonly #takesMany: boolean
  readonly #ages: boolean
  readonly #fair: boolean
  readonly #repeats: boolean
  readonly #logs: boolean
  readonly #rates: boolean
  readonly #timed: boolean
  #number = 0
  #call = 0
  #messages = 0

  constructor(options: OperationsOptions) {
    this.#options = options
    this.#takesMany = options.manyChance.hits(0.3)
    this.#ages = options.ageChance.hits(0.2)
    this.#fair = options.fairChance.hits(0.4)
    this.#repeats = options.repeatChance.hits(0.3)
    this.#logs = options.logChance.hits(0.3)
    this.#rates = options.rateChance.hits(0.3)
    this.#timed = options.timedChance.hits(0.4)
  }

  act(client: Client): void {
    const { chance, limits, flows, retains, retainChance } = this.#options
    if (retains > 0 && retainChance.hits(retains)) {
      this.#retain(client)
      return
    }
    if (limits > 0 && chance.hits(limits)) {
      this.#tell(client)
      return
    }
    if (this.#handles.length === 0 || chance.hits(0.6)) {
      if (flows > 0 && chance.hits(flows)) this.#flow(client)
      else if (chance.hits(0.2)) this.#enqueueMany(client)
      else this.#enqueue(client, this.#drawOptions(), chance.pick(JOBS).name, 3)
      return
    }
    const chosen = chance.pick(this.#handles)
    if (this.#takesMany && this.#options.manyChance.hits(0.15)) this.#many(client, chosen)
    else this.#manage(client, chosen)
  }

  /** A queue is told where its dead letters go: to a queue of their own, or to the other one, which may name this one. */
  tellLetters(client: Client): void {
    const { letterChance: chance } = this.#options
    const [queue, other] = chance.hits(0.7) ? QUEUES : [QUEUES[1], QUEUES[0]]
    const deadLetter = chance.pick(['dead', 'dead', other, null])
    this.call(client, `configure ${queue} ${JSON.stringify({ deadLetter })}`, client.engine.queues.configure(queue, { deadLetter }))
  }

  /** Queues that all have jobs take turns: some are told their share, and some get many jobs at once. */
  crowd(client: Client): void {
    const { shareChance: chance, fairChance, rateChance } = this.#options
    if (this.#rates && rateChance.hits(0.3)) {
      this.#ration(client)
      return
    }
    if (this.#fair && fairChance.hits(0.3)) {
      const [queue, fairness] = [fairChance.pick(QUEUES), fairChance.pick(['name', 'name', 'none'] as const)]
      this.call(client, `configure ${queue} ${fairness}`, client.engine.queues.configure(queue, { fairness }))
      return
    }
    if (chance.hits(0.3)) {
      const [queue, share] = [chance.pick(QUEUES), chance.pick([2, 3, 5, null])]
      this.call(client, `configure ${queue} ${JSON.stringify({ share })}`, client.engine.queues.configure(queue, { share }))
      return
    }
    const tasks = Array.from({ length: chance.whole(3, 12) }, () => this.#task())
    this.#sendMany(
      client,
      tasks.map((data) => ({ job: chance.pick(JOBS), data, options: { ...plain(), queue: chance.pick(QUEUES) } })),
    )
  }

  /** Each queue has its rate, and more jobs than that lets start: several wait for tokens at once. */
  #ration(client: Client): void {
    const { rateChance: chance } = this.#options
    for (const queue of QUEUES) {
      const rateLimit = { limit: 1, period: chance.pick([100, 1_000, 10_000]), burst: 1 }
      this.call(client, `configure ${queue} ${JSON.stringify({ rateLimit })}`, client.engine.queues.configure(queue, { rateLimit }))
      const tasks = Array.from({ length: chance.whole(2, 4) }, () => this.#task())
      this.#sendMany(
        client,
        tasks.map((data) => ({ job: chance.pick(JOBS), data, options: { ...plain(), queue } })),
      )
    }
  }

  /** Of few keys come more jobs than a queue lets start: most are held back, and each has its turn. */
  crowdKeys(client: Client): void {
    const { keyChance: chance } = this.#options
    const queue = chance.pick(QUEUES)
    if (chance.hits(0.2)) {
      const perKeyLimit = chance.pick([1, 1, 2, 3, null])
      const perKeyRateLimit = chance.hits(0.7) ? null : { limit: chance.whole(1, 10), period: 1_000, burst: chance.whole(1, 5) }
      const told = { perKeyLimit, perKeyRateLimit }
      this.call(client, `configure ${queue} ${JSON.stringify(told)}`, client.engine.queues.configure(queue, told))
      return
    }
    const name = chance.pick(JOBS)
    const drawOptions = (): EnqueueOptions => ({
      ...plain(),
      queue,
      concurrencyKey: chance.pick(KEYS),
      ...(chance.hits(0.2) && { priority: chance.whole(-1, 1) }),
      ...(chance.hits(0.1) && { weight: chance.whole(2, 4) }),
    })
    const tasks = Array.from({ length: chance.whole(1, 5) }, () => this.#task())
    this.#sendMany(
      client,
      tasks.map((data) => ({ job: chance.hits(0.8) ? name : chance.pick(JOBS), data, options: drawOptions() })),
    )
  }

  /** About a job that waits for those that it has joined, or about one of them. */
  meddle(client: Client, joiners = this.#options.joiners()): void {
    const { joinChance: chance } = this.#options
    if (joiners.length === 0) return
    const id = chance.pick(joiners)
    for (const other of this.#handles) this.touched.add(other.handle.id)
    const { engine } = client
    const kind = chance.pick(['retry', 'retry', 'retry tree', 'cancel', 'cancel tree', 'delete', 'get'] as const)
    const what = `${kind} ${id}, of a join`
    if (kind === 'retry tree') this.call(client, what, engine.retry(id, { descendants: true }))
    else if (kind === 'cancel tree') this.call(client, what, engine.cancel(id, { descendants: true, ...this.#why(kind) }))
    else if (kind === 'cancel') this.call(client, what, engine.cancel(id, this.#why(kind)))
    else this.call<unknown>(client, what, engine[kind](id))
  }

  /** A queue or a part of it is paused, for a time or by hand, or resumed: some are resumed about when a time is over. */
  pause(client: Client): void {
    const { pauseChance: chance, timeline } = this.#options
    const { queues } = client.engine
    const queue = chance.pick(QUEUES)
    const what = chance.pick([{}, { job: chance.pick(JOBS).name }, { key: chance.pick(KEYS) }])
    const resume = () => {
      if (!client.dead) this.call(client, `resume ${queue} ${JSON.stringify(what)}`, queues.resume(queue, what))
    }
    const ms = chance.pick(PAUSES_MS)
    const kind = chance.pick(['timed', 'timed', 'timed', 'byHand', 'resume'] as const)
    if (kind === 'resume') {
      resume()
      return
    }
    const told = kind === 'timed' ? { ...what, for: ms } : what
    this.call(client, `pause ${queue} ${JSON.stringify(told)}`, queues.pause(queue, told))
    if (chance.hits(0.3)) timeline.after(ms + chance.whole(-1, 1), resume)
  }

  #many(client: Client, { handle }: { readonly handle: JobHandle }): void {
    const { manyChance: chance, placeChance, labelChance, timeline } = this.#options
    const op = chance.pick(['cancelMany', 'retryMany', 'deleteMany'] as const)
    const filter = chance.pick<ManyFilter>([{ all: true }, { tag: 't' }, { queue: 'other' }, { state: 'failed' }, { ids: [handle.id] }])
    for (const other of this.#handles) this.touched.add(other.handle.id)
    const options = { dryRun: chance.hits(0.3), ...(chance.hits(0.4) && { limit: chance.whole(1, 5) }) }
    if (!placeChance.hits(0.4)) {
      const call =
        op === 'cancelMany' ? client.engine.cancelMany(filter, { ...options, ...this.#why(op) }) : client.engine[op](filter, options)
      this.call(client, op, call)
      return
    }
    const changes = placeChance.pick([
      undefined,
      undefined,
      { priority: 1 },
      { weight: 2 },
      { runAt: timeline.wall + placeChance.whole(1, 3_000) },
    ])
    if (changes === undefined) this.call(client, 'runNowMany', client.engine.runNowMany(filter, options))
    else if (!labelChance.hits(0.2)) this.call(client, 'updateMany', client.engine.updateMany(filter, changes, options))
    else {
      const tags = labelChance.pick(TAGS)
      this.call(client, 'updateMany', client.engine.updateMany(filter, labelChance.hits(0.5) ? { tags } : { ...changes, tags }, options))
    }
  }

  /** Brings a job back that has results: from its start, from one of them, or from one that it has not. */
  rewind(client: Client): void {
    const { stepChance: chance, stuck } = this.#options
    const jobs = stuck()
    if (jobs.length === 0) return
    const { id, names } = chance.pick(jobs)
    const from = chance.pick([undefined, START, chance.pick(names), chance.pick(names), 'none'])
    this.touched.add(id)
    this.call(client, `retry ${id} from ${from}`, client.engine.retry(id, from === undefined ? {} : { from }))
  }

  /** Sends a message to a job that waits for some, or to one that has results. With a key it is sent again until its fate is known. */
  post(client: Client, { id, names } = this.#addressee()): void {
    if (id === undefined) return
    const { messageChance: chance, history } = this.#options
    if (chance.hits(0.1)) {
      this.touched.add(id)
      this.call(client, `run ${id} now`, client.engine.runNow(id))
      return
    }
    const name = chance.hits(0.8) ? chance.pick(names) : chance.pick(MESSAGES)
    const value = messageOf(name, ++this.#messages)
    const options = chance.hits(0.6) ? { idempotencyKey: `m${this.#messages}` } : undefined
    this.touched.add(id)
    const send = () =>
      this.call(
        client,
        `send ${value} to ${id}`,
        client.engine.send(id, name, value, options),
        () => history.meet('messageSent'),
        (code) => {
          if (options !== undefined && code === 'COMMIT_UNKNOWN' && !client.dead) send()
        },
      )
    send()
  }

  #addressee(): Partial<Awaiting> & { readonly names: readonly string[] } {
    const { messageChance: chance, awaiting } = this.#options
    const jobs = awaiting()
    if (jobs.length > 0 && chance.hits(0.8)) return chance.pick(jobs)
    const handle = this.#handles.length > 0 ? chance.pick(this.#handles).handle : undefined
    return { names: MESSAGES, ...(handle && { id: handle.id }) }
  }

  /** Waits for the answer, and notes it. */
  call<T>(client: Client, what: string, promise: Promise<T>, done?: (value: T) => void, refused?: (code: string) => void): void {
    const { history } = this.#options
    const name = `${what} (call ${++this.#call})`
    history.note(`${client.name} ${name}`)
    client.calls.add(name)
    promise.then(
      (value) => {
        if (client.dead) return
        client.calls.delete(name)
        history.note(`${name}: ok`)
        done?.(value)
      },
      (error: unknown) => {
        if (client.dead) return
        client.calls.delete(name)
        const code = error instanceof MillraceError ? error.code : String(error)
        history.note(`${name}: ${code}`)
        history.hold(error instanceof MillraceError, 4, () => `${name} is answered with ${code}`)
        refused?.(code)
      },
    )
  }

  #manage(client: Client, { handle, of }: { readonly handle: JobHandle; readonly of: Client }): void {
    const { chance, labelChance, keyedChance, history, timeline, flows } = this.#options
    const { id } = handle
    const { engine } = client
    if (flows > 0 && chance.hits(0.3)) {
      // Whatever waits for it is touched too.
      for (const other of this.#handles) this.touched.add(other.handle.id)
      if (chance.hits(0.5)) this.call(client, `cancel tree ${id}`, engine.cancel(id, { descendants: true, ...this.#why('tree') }))
      else this.call(client, `retry tree ${id}`, engine.retry(id, { descendants: true }))
      return
    }
    if (keyedChance.hits(0.15)) {
      this.#byKey(client)
      return
    }
    const kind = chance.pick([
      'cancel',
      'cancel',
      'retry',
      'update',
      'update',
      'runNow',
      'delete',
      'get',
      'get',
      'result',
      'redrive',
      'stats',
    ] as const)
    if (kind !== 'get' && kind !== 'result' && kind !== 'stats') this.touched.add(id)
    switch (kind) {
      case 'update': {
        const labels = labelChance.hits(0.4) && { tags: labelChance.pick(TAGS), meta: { of: 'update' } }
        if (labels && labelChance.hits(0.6)) {
          this.call(client, `label ${id}`, engine.update(id, labels), () => history.meet('relabelled'))
          break
        }
        const changes = {
          ...labels,
          priority: chance.whole(-5, 5),
          ...(chance.hits(0.3) && { runAt: timeline.wall + chance.small(800) }),
          ...(chance.hits(0.2) && { weight: chance.whole(1, 4) }),
          ...(chance.hits(0.2) && { checkpoint: { by: 'update' } }),
        }
        this.call(client, `update ${id}`, engine.update(id, changes))
        break
      }
      case 'redrive':
        for (const other of this.#handles) this.touched.add(other.handle.id)
        this.call(client, 'redrive', engine.redrive(chance.hits(0.5) ? {} : { queue: chance.pick(QUEUES), limit: chance.whole(1, 5) }))
        break
      case 'stats':
        this.call(client, 'stats', engine.stats())
        this.call(client, 'history', engine.history())
        this.call(client, 'failures', engine.failures())
        this.#stopWorker(client)
        break
      case 'result':
        // A handle asks by the way that it came by.
        if (!of.dead) this.call(of, `result ${id}`, handle.result(chance.hits(0.3) ? { timeout: chance.whole(1, 3_000) } : {}))
        break
      case 'cancel':
        this.call(client, `cancel ${id}`, engine.cancel(id, this.#why(kind)))
        break
      default:
        this.call<unknown>(client, `${kind} ${id}`, engine[kind](id))
    }
  }

  /** Every second cancel says why. */
  #why(what: string): { readonly reason?: string; readonly by?: string } {
    return this.#call % 2 === 0 ? {} : { reason: `${what} ${this.#call}`, by: 'somebody' }
  }

  /** About whichever job holds a unique key. */
  #byKey(client: Client): void {
    const { keyedChance: chance, history } = this.#options
    const { engine } = client
    const job = { name: chance.pick(JOBS).name, uniqueKey: `unique-${chance.whole(1, 3)}` }
    const what = `${job.name} ${job.uniqueKey}`
    for (const other of this.#handles) this.touched.add(other.handle.id)
    const kind = chance.pick(['cancel', 'runNow', 'delete', 'update', 'get', 'release', 'release', 'release'] as const)
    if (kind === 'release') this.call(client, `release ${what}`, engine.releaseKey(job))
    else if (kind === 'update') this.call(client, `update ${what}`, engine.update(job, { priority: chance.whole(-5, 5) }))
    else this.call<unknown>(client, `${kind} ${what}`, engine[kind](job), () => history.meet('foundByKey'))
  }

  #stopWorker(client: Client): void {
    const { chance, stops, workers } = this.#options
    const names = workers()
    if (stops.length === 0 || names.length === 0) return
    const name = chance.pick(names)
    this.call(client, `stop worker ${name}`, client.engine.stopWorker(name, { timeout: chance.pick(stops) }))
  }

  #rate() {
    const { chance } = this.#options
    return chance.hits(0.2) ? null : { limit: chance.whole(1, 20), period: chance.pick([100, 1_000, 10_000]), burst: chance.whole(1, 5) }
  }

  /** Both queues share a limit, each with a number of its own, or one of them leaves it. */
  #share(client: Client): void {
    const { sharedChance: chance } = this.#options
    const leaves = chance.hits(0.2)
    for (const queue of leaves ? [chance.pick(QUEUES)] : QUEUES) {
      const sharedLimit = leaves ? null : { name: chance.hits(0.9) ? 'x' : 'y', limit: chance.whole(1, 3) }
      this.call(client, `configure ${queue} ${JSON.stringify({ sharedLimit })}`, client.engine.queues.configure(queue, { sharedLimit }))
    }
  }

  /** One of the keys is in a tier of its own, or no more. */
  #rank(client: Client): void {
    const { tierChance: chance } = this.#options
    const rated = () => ({ perKeyRateLimit: { limit: chance.whole(1, 3), period: chance.whole(50, 500), burst: chance.whole(1, 3) } })
    const tier = { ...(chance.hits(0.7) ? { perKeyLimit: chance.whole(1, 3) } : rated()), ...(chance.hits(0.2) && rated()) }
    const keyTiers = chance.hits(0.2) ? null : { [chance.hits(0.9) ? 'vip' : 'other']: tier }
    const queue = chance.pick(QUEUES)
    this.call(client, `configure ${queue} ${JSON.stringify({ keyTiers })}`, client.engine.queues.configure(queue, { keyTiers }))
  }

  #tell(client: Client): void {
    const { chance, timedChance, sharedChance, sharedLimits, tierChance, keyTiers } = this.#options
    const { queues } = client.engine
    if (sharedChance.hits(sharedLimits)) this.#share(client)
    if (tierChance.hits(keyTiers)) this.#rank(client)
    const queue = chance.pick(QUEUES)
    if (this.#options.pausesAll && chance.hits(0.15)) {
      const kind = chance.pick(['pauseAll', 'resumeAll'] as const)
      this.call(client, kind, queues[kind]())
      return
    }
    const orNull = (value: number) => (chance.hits(0.2) ? null : value)
    if (chance.hits(0.15)) {
      const keyOrder = chance.pick(['strict', 'strict', 'turns'] as const)
      this.call(client, `configure ${queue} ${keyOrder}`, queues.configure(queue, { keyOrder }))
      return
    }
    if (chance.hits(0.3)) {
      const told = chance.hits(0.8) ? { maxLength: chance.whole(1, 4), onFull: 'drop-oldest' as const } : { onFull: 'reject' as const }
      this.call(client, `configure ${queue} ${JSON.stringify(told)}`, queues.configure(queue, told))
      return
    }
    if (chance.hits(0.6)) {
      const told = {
        ...(chance.hits(0.5) && { concurrencyLimit: orNull(chance.whole(1, 4)) }),
        ...(chance.hits(0.6) && { perKeyLimit: orNull(chance.whole(1, 2)) }),
        ...(chance.hits(0.2) && { maxLength: orNull(chance.whole(3, 30)) }),
        ...(chance.hits(0.3) && { share: orNull(chance.whole(1, 4)) }),
        ...(chance.hits(0.3) && { rateLimit: this.#rate() }),
        ...(chance.hits(0.3) && { perKeyRateLimit: this.#rate() }),
      }
      this.call(client, `configure ${queue} ${JSON.stringify(told)}`, queues.configure(queue, told))
      return
    }
    if (chance.hits(0.25)) {
      const op = chance.pick(['drain', 'purge', 'forget'] as const)
      const emptied = async () => {
        if (op === 'drain') return queues.drain(queue)
        await queues.purge(queue)
        if (op === 'forget') await queues.delete(queue)
      }
      this.call(client, `${op} queue ${queue}`, emptied())
      return
    }
    const what = chance.pick([{}, { job: chance.pick(JOBS).name }, { key: chance.pick(KEYS) }])
    const kind = chance.pick(['pause', 'resume'] as const)
    const timed = this.#timed && kind === 'pause' && timedChance.hits(0.7)
    const options = timed ? { ...what, for: timedChance.pick(PAUSES_MS) } : what
    // Of two pauses the later end counts.
    const again = timed && timedChance.hits(0.5) ? { ...what, for: timedChance.pick(PAUSES_MS) } : undefined
    const called = async () => {
      await queues[kind](queue, options)
      if (again !== undefined) await queues.pause(queue, again)
    }
    this.call(client, `${kind} ${queue} ${JSON.stringify(options)} ${JSON.stringify(again)}`, called())
  }

  #retain(client: Client): void {
    const { retainChance: chance } = this.#options
    const queue = chance.pick(QUEUES)
    const drawKeep = (): KeepOptions => {
      const [age, count] = [chance.pick(AGES_MS), chance.pick(COUNTS)]
      return chance.pick<KeepOptions>([age, { count }, { age, count }])
    }
    const states = (['completed', 'failed', 'cancelled'] as const).filter(() => chance.hits(0.6))
    const retention = chance.hits(0.2) ? null : Object.fromEntries(states.map((state) => [state, drawKeep()]))
    this.call(client, `configure ${queue} ${JSON.stringify({ retention })}`, client.engine.queues.configure(queue, { retention }))
  }

  /** Takes back all that queues were told, but for how long they keep what has ended: that holds nothing back. */
  lift(client: Client, limits: Limits): void {
    const { queues, jobs, keys } = limits.told
    if (limits.pausedAll) this.call(client, 'resume all', client.engine.queues.resumeAll())
    for (const queue of queues) {
      this.call(client, `lift ${queue}`, client.engine.queues.configure(queue, NOTHING_TOLD))
      this.call(client, `resume ${queue}`, client.engine.queues.resume(queue))
    }
    for (const [queue, job] of jobs) this.call(client, `resume ${queue} ${job}`, client.engine.queues.resume(queue, { job }))
    for (const [queue, key] of keys) this.call(client, `resume ${queue} ${key}`, client.engine.queues.resume(queue, { key }))
  }

  #task(): Task {
    const { chance, timedChance, joinChance, joins, stepChance, programs, leaseMs } = this.#options
    const drawn = leaseMs > 0 && chance.hits(0.5) ? chance.pick(LONG) : chance.pick(ACTS)
    const joined = joinChance.hits(joins) ? 'join' : drawn
    const act = stepChance.hits(programs) ? 'program' : joined
    const pauses = this.#timed && act === 'snooze'
    const lines = this.#logs && act === 'log' && { lines: this.#options.logChance.whole(1, 12) }
    return { number: ++this.#number, act, ms: chance.small(200), ...lines, ...(pauses && { pause: timedChance.pick(PAUSE_PARTS) }) }
  }

  #drawOptions(): EnqueueOptions {
    const { chance, ageChance, tokensChance, keyedChance, leaseMs, limits } = this.#options
    const shaped = chance.hits(0.08)
    return {
      ...(this.#logs && { logLines: this.#options.logChance.pick([0, 1, 3, 5, 100]) }),
      ...(this.#rates && tokensChance.hits(0.3) && { tokens: tokensChance.whole(2, 6) }),
      ...(this.#ages && ageChance.hits(0.4) && { maxAge: ageChance.small(3_000) + 1 }),
      ...(shaped && this.#drawShape()),
      ...(limits > 0 && chance.hits(0.6) && { concurrencyKey: chance.pick(KEYS) }),
      maxAttempts: chance.whole(1, 4),
      ...(this.#number % 3 === 0 && { maxLost: (this.#number / 3) % 3 }),
      ...(this.#number % 4 === 1 && { keep: KEEPS[((this.#number - 1) / 4) % KEEPS.length] as (typeof KEEPS)[number] }),
      ...(!shaped && chance.hits(0.2) && { delay: chance.small(2_500) }),
      ...(chance.hits(0.3) && { priority: chance.whole(-3, 3) }),
      ...(chance.hits(0.15) && { weight: chance.whole(1, 6) }),
      ...(chance.hits(0.12) && { ttl: chance.whole(1, 1_500) }),
      ...(chance.hits(0.15) && { timeout: chance.whole(50, 1_200) }),
      ...plain(),
      ...(chance.hits(0.5) && { heartbeatTimeout: chance.pick([0, 100, 300, 400, 1_000, 5_000]) }),
      ...(leaseMs > 0 && chance.hits(0.8) && { heartbeatTimeout: leaseMs }),
      ...(chance.hits(0.25) && { queue: 'other' }),
      ...(chance.hits(0.1) && { tags: ['t'], meta: { from: 'simulation' } }),
      ...(!shaped &&
        chance.hits(0.2) && {
          idempotencyKey: `key-${chance.whole(1, 6)}`,
          ...(chance.hits(0.3) && { idempotencyTtl: chance.whole(50, 4_000) }),
        }),
      ...(!shaped &&
        chance.hits(0.2) && {
          unique: {
            key: `unique-${chance.whole(1, 3)}`,
            onConflict: chance.pick(['skip', 'replace', 'reschedule', 'error'] as const),
            ...(keyedChance.hits(0.4) && { until: 'start' as const }),
          },
        }),
    }
  }

  #drawShape(): EnqueueOptions {
    const { chance } = this.#options
    const key = `shape-${chance.whole(1, 3)}`
    if (chance.hits(0.25)) return { throttle: { key, period: chance.whole(50, 3_000) } }
    const delay = chance.whole(10, 1_500)
    const mode = chance.hits(0.7) ? 'trailing' : 'leading'
    return { debounce: { key, delay, mode, ...(chance.hits(0.5) && { maxDelay: delay + chance.whole(0, 2_000) }) } }
  }

  /** By a name alone, which a worker may define later; of some fields the call says something. */
  enqueueLate(client: Client): void {
    const { chance } = this.#options
    const stated = [{}, {}, { maxAttempts: 4 }, { priority: 0 }, { timeout: 300_000 }, { delay: 300 }, { keep: 500 }]
    this.#enqueue(client, chance.pick(stated), 'late', 1)
  }

  #enqueue(client: Client, options: EnqueueOptions, name: string, tries: number): void {
    const { timeline, requests, chance, waits, repeatChance } = this.#options
    if (this.#repeats && repeatChance.hits(0.1)) {
      const [queue, repeats] = [repeatChance.pick(QUEUES), repeatChance.pick(['event', 'event', 'silent'] as const)]
      this.call(client, `configure ${queue} ${repeats}`, client.engine.queues.configure(queue, { repeats, empties: repeats }))
    }
    const task = this.#task()
    const { number } = task
    const { ttl, timeout, unique, idempotencyKey, debounce, throttle } = options
    if ((ttl ?? timeout ?? unique ?? debounce ?? throttle) === undefined && SURE.has(task.act) && name !== 'late') this.sure.add(number)
    const again = () => {
      if (!client.dead) this.#enqueue(client, options, name, tries - 1)
    }
    const job = JOBS.find((definition) => definition.name === name)
    // By its plain name half of the time: then the engine knows the defaults, or not yet.
    const call =
      number % 2 === 0 && job !== undefined ? client.engine.enqueue(job, task, options) : client.engine.enqueue(name, task, options)
    this.call(
      client,
      `enqueue ${number} ${name} ${task.act} ${JSON.stringify(options)}`,
      call,
      (handle) => {
        this.#handles.push({ handle, of: client })
        if (chance.hits(waits)) this.call(client, `result ${handle.id}`, handle.result())
      },
      (code) => {
        if (DEFINITE.has(code)) requests.refused.add(number)
        // Safe to make again under its key, whatever became of it.
        if (idempotencyKey !== undefined && tries > 0 && code !== 'UNIQUE_CONFLICT') timeline.after(100, again)
      },
    )
  }

  #flow(client: Client): void {
    const { chance, callbacks, batchChance } = this.#options
    const { engine } = client
    const options = (nodes: FlowShape) => (chance.hits(0.5) ? { idempotencyKey: `flow-${nodes[0]?.data.number}` } : {})
    if (callbacks > 0 && batchChance.hits(callbacks)) {
      const nodes = this.#batchNodes(batchChance.whole(1, 6))
      const create: Create = async (shape, options) => {
        const { jobs, callback } = await engine.batch(shape.slice(0, -1), shape.at(-1) as FlowShape[number], options)
        return [...jobs, callback]
      }
      this.#sendFlow(client, nodes, options(nodes), create, 3)
      return
    }
    const size = chance.whole(2, chance.hits(0.2) ? 15 : 5)
    const nodes = Array.from({ length: size }, (_, index) => {
      const drawn = chance.hits(0.3) ? this.#drawOptions() : plain()
      const { idempotencyKey: _key, idempotencyTtl: _ttl, unique: _unique, debounce: _debounce, throttle: _throttle, ...options } = drawn
      // One that all wait for, one that waits for all, or some of those before.
      const parents = Array.from({ length: index }, (_, parent) => parent).filter((parent) =>
        chance.hits(parent === 0 ? 0.5 : index === size - 1 ? 0.8 : 0.25),
      )
      const onParentFailure = chance.pick(['fail', 'continue', 'ignore', 'cancel', 'run'] as const)
      const task = this.#task()
      const data = onParentFailure === 'ignore' ? task : { ...task, parents: parents.length }
      return { ref: `${index}`, job: chance.pick(JOBS), data, options, dependsOn: parents.map(String), onParentFailure }
    })
    const create: Create = async (shape, options) => Object.values((await engine.flow(shape, options)).jobs)
    this.#sendFlow(client, nodes, options(nodes), create, 3)
  }

  #batchNodes(size: number): FlowShape {
    const { chance } = this.#options
    const node = (ref: string, dependsOn: string[], task: Task) => ({
      ref,
      job: chance.pick(JOBS),
      data: task,
      dependsOn,
      onParentFailure: 'continue' as const,
    })
    const refs = Array.from({ length: size }, (_, index) => `${index}`)
    return [...refs.map((ref) => node(ref, [], this.#task())), node('callback', refs, { ...this.#task(), parents: size })]
  }

  /** Each attempt has numbers of its own: that a repeat is refused says nothing of the first. */
  #sendFlow(client: Client, shape: FlowShape, options: FlowOptions, create: Create, tries: number): void {
    const { timeline, requests } = this.#options
    const again = () => {
      if (!client.dead) this.#sendFlow(client, shape, options, create, tries - 1)
    }
    const nodes = shape.map((node) => ({ ...node, data: { ...node.data, number: ++this.#number } }))
    for (const { data, dependsOn = [], onParentFailure } of nodes) {
      const parents = dependsOn.map((ref) => nodes[Number(ref)]?.data.number as number)
      requests.waitFor.set(data.number, { parents, onParentFailure })
    }
    this.call(
      client,
      `flow ${nodes.map(({ data, dependsOn }) => `${data.number} ${data.act} (${dependsOn})`).join()}`,
      create(nodes, options),
      (handles) => {
        this.#handles.push(...handles.map((handle) => ({ handle, of: client })))
        if (handles.length > 0 && this.#options.hasty > 0) this.#haste(client, handles, 3)
      },
      (code) => {
        if (DEFINITE.has(code)) for (const { data } of nodes) requests.refused.add(data.number)
        if (options.idempotencyKey !== undefined && tries > 0) timeline.after(100, again)
      },
    )
  }

  /** Brings back a job that others wait for, or ends all of them, as soon as it has ended. */
  #haste(client: Client, handles: readonly JobHandle[], times: number): void {
    const { hastyChance: chance, hasty } = this.#options
    if (!chance.hits(hasty)) return
    if (chance.hits(0.3)) this.#options.timeline.after(chance.whole(1, 200), () => this.#regret(client, handles))
    const handle = handles[0] as JobHandle
    const { id } = handle
    const act = () => {
      if (client.dead) return
      for (const other of this.#handles) this.touched.add(other.handle.id)
      const kind = chance.pick(['retry', 'retry', 'retry tree', 'cancel tree', 'delete'] as const)
      const again = () => void (times > 0 && this.#haste(client, handles, times - 1))
      const { engine } = client
      if (kind === 'retry tree') this.call(client, `${kind} ${id}`, engine.retry(id, { descendants: true }), again)
      else if (kind === 'cancel tree') this.call(client, `${kind} ${id}`, engine.cancel(id, { descendants: true, ...this.#why(kind) }))
      else this.call<unknown>(client, `${kind} ${id}`, engine[kind](id), again)
    }
    this.call(client, `result ${id}`, handle.result(), act, act)
  }

  /** Cancels a tree, and brings back its first job and each of the others as soon as it is cancelled: the cancel of the rest goes on. */
  #regret(client: Client, handles: readonly JobHandle[]): void {
    if (client.dead) return
    for (const other of this.#handles) this.touched.add(other.handle.id)
    const { engine } = client
    const [first, ...others] = handles as [JobHandle, ...JobHandle[]]
    const retry = ({ id }: JobHandle) => {
      if (!client.dead) this.call(client, `retry ${id}, amid a cancel`, engine.retry(id))
    }
    this.call(client, `cancel tree ${first.id}`, engine.cancel(first.id, { descendants: true, ...this.#why('cancel tree') }))
    retry(first)
    for (const handle of others) this.call(client, `result ${handle.id}`, handle.result(), undefined, () => retry(handle))
  }

  #enqueueMany(client: Client): void {
    const { chance, leaseMs } = this.#options
    const tasks = Array.from({ length: chance.whole(2, chance.hits(0.3) ? 30 : 6) }, () => this.#task())
    const wanted = tasks.map((data) => ({
      job: chance.pick(JOBS),
      data,
      options: chance.hits(leaseMs > 0 ? 0.8 : 0.3) ? this.#drawOptions() : plain(),
    }))
    this.#sendMany(client, wanted)
  }

  #sendMany(client: Client, wanted: Wanted): void {
    const { requests } = this.#options
    this.call(
      client,
      `enqueueMany ${wanted.map(({ job, data }) => `${data.number} ${job.name} ${data.act}`).join()}`,
      client.engine.enqueueMany(wanted),
      (handles) => void this.#handles.push(...handles.map((handle) => ({ handle, of: client }))),
      (code) => {
        if (DEFINITE.has(code)) for (const { data } of wanted) requests.refused.add(data.number)
      },
    )
  }
}
