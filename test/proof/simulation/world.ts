/** One seed's world: an engine, its clients, what they do, what befalls them, and what must hold all the while and in the end. */
import { DEFAULT_POLICY, DEFAULT_RETENTION, LIMITS, leaseMs, type Retention, type RunKey } from '@millrace/core'
import { App } from './app.ts'
import { Audit } from './audit.ts'
import { Chance } from './chance.ts'
import { Client, type Work } from './client.ts'
import { CODEC } from './codec.ts'
import { MemoryDatabase, withLimits } from './database.ts'
import { EffectLog } from './effectLog.ts'
import { type EngineWatch, forgetConnections, SimulatedEngine } from './engine.ts'
import { Exporter } from './exporter.ts'
import { type Batching, handlersFor, JOBS, LATE, LATER, QUEUES, type Remembering } from './handlers.ts'
import { History } from './history.ts'
import { Intakes } from './intakes.ts'
import { Folder } from './journal.ts'
import { LogBook } from './logBook.ts'
import { Looks } from './looks.ts'
import { auditMemory } from './memory.ts'
import { MessageBook } from './messageBook.ts'
import { Misfortunes } from './misfortunes.ts'
import { Model, whatOf } from './model.ts'
import { NameTurns } from './nameTurns.ts'
import { Operations } from './operations.ts'
import { forgetsNothing, type Plan } from './plan.ts'
import { StrictOrder } from './queueOrder.ts'
import { Reader } from './readers.ts'
import { Requests } from './requests.ts'
import { Schedules } from './schedules.ts'
import { Sessions } from './sessions.ts'
import { Shares } from './shares.ts'
import { StepBook } from './stepBook.ts'
import { StoreFaults } from './storeFaults.ts'
import { Stranger } from './stranger.ts'
import { Timeline } from './timeline.ts'

const NEW_YEAR = Date.UTC(2030, 0, 1)
/** From a world's beginning to the moment at which its clocks change. */
const SEASON_MS = 15_000
const LIVENESS_MS = 20 * 60_000
/** The jobs for which that time is enough, and how often it may pass for more of them. */
const JOBS_IN_TIME = 200
const UTMOST = 10
const SLICE_MS = 1_000
/** When all have left: their connections end, and buckets of tokens are full again. */
const QUIET_MS = 70_000
/** A worker that has ended a run says so within that, once all is healed. */
const UNTOLD_MS = 4_000
const COMPARE_EVERY = 128
/** As long as the engine waits after a turn that could not be written. */
const FAILED_RETRY_MS = 250
/** Of workers that have room for what others lose. */
const ROOMY = [8, 20, 40]
/** More than that happens at one time only where something is done again and again. */
const SPIN_MAX = 20_000

export interface Outcome {
  readonly seed: number
  readonly violations: readonly string[]
  readonly hash: string
  readonly history: readonly string[]
  readonly events: number
  readonly grants: number
  readonly virtualMs: number
  /** Faults and rare paths by name. */
  readonly met: Readonly<Record<string, number>>
}

let database: MemoryDatabase | undefined

/** Of a strict order, with all queues in each. */
const BY_PREFIX: readonly (readonly string[])[] = [
  ['other', 'd*'],
  ['d*', '*'],
  ['d*', 'other', 'default'],
]

/** One at a time: all seeds of a process share its database. */
export async function runWorld(plan: Plan, keepHistory = false): Promise<Outcome> {
  database ??= new MemoryDatabase()
  database.reset()
  forgetConnections()
  const { defaultLeaseMs: leaseMs, windowBytes, sliceRows, jobsPerTurn, reattachGraceMs, eventsPerSnapshot, eventsPerPage, walkRows } = plan
  const { turnMs } = plan
  const journalEveryMs = forgetsNothing(plan) ? LIMITS.journalEveryMs : Math.min(2_000, plan.journalMs)
  const bounds = {
    ...plan.tiny,
    journalEveryMs,
    ...(forgetsNothing(plan) ? {} : { namesEveryMs: journalEveryMs, nameUnusedMs: 2 * journalEveryMs }),
    leaseMs,
    windowBytes,
    sliceRows,
    jobsPerTurn,
    reattachGraceMs,
    eventsPerSnapshot,
    eventsPerPage,
    walkRows,
    turnMs,
  }
  const restoreLimits = withLimits(bounds)
  // Errors are many here, and their stacks are looked at by nobody.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await new SimulatedWorld(plan, database, keepHistory).run()
  } finally {
    // A world leaves the process no time for things of its own.
    await new Promise((resolve) => setImmediate(resolve))
    Error.stackTraceLimit = stackTraceLimit
    restoreLimits()
  }
}

export class SimulatedWorld {
  readonly plan: Plan
  readonly timeline: Timeline
  readonly history: History
  readonly faults: StoreFaults
  readonly operations: Operations
  healed = false
  engine: SimulatedEngine
  clients: Client[] = []
  /** Of all journals that there ever were. */
  readonly folders: Folder[] = []
  /** In a healed world: workers that serve everything. */
  readonly #helpers = new Set<Client>()
  readonly #apps: readonly App[]
  readonly #readers: readonly Reader[]
  readonly #exporter: Exporter | undefined
  readonly #chance: Chance
  readonly #hasteChance: Chance
  readonly #database: MemoryDatabase
  readonly #requests: Requests
  readonly #sessions: Sessions
  readonly #model: Model
  readonly #log: EffectLog
  readonly #audit: Audit
  readonly #shares: Shares
  readonly #nameTurns: NameTurns
  readonly #logBook: LogBook
  readonly #stepBook: StepBook
  readonly #messageBook: MessageBook
  readonly #strictOrder: StrictOrder
  readonly #misfortunes: Misfortunes
  readonly #schedules: Schedules
  readonly #looks: Looks
  readonly #intakes: Intakes
  #clientNumber = 0
  #lateDefiners = 0
  #comparedAt = 0
  #movedAt = 0
  #movedMono = -1
  /** When a turn could not be written for the last time. */
  #failedMono = Number.NEGATIVE_INFINITY
  #reloads = 0
  /** The next event when the engine was started. */
  #loadedEvent = 0
  /** The engine whose file is another's by now: it may write nothing more. */
  #robbed: SimulatedEngine | undefined

  constructor(plan: Plan, database: MemoryDatabase, keepHistory: boolean) {
    this.plan = plan
    this.#database = database
    const timeline = new Timeline(plan.season === undefined ? NEW_YEAR + plan.beginsMs : plan.season.at - SEASON_MS)
    this.timeline = timeline
    this.#chance = new Chance(plan.seed ^ 0x5eed)
    this.#hasteChance = new Chance(plan.seed ^ 0x1015)
    this.history = new History(() => timeline.mono, keepHistory)
    this.#requests = new Requests(this.history)
    this.#sessions = new Sessions(timeline, this.#requests)
    this.#model = new Model({
      history: this.history,
      requests: this.#requests,
      retention: retentionOf(plan),
      sealed: plan.codec,
      highestWall: () => timeline.highestWall,
      recovery: plan.recovery,
      exactRates: plan.wallJumps === 0,
      aborted: (seq) => {
        const job = this.engine.actor.tables.jobs.get(seq)
        // A turn may have ended the run, whatever it was told to do.
        return job === undefined || job.abort !== undefined
      },
      mayLose: this.#sessions.mayLose,
      lost: (job, mono) => this.#log.lost(job, mono),
      mayRelease: this.#sessions.mayRelease,
      mayLoseSession: this.#sessions.mayLoseSession,
      sessionGone: (session, isLost) => {
        this.#sessions.gone(session)
        if (isLost && !this.healed) this.history.meet('lostAmidFaults')
      },
      hasLeft: this.#sessions.hasLeft,
      exported: (job) => this.#exporter === undefined || this.#exporter.has(job),
      appeared: (number, job) => {
        for (const app of this.#apps) app.appeared(number, job)
      },
    })
    this.#requests.model = this.#model
    this.#requests.noted = (entry) => this.folders.some(({ noted }) => noted.has(entry)) || this.#apps.some((app) => app.noted(entry))
    this.#log = new EffectLog(this.history, timeline, this.#model, plan.delayMs)
    this.#sessions.log = this.#log
    this.#audit = new Audit(this.history, this.#model, !forgetsNothing(plan))
    this.#shares = new Shares(this.history, this.#model)
    this.#nameTurns = new NameTurns(this.history, this.#model)
    this.#logBook = new LogBook(this.history, this.#model)
    this.#stepBook = new StepBook(this.history, this.#model, this.#requests)
    this.#messageBook = new MessageBook(this.history, this.#model)
    this.#requests.isStored = (seq, value) => this.#messageBook.has(seq, value)
    this.#requests.isRecorded = (seq, number) => this.#stepBook.isRecorded(seq, number)
    this.#strictOrder = new StrictOrder(this.history, this.#model)
    this.#misfortunes = new Misfortunes(this, new Chance(plan.seed ^ 0xbad), this.#sessions, this.#requests)
    const crash = (where: string) => this.#misfortunes.crash(where)
    this.faults = new StoreFaults({
      plan,
      chance: new Chance(plan.seed ^ 0xd15c),
      readChance: new Chance(plan.seed ^ 0x510e),
      timeline,
      history: this.history,
      crash,
    })
    this.operations = new Operations({
      chance: new Chance(plan.seed ^ 0xac7),
      manyChance: new Chance(plan.seed ^ 0xb01c),
      placeChance: new Chance(plan.seed ^ 0x91ace),
      timedChance: new Chance(plan.seed ^ 0x71aed),
      pauseChance: new Chance(plan.seed ^ 0x9a05),
      keyedChance: new Chance(plan.seed ^ 0x6e1ed),
      labelChance: new Chance(plan.seed ^ 0x1abe1),
      batchChance: new Chance(plan.seed ^ 0xba7c4),
      hastyChance: new Chance(plan.seed ^ 0x4a57e),
      ageChance: new Chance(plan.seed ^ 0xa6e5),
      shareChance: new Chance(plan.seed ^ 0x54a2e),
      fairChance: new Chance(plan.seed ^ 0xfa12),
      letterChance: new Chance(plan.seed ^ 0xdead),
      sharedChance: new Chance(plan.seed ^ 0x54a2ed),
      tierChance: new Chance(plan.seed ^ 0x71e25),
      rateChance: new Chance(plan.seed ^ 0x2a7e),
      logChance: new Chance(plan.seed ^ 0x106b),
      repeatChance: new Chance(plan.seed ^ 0x2e9ea7),
      tokensChance: new Chance(plan.seed ^ 0x70ce5),
      keyChance: new Chance(plan.seed ^ 0xc20d),
      joinChance: new Chance(plan.seed ^ 0x1013),
      stepChance: new Chance(plan.seed ^ 0x57e9),
      retainChance: new Chance(plan.seed ^ 0x2e7a1),
      history: this.history,
      timeline,
      requests: this.#requests,
      leaseMs: plan.leaseMs,
      limits: plan.limits,
      sharedLimits: plan.sharedLimits,
      keyTiers: plan.keyTiers,
      pausesAll: plan.pausesAll,
      retains: plan.retains,
      waits: plan.waits,
      flows: plan.flows,
      callbacks: plan.callbacks,
      joins: plan.joins,
      programs: plan.programs,
      messageChance: new Chance(plan.seed ^ 0x3e56),
      awaiting: () => this.#messageBook.awaiting,
      stuck: () => this.#stepBook.stuck,
      joiners: () => this.#model.joiners,
      hasty: plan.hasty,
      stops: plan.stops,
      workers: () => this.clients.flatMap(({ dead, workerId }) => (dead || workerId === undefined ? [] : [workerId])),
    })
    this.#schedules = new Schedules({
      chance: new Chance(plan.seed ^ 0x5c4ed),
      editChance: new Chance(plan.seed ^ 0xed175),
      boundChance: new Chance(plan.seed ^ 0xb0d5),
      waitingChance: new Chance(plan.seed ^ 0x3a17),
      crons: plan.crons,
      startsAt: plan.startsAt,
      amends: plan.amends,
      zone: plan.season?.zone,
      history: this.history,
      timeline,
      model: this.#model,
      requests: this.#requests,
      operations: this.operations,
      client: () => this.clients.find(({ dead }) => !dead),
    })
    this.#looks = new Looks({
      chance: new Chance(plan.seed ^ 0x100c5),
      history: this.history,
      model: this.#model,
      operations: this.operations,
      flows: plan.flows,
    })
    this.#intakes = new Intakes({
      chance: new Chance(plan.seed ^ 0xad106),
      history: this.history,
      timeline,
      model: this.#model,
      log: this.#log,
      operations: this.operations,
    })
    this.engine = this.startEngine(new Set())
    const reading = { chance: new Chance(plan.seed ^ 0x4ead), history: this.history, model: this.#model, timeline }
    this.#readers = Array.from({ length: plan.readers }, () => new Reader(reading))
    // What the journal forgets before it is taken, an export never has.
    this.#exporter = plan.readers > 0 && forgetsNothing(plan) ? new Exporter(reading) : undefined
    this.#apps = Array.from({ length: plan.outboxes }, (_, index) => this.#app(index + 1))
    for (let client = 0; client < plan.clients; client++) this.addClient(client === 0)
  }

  async run(): Promise<Outcome> {
    const { safetyMs, operations, schedules, looks, shares, crowdedKeys, pauses, deadLetters, joinActs, strangers, late, adjusts } =
      this.plan
    for (let operation = 0; operation < operations; operation++) {
      this.timeline.after(this.#chance.random() * safetyMs, () => {
        const living = this.clients.filter((client) => !client.dead)
        if (living.length > 0) this.operations.act(this.#chance.pick(living))
      })
    }
    this.#often(schedules, 0x71c, (client) => this.#schedules.act(client))
    this.#often(looks, 0x10c5, (client) => this.#looks.act(client))
    this.#often(shares, 0x54a2e, (client) => this.operations.crowd(client))
    this.#often(deadLetters, 0x1e77e, (client) => this.operations.tellLetters(client))
    this.#often(joinActs, 0x1014, (client) => this.operations.meddle(client))
    this.#often(60 * this.plan.programs, 0x57ea, (client) => this.operations.rewind(client))
    this.#often(120 * this.plan.programs, 0x3e57, (client) => this.operations.post(client))
    this.#often(crowdedKeys, 0xc20d, (client) => this.operations.crowdKeys(client))
    this.#often(pauses, 0x9a05f, (client) => this.operations.pause(client))
    for (const app of this.#apps)
      for (let act = 0; act < operations; act++) this.timeline.after(this.#chance.random() * safetyMs, () => app.act())
    this.#often(adjusts, 0xad105, (client) => this.#intakes.act(client))
    this.#often(late, 0x1a7e, (client) => this.operations.enqueueLate(client))
    this.#often(late / 2, 0x1a7f, () => this.#defineLate())
    const chance = new Chance(this.plan.seed ^ 0x57a9e)
    const stranger = new Stranger({
      joins: this.plan.joins > 0,
      chance,
      timeline: this.timeline,
      model: this.#model,
      requests: this.#requests,
    })
    for (let act = 0; act < strangers; act++) this.timeline.after(chance.random() * safetyMs, () => stranger.act(this.engine))
    this.#misfortunes.schedule()
    await this.timeline.run(safetyMs, this.#stop)
    if (this.history.violations.length === 0) await this.#heal()
    if (this.history.violations.length === 0) this.#end()
    if (this.history.violations.length === 0) await this.#leave()
    for (const app of this.#apps) app.close()
    const { violations, hash, lines, met } = this.history
    const { happened, mono } = this.timeline
    return { seed: this.plan.seed, violations, hash, history: lines, events: happened, grants: this.#model.starts, virtualMs: mono, met }
  }

  /** Through some client that lives then; of a chance of its own, so that a world without it is as it was. */
  #often(times: number, salt: number, act: (client: Client) => void): void {
    const { random } = new Chance(this.plan.seed ^ salt)
    for (let time = 0; time < times; time++) {
      this.timeline.after(random() * this.plan.safetyMs, () => {
        const living = this.clients.filter((client) => !client.dead)
        if (living.length > 0) act(living[Math.floor(random() * living.length)] as Client)
      })
    }
  }

  /** From here on there is a worker for what was enqueued by that name: the one worker of a client of its own. */
  #defineLate(): void {
    const client = this.addClient(false, !this.engine.dead)
    if (client.workerId !== undefined) return
    this.history.meet('definedLate')
    const definition = this.#lateDefiners++ % 2 === 0 ? LATE : LATER
    const handlers = handlersFor(client, [LATE.name], this.#log, this.#model, undefined, this.#remembering, definition)
    client.work({ handlers, min: 3, max: 3, queues: undefined, abortGraceMs: 400 })
  }

  startEngine(alive: ReadonlySet<string>): SimulatedEngine {
    const { timeline, plan } = this
    const store = this.#database.open(this.faults, this.faults.ballast, this.#chance.random)
    this.#sessions.begin(alive)
    this.#model.reloaded(timeline.mono, LIMITS.reattachGraceMs)
    this.#sessions.reloaded(timeline.mono)
    this.#reloads = 0
    if (this.#model.turns > 0) this.#audit.rows(store)
    const engine: SimulatedEngine = new SimulatedEngine({
      timeline,
      store,
      random: this.#chance.random,
      alive,
      retention: retentionOf(plan),
      recovery: plan.recovery,
      packed: plan.packed,
      landed: () => this.faults.landed,
      watch: this.#watch(),
    })
    this.engine = engine
    this.#loadedEvent = engine.actor.tables.nextEvent
    return engine
  }

  #app(number: number): App {
    const { plan, history, operations } = this
    return new App({
      number,
      chance: new Chance(plan.seed ^ (0xa99 + number)),
      history,
      model: this.#model,
      operations,
      death: plan.appDeath,
      error: plan.appError,
      healed: () => this.healed,
      newClient: () => this.addClient(false, !this.engine.dead),
      kill: (client) => this.#misfortunes.kill(client),
    })
  }

  /** Another engine takes the file over. */
  steal(): void {
    this.#robbed = this.engine
    this.#database.steal()
  }

  /** `works`: has a worker for certain, that serves everything. `left`: goes on with a journal whose process is dead. */
  addClient(works: boolean, connected = true, left?: Folder): Client {
    const { timeline, plan } = this
    const chance = this.#chance
    const remote = left !== undefined || chance.hits(plan.leaseMs > 0 ? 0.85 : plan.faultFree ? 0.3 : 0.5)
    const client = new Client(
      {
        timeline,
        name: `client${++this.#clientNumber}`,
        remote,
        folder: left ?? (plan.journals > 0 && remote && chance.hits(plan.journals) ? this.#folder() : undefined),
        random: chance.random,
        drift: plan.drift,
        delayMs: () => (this.healed ? Math.min(1, plan.delayMs) : chance.random() * plan.delayMs),
        lost: (client, runs) => this.#log.disowned(client, runs),
        codec: plan.codec ? CODEC : undefined,
      },
      connected ? this.engine : undefined,
    )
    this.clients.push(client)
    if (works || chance.hits(plan.leaseMs > 0 ? 0.9 : 0.6)) {
      const max = chance.pick(plan.leaseMs > 0 ? ROOMY : [1, 2, 3, 5, 8, 40])
      const names = works
        ? [...JOBS, ...(this.healed && plan.late > 0 ? [LATE] : [])].map(({ name }) => name)
        : JOBS.map(({ name }) => name).filter(() => chance.hits(0.6))
      if (names.length > 0) {
        const queues = works || chance.hits(0.7) ? undefined : [chance.pick(QUEUES)]
        const min = chance.whole(1, max)
        const abortGraceMs = chance.pick([0, 100, 400, 2_000])
        const groups = new Chance(plan.seed ^ (0x9b0 + this.#clientNumber)).hits(0.5)
        const batching: Batching | undefined = chance.hits(plan.batches)
          ? { size: chance.whole(1, min), maxWait: chance.pick([0, 20, 300, 2_000]), ...(groups && { groupBy: 'concurrencyKey' }) }
          : undefined
        const handlers = handlersFor(client, names, this.#log, this.#model, batching, this.#remembering)
        client.work({ handlers, min, max, ...this.#orderOf(works, queues), abortGraceMs })
      }
    }
    if (chance.hits(0.4)) this.#listen(client)
    for (const reader of this.#readers) reader.follow(client)
    this.#exporter?.follow(client)
    return client
  }

  get #remembering(): Remembering {
    const { deploys } = this.plan
    const isLater = () => (deploys.length > 0 && this.healed) || deploys.filter((mono) => mono <= this.timeline.mono).length % 2 === 1
    return { book: this.#stepBook, isLater }
  }

  /** Of those that serve several queues, some have a strict order. */
  #orderOf(works: boolean, queues: readonly string[] | undefined): Pick<Work, 'queues' | 'order'> {
    const chance = new Chance(this.plan.seed ^ (0x57c7 + this.#clientNumber))
    if (queues !== undefined || !chance.hits(this.plan.strictOrders)) return { queues }
    const all = chance.pick([
      ['other', 'default', 'dead'],
      ['default', 'dead', 'other'],
    ])
    if (chance.hits(0.5)) return { queues: chance.pick(BY_PREFIX), order: 'strict' }
    return { queues: works ? all : all.slice(0, 2), order: 'strict' }
  }

  /** One that its process has left behind, or a new one. */
  #folder(): Folder {
    const used = new Set(this.clients.filter((client) => !client.dead).map(({ folder }) => folder))
    const left = this.folders.find((folder) => !used.has(folder))
    if (left !== undefined) return left
    const folder = new Folder()
    this.folders.push(folder)
    return folder
  }

  #listen(client: Client): void {
    let last = 0
    client.engine.on('*', (event) => {
      if (client.dead) return
      const { seq, type } = event
      this.history.note(`${client.name} hears of ${type} of ${'run' in event ? event.jobId : whatOf({ ...event, session: undefined })}`)
      this.history.hold(seq > last, 3, () => `${client.name} hears of event ${seq} after event ${last}`)
      last = seq
    })
  }

  #watch(): EngineWatch {
    const { timeline, history } = this
    const seeReloads = () => {
      const { reloads } = this.engine.actor.meter
      if (reloads === this.#reloads) return
      this.#reloads = reloads
      history.meet('reloaded')
      this.#model.reloaded(timeline.mono, LIMITS.reattachGraceMs)
      this.#sessions.reloaded(timeline.mono)
      begin()
    }
    let turnMono = timeline.mono
    const begin = () => {
      turnMono = timeline.mono
      this.#requests.turnMono = turnMono
    }
    let hadMail = false
    return {
      turning: () => {
        const { mailboxDepth, unanswered } = this.engine.actor
        hadMail = mailboxDepth > unanswered
        begin()
      },
      // Commands decided one by one, after a failure, follow a reload within one turn, and have its time: a slow commit comes after it.
      writing: seeReloads,
      committed: (effects, header) => {
        history.hold(this.engine !== this.#robbed, 8, () => 'an engine writes to a file that another has taken over')
        this.#stepBook.commit(effects, header.at, turnMono)
        this.#messageBook.commit(effects)
        this.#model.commit({ effects, wall: header.at, mono: turnMono, nextEvent: header.nextEvent })
        if (effects.forgetKeysBefore > 0 && !this.healed) history.meet('keysForgotten')
        if (effects.forgetEventsBefore > 1 && !this.healed) history.meet('eventsForgotten')
        this.#schedules.commit(effects, header.at)
        this.#stepBook.forget()
        this.#messageBook.forget()
        this.#logBook.commit(effects)
        if (this.plan.hasty > 0 && !this.healed) this.#haste()
        if (effects.lanesGone.length > 0) history.meet('nameForgotten')
        if (effects.lanesGone.some(({ usedEvent }) => usedEvent <= this.#loadedEvent)) history.meet('nameOfBeforeForgotten')
        this.#audit.definitions(this.engine.actor, effects)
        this.#audit.order(this.engine.actor, header.at)
        this.#audit.newcomers(header.at)
        this.#shares.commit(this.engine.actor.tables, header.at)
        this.#nameTurns.commit(this.engine.actor.tables, header.at)
        this.#strictOrder.commit(this.engine.actor.tables, header.at)
      },
      reading: () => {
        // A slow answer comes after the reload, and takes nothing of the leases that began with it.
        seeReloads()
        this.faults.read()
      },
      received: (connection, requests, sentMono) => this.#requests.received(connection, requests, sentMono),
      delivering: (connection, delivery) => {
        seeReloads()
        this.#requests.delivered(connection, delivery)
        this.#misfortunes.delivering()
      },
      turned: (nextMs, failed) => {
        seeReloads()
        if (this.engine.actor.unanswered > 0 && !this.healed) history.meet('answersPutOff')
        if (failed) this.#failedMono = timeline.mono
        // On a locked file no turn was taken.
        if (timeline.mono < this.faults.busyUntilMono && !this.healed) return
        // Without mail nothing is decided before what could not be written is tried again, in its own time.
        if (!hadMail && timeline.mono < this.#failedMono + FAILED_RETRY_MS) return
        if (nextMs > 0 && !failed && !this.engine.actor.hasMail) {
          const { wall, mono } = timeline
          this.#audit.turned(this.engine.actor, wall, mono)
          this.#schedules.turned(this.engine.actor, wall)
          this.#audit.timers(this.engine.actor, nextMs, wall, mono)
          this.#schedules.timers(this.engine.actor, nextMs, wall)
          if (this.plan.flows + this.plan.joins > 0) this.#model.flowsTold(this.#database.edges())
        }
      },
      failed: (refusal, error) => this.#misfortunes.engineFailed(refusal, error),
      invariantBroken: (invariant) => this.history.hold(false, 18, () => invariant),
    }
  }

  /** Joined jobs have ended: somebody acts before those that wait for them have heard of it. */
  #haste(): void {
    for (const id of this.#model.joinedOver) {
      if (!this.#hasteChance.hits(this.plan.hasty)) continue
      this.timeline.after(0, () => {
        const client = this.clients.find(({ dead }) => !dead)
        if (client !== undefined) this.operations.meddle(client, [id])
      })
    }
  }

  readonly #stop = (): boolean => {
    if (this.timeline.mono !== this.#movedMono) {
      this.#movedMono = this.timeline.mono
      this.#movedAt = this.timeline.happened
    } else if (this.timeline.happened - this.#movedAt > SPIN_MAX) this.history.violate(19, 'the world spins: no time passes')
    if (this.timeline.happened - this.#comparedAt >= COMPARE_EVERY) {
      this.#comparedAt = this.timeline.happened
      if (!this.engine.dead) this.#audit.tables(this.engine.actor)
    }
    return this.history.violations.length > 0
  }

  /** The engine could have taken the outcome of that run for a while. */
  #isSayable({ seq, run }: RunKey): boolean {
    return !this.#requests.unsayable(seq, run) && this.timeline.mono - this.#requests.putOffMono(seq, run) > UNTOLD_MS
  }

  /** Nothing goes wrong any more: all that was asked must end. */
  async #heal(): Promise<void> {
    this.healed = true
    this.faults.healed = true
    this.timeline.setRight()
    const from = this.timeline.mono
    let until = from + LIVENESS_MS
    this.#misfortunes.end()
    while (this.timeline.mono < until) {
      if (!this.clients.some((client) => !client.dead && this.#helpers.has(client)))
        this.#helpers.add(this.addClient(true, !this.engine.dead))
      this.#adopt()
      this.#lift()
      this.#goOn()
      let sent = true
      for (const app of this.#apps) sent = app.heal() && sent
      await this.timeline.run(this.timeline.mono + SLICE_MS, this.#stop)
      if (this.history.violations.length > 0) return
      // A schedule may have caught up on thousands of ticks, each of whose jobs takes all its attempts.
      until = Math.max(until, from + LIVENESS_MS * Math.min(UTMOST, Math.ceil(this.#model.live / JOBS_IN_TIME)))
      for (const { seq, run } of this.#log.untold(UNTOLD_MS).filter((job) => this.#isSayable(job)))
        this.history.violate(19, `run ${run} of job ${seq} has ended in its worker, and the engine is not told`)
      const helper = this.clients.find((client) => !client.dead && this.#helpers.has(client))
      const over = helper !== undefined && this.#schedules.heal(helper)
      if (helper !== undefined) for (const awaiting of this.#messageBook.awaiting) this.operations.post(helper, awaiting)
      if (
        over &&
        this.#model.live === 0 &&
        this.#openCalls().length === 0 &&
        this.folders.every(({ kept }) => kept.length === 0) &&
        sent &&
        !this.#reading() &&
        this.#model.kept(this.timeline.wall) === undefined &&
        this.#journalSurplus() <= 0
      )
        return
    }
    for (const job of this.#model.jobs.values())
      if (job.state < 4 && !this.#requests.unsayable(job.seq, job.run))
        this.history.violate(20, `job ${job.seq} is not final in a healed world`)
    this.history.hold(this.#exporter?.behind !== true, 40, () => 'an export is never handed the last jobs')
    for (const { behind } of this.#readers) this.history.hold(!behind, 40, () => 'a reader of events is never told of the last ones')
    const kept = this.#model.kept(this.timeline.wall)
    this.history.hold(kept === undefined, 30, () => `${kept}`)
    const surplus = this.#journalSurplus()
    this.history.hold(surplus <= 0, 48, () => `the journal takes ${surplus} bytes more than it may`)
    this.#schedules.unhealed()
    for (const call of this.#openCalls()) this.history.violate(4, `${call} is never answered`)
  }

  /** A quiet engine forgets a slice each minute: by a few rows that takes hours. */
  #journalSurplus(): number {
    return this.engine.dead || this.plan.sliceRows < 100 ? 0 : this.engine.actor.store.journal(0).bytes - this.plan.journalBytes
  }

  #goOn(): void {
    const client = this.clients.findLast(({ dead }) => !dead)
    if (client === undefined) return
    for (const reader of this.#readers) reader.follow(client)
    this.#exporter?.follow(client)
  }

  /** Who follows the journal has yet to come to its end. */
  #reading(): boolean {
    return this.#readers.some(({ behind }) => behind) || this.#exporter?.behind === true
  }

  /** Each journal that a dead process has left behind has a process that goes on with it. */
  #adopt(): void {
    const used = new Set(this.clients.filter((client) => !client.dead).map(({ folder }) => folder))
    for (const folder of this.folders) if (!used.has(folder) && folder.kept.length > 0) this.addClient(false, !this.engine.dead, folder)
  }

  /** Nothing is held back any more. */
  #lift(): void {
    if (this.#model.limits.none) return
    const client = this.clients.find((one) => !one.dead && this.#helpers.has(one))
    if (client !== undefined) this.operations.lift(client, this.#model.limits)
  }

  #openCalls(): string[] {
    return this.clients.flatMap((client) => (client.dead ? [] : [...client.calls].map((call) => `${client.name}: ${call}`)))
  }

  #end(): void {
    const { actor } = this.engine
    // An engine that has just lost its file is ahead of it.
    if (!this.engine.dead) {
      this.#audit.tables(actor)
      this.#intakes.audit(actor, this.clients)
    }
    this.#audit.rows(actor.store)
    this.#schedules.audit(actor)
    this.#audit.file(this.#database, actor.store)
    this.#logBook.file(this.#database.logLines())
    this.#stepBook.file(this.#database.steps())
    this.#messageBook.file(this.#database.messages())
    const unanswered = this.#requests.unanswered.filter((request) => !request.endsWith('progress') && !request.endsWith('log'))
    for (const request of unanswered) this.history.violate(4, `${request} is never answered`)
    for (const folder of this.folders) this.#journaled(folder)
    for (const app of this.#apps) app.audit()
    if (this.plan.faultFree) this.#faultFree()
  }

  /** All clients die, and their sessions end: nobody is there, nothing is to be done, and so nothing is to be held for it. */
  async #leave(): Promise<void> {
    const { engine, timeline } = this
    for (const client of [...this.clients]) if (!client.dead) this.#misfortunes.kill(client)
    // A session is away for as long as the longest lease of a job that it had.
    const longestMs = Math.max(LIMITS.leaseMs, DEFAULT_POLICY.heartbeatTimeout)
    await timeline.run(timeline.mono + longestMs + QUIET_MS, this.#stop)
    if (engine.dead || this.engine !== engine || this.history.violations.length > 0) return
    this.#audit.tables(engine.actor)
    auditMemory(this.history, engine.actor, engine.successor())
  }

  /** What its process was told to be safe is in the queue, or was refused and is noted. */
  #journaled({ kept, promised, refusedNumbers }: Folder): void {
    this.history.hold(kept.length === 0, 19, () => `${kept.length} entries of a journal are never forwarded`)
    for (const number of promised) {
      const there = this.#model.numbers.has(number) || refusedNumbers.has(number)
      this.history.hold(there, 1, () => `the journaled call ${number} was acknowledged, and is lost`)
    }
  }

  /** Without faults nothing is lost, given back, or tried twice. */
  #faultFree(): void {
    const { sure, touched } = this.operations
    // A first job with a short lease is given back once, to be renewed for in time; a lease or timeout may be shorter than its messages take.
    const remote = this.clients.some((client) => client.remote)
    // A worker that is paused gives back what reaches it too late.
    const released = this.plan.adjusts > 0 ? [] : ['givenBack']
    for (const what of remote ? ['reloaded'] : ['stalled', 'reloaded', ...released])
      this.history.hold(this.history.met[what] === undefined, 11, () => `a run is ${what} in a world without faults`)
    for (const { id, number, seq, run, uncounted, heartbeatTimeout, timeout } of this.#model.jobs.values()) {
      if (remote && Math.min(leaseMs(heartbeatTimeout), timeout) <= 4 * this.plan.delayMs + 1_000) continue
      if (!sure.has(number) || touched.has(id) || run === 0) continue
      this.history.hold(run - uncounted === 1, 11, () => `job ${seq} took ${run - uncounted} attempts in a world without faults`)
    }
  }
}

function retentionOf({ keep, keepMs: ageMs, journalMs, journalBytes: bytes }: Plan): Retention {
  const some = Math.max(1, keep)
  return {
    ...DEFAULT_RETENTION,
    completed: { ageMs, count: keep },
    failed: { ageMs, count: some },
    cancelled: { ageMs, count: some },
    journal: { ageMs: journalMs, bytes },
  }
}
