/** One seed's world: an owner, its clients, what they do, what befalls them, and what must hold in the end. */
import { formatId, STATES } from '@millrace/core'
import { rebuilt, tableFacts } from '@millrace/testkit'
import { openCrashing, type Place, type Trouble } from '../../packages/sqlite/src/testing/crashing.ts'
import { Chance } from './chance.ts'
import { Checker, type Row } from './checker.ts'
import { Client } from './client.ts'
import type { Task } from './handlers.ts'
import { Operations } from './operations.ts'
import { Owner } from './owner.ts'
import type { Plan } from './plan.ts'
import { Scheduler } from './scheduler.ts'

const START_WALL = Date.UTC(2030, 0, 1)
/** Longer than all jumps of the wall clock together: what was due may be so much later. */
const HEALED_MS = 8 * 3_600_000
const SLICE_MS = 30_000
const COMPARE_EVERY = 64

export interface Outcome {
  readonly seed: number
  readonly violations: readonly string[]
  readonly hash: string
  readonly history: readonly string[]
  readonly events: number
  readonly grants: number
  readonly crashes: number
  readonly virtualMs: number
  /** Faults and rare paths by name. */
  readonly met: Readonly<Record<string, number>>
}

export async function runWorld(plan: Plan, keepHistory = false): Promise<Outcome> {
  return new World(plan, keepHistory).run()
}

class World {
  readonly #plan: Plan
  readonly #scheduler = new Scheduler(START_WALL)
  readonly #chance: Chance
  readonly #checker: Checker
  readonly #operations: Operations
  readonly #db
  readonly #met: Record<string, number> = {}
  #owner: Owner
  #clients: Client[] = []
  #nextClient = 1
  #healed = false
  #crashes = 0
  #comparedAt = 0
  #highWall = START_WALL

  constructor(plan: Plan, keepHistory: boolean) {
    this.#plan = plan
    this.#chance = new Chance(plan.seed ^ 0x5eed)
    this.#checker = new Checker(keepHistory)
    this.#operations = new Operations(new Chance(plan.seed ^ 0xac7), this.#checker, this.#scheduler)
    this.#db = openCrashing({
      random: this.#chance.random,
      now: START_WALL,
      meet: (place) => this.#meet(place),
      room: () => this.#healed || this.#chance.hits(0.5),
    })
    this.#owner = this.#newOwner(new Set())
    for (let client = 0; client < plan.clients; client++) this.#addClient(client === 0)
  }

  async run(): Promise<Outcome> {
    const { safetyMs } = this.#plan
    this.#schedule()
    await this.#scheduler.run(safetyMs, this.#stop)
    this.#healed = true
    if (this.#checker.violations.length === 0) await this.#heal(safetyMs)
    if (this.#checker.violations.length === 0) this.#audit()
    this.#db.close()
    const { hash, history, violations, grants } = this.#checker
    const { events, mono } = this.#scheduler
    return { seed: this.#plan.seed, violations, hash, history, events, grants, crashes: this.#crashes, virtualMs: mono, met: this.#met }
  }

  /** Until all is final and every call answered, or time is up. */
  async #heal(safetyMs: number): Promise<void> {
    this.#count('healed')
    // What has died is started again meanwhile.
    if (await this.#scheduler.run(safetyMs + SLICE_MS, this.#stop)) return
    // A file that a thief has taken is opened anew, as its owner would.
    if (this.#owner.dead && this.#clients.every(({ dead }) => dead)) this.#restartProcess()
    if (!this.#clients.some((client) => !client.dead && client.sessions.size > 0)) this.#addClient(true)
    for (let until = safetyMs + SLICE_MS; until < safetyMs + HEALED_MS; until += SLICE_MS) {
      if (await this.#scheduler.run(until + SLICE_MS, this.#stop)) return
      const { counts } = this.#states()
      if (counts === 0 && this.#openCalls() === 0) return
    }
  }

  readonly #stop = (): boolean => {
    if (this.#scheduler.events - this.#comparedAt >= COMPARE_EVERY) this.#compare()
    return this.#checker.violations.length > 0
  }

  /** Memory = f(file), between any two events. */
  #compare(): void {
    this.#comparedAt = this.#scheduler.events
    if (this.#owner.dead) return
    const [live, built] = [JSON.stringify(tableFacts(this.#owner.actor.tables)), JSON.stringify(rebuilt(this.#owner.actor.store))]
    if (live !== built) this.#checker.fail(18, `the tables are ${live}, rebuilt ${built}`)
  }

  #states(): { counts: number } {
    if (this.#owner.dead) return { counts: 1 }
    let counts = 0
    for (const { counts: of } of this.#owner.actor.tables.queues.values()) counts += of[0] + of[1] + of[2] + of[3]
    return { counts }
  }

  #openCalls(): number {
    return this.#clients.reduce((open, client) => open + (client.dead ? 0 : client.calls.size), 0)
  }

  #audit(): void {
    const { problems, jobs } = this.#db.audit()
    for (const problem of problems) this.#checker.fail(7, problem)
    const { store } = this.#owner.actor
    const rows = store.jobs(jobs.map(({ seq }) => seq)).map((row): Row => {
      const { number } = JSON.parse(row.data as string) as Task
      const maxAttempts = row.policy === null ? 1 : (JSON.parse(row.policy) as { maxAttempts: number }).maxAttempts
      const key = { seq: row.seq, node: row.node, enqueuedAt: row.enqueuedAt }
      return { id: formatId(key), number, state: STATES[row.state], run: row.run, attempt: row.run - row.uncounted, maxAttempts }
    })
    // Calls of the dead were never to be answered.
    this.#checker.open = this.#openCalls()
    const { keys, sure } = this.#operations
    this.#checker.atEnd(rows, { faultFree: this.#plan.faultFree, keys, sure })
    this.#replay(rows)
  }

  /** The journal, replayed, says where every job is. */
  #replay(rows: readonly Row[]): void {
    const seen = new Map<string, { starts: number; last: string }>()
    const { store } = this.#owner.actor
    for (const { type, jobSeq, node, enqueuedAt } of store.events(0, Number.MAX_SAFE_INTEGER)) {
      const id = formatId({ seq: jobSeq, node, enqueuedAt })
      const job = seen.get(id) ?? { starts: 0, last: '' }
      if (type === 'started') job.starts++
      if (type !== 'progress' && type !== 'updated') job.last = type
      seen.set(id, job)
    }
    for (const { id, state, run } of rows) {
      const { starts, last } = seen.get(id) ?? { starts: 0, last: 'nothing' }
      if (last !== state) this.#checker.fail(40, `the journal ends job ${id} with '${last}', its row says ${state}`)
      if (starts !== run) this.#checker.fail(40, `the journal starts job ${id} ${starts} times, its row ${run} times`)
    }
  }

  #schedule(): void {
    const { operations, safetyMs, writerDeaths, processDeaths, clientDeaths, freezes, wallJumps, thefts } = this.#plan
    const sometime = (times: number, work: () => void) => {
      for (let time = 0; time < times; time++) this.#scheduler.after(this.#chance.random() * safetyMs, () => this.#healed || work())
    }
    sometime(operations, () => {
      const living = this.#clients.filter((client) => !client.dead)
      if (living.length > 0) this.#operations.act(this.#chance.pick(living))
    })
    sometime(writerDeaths, () => this.#writerDies('writerDeath'))
    sometime(processDeaths, () => this.#processDies())
    sometime(clientDeaths, () => this.#clientDies())
    sometime(freezes, () => this.#freeze())
    sometime(wallJumps, () => {
      this.#count('wallJump')
      this.#highWall = Math.max(this.#highWall, this.#scheduler.wall)
      this.#scheduler.wallLead += this.#chance.whole(-7_200_000, 7_200_000)
    })
    sometime(thefts, () => {
      this.#count('theft')
      this.#db.steal()
    })
  }

  #meet(place: Place): Trouble | undefined {
    if (this.#healed) return undefined
    const { crashAtStatement, storeTrouble, commitTrouble, slowCommit } = this.#plan
    const chance = this.#chance
    if (chance.hits(crashAtStatement)) {
      this.#count(`crash at ${place}`)
      this.#scheduler.after(0, () => this.#writerDies('crash'))
      return 'crash'
    }
    if (place === 'committed') return undefined
    if (place === 'commit') {
      if (chance.hits(slowCommit)) {
        this.#count('slowCommit')
        this.#scheduler.mono += chance.delay(2_000)
      }
      if (!chance.hits(commitTrouble)) return undefined
      const trouble = chance.pick(['lost', 'phantom'] as const)
      this.#count(trouble)
      return trouble
    }
    if (!chance.hits(storeTrouble)) return undefined
    const trouble = place === 'begin' ? 'busy' : chance.pick(['full', 'io'] as const)
    this.#count(trouble)
    return trouble
  }

  #newOwner(alive: ReadonlySet<string>): Owner {
    const scheduler = this.#scheduler
    const owner = new Owner({
      scheduler,
      store: this.#db.open(),
      random: this.#chance.random,
      alive,
      delayMs: () => this.#chance.random() * this.#plan.delayMs,
      granted: ({ grants }, wall) => {
        // Due once is due, even where the wall clock was set back since.
        this.#highWall = Math.max(this.#highWall, wall)
        for (const { seq, runAt } of grants)
          if (runAt > this.#highWall) this.#checker.fail(22, `job ${seq} is handed out ${runAt - wall} ms early`)
      },
      failed: (refusal) => {
        this.#count(`engine failed: ${refusal?.code ?? 'error'}`)
        if (owner === this.#owner) this.#processDies(refusal?.code === 'OWNER_LOST')
      },
    })
    return owner
  }

  #addClient(works: boolean): void {
    const chance = this.#chance
    const most = chance.whole(1, 8)
    const { freezes, slowCommit, drift } = this.#plan
    const client = new Client(
      {
        scheduler: this.#scheduler,
        checker: this.#checker,
        name: `c${this.#nextClient++}`,
        drift: this.#plan.drift,
        strict: freezes === 0 && slowCommit === 0 && drift === 0,
        concurrency: works || chance.hits(0.6) ? [chance.whole(1, most), most] : undefined,
      },
      this.#owner,
    )
    client.engine.on('*', ({ type, jobId }) => {
      if (client.dead) return
      this.#checker.note(this.#scheduler.mono, client.name, 'hears', type, jobId)
      const known = this.#checker.known.get(jobId)
      if (known !== undefined && type === 'completed') known.completed = true
    })
    this.#clients.push(client)
  }

  /** The thread is gone, its process lives: started again, and every session says what it holds. */
  #writerDies(how: string): void {
    if (this.#owner.dead) return
    this.#crashes++
    this.#count(how)
    this.#checker.note(this.#scheduler.mono, 'writer dies', how)
    this.#owner.die()
    const living = this.#clients.filter((client) => !client.dead)
    for (const client of living) client.broken()
    this.#scheduler.after(this.#chance.delay(200), () => {
      if (!this.#owner.dead) return
      const now = living.filter((client) => !client.dead)
      this.#owner = this.#newOwner(new Set(now.flatMap((client) => [...client.sessions])))
      for (const client of now) client.reopened(this.#owner)
    })
  }

  #processDies(lost = false): void {
    if (this.#clients.length === 0) return
    this.#crashes++
    this.#count(lost ? 'ownerLost' : 'processDeath')
    this.#checker.note(this.#scheduler.mono, 'process dies')
    this.#owner.die()
    for (const client of this.#clients) client.die()
    this.#scheduler.after(this.#chance.delay(500), () => {
      if (this.#owner.dead && this.#clients.every(({ dead }) => dead)) this.#restartProcess()
    })
  }

  #restartProcess(): void {
    this.#owner = this.#newOwner(new Set())
    this.#clients = []
    for (let client = 0; client < this.#plan.clients; client++) this.#addClient(client === 0)
  }

  #clientDies(): void {
    const living = this.#clients.filter((client) => !client.dead)
    if (living.length < 2) return
    this.#count('clientDeath')
    const client = this.#chance.pick(living)
    this.#checker.note(this.#scheduler.mono, client.name, 'dies')
    client.die()
  }

  #freeze(): void {
    const living = this.#clients.filter((client) => !client.dead)
    if (living.length === 0) return
    this.#count('freeze')
    const client = this.#chance.pick(living)
    client.frozenUntil = this.#scheduler.mono + this.#chance.whole(100, 6_000)
  }

  #count(what: string): void {
    this.#met[what] = (this.#met[what] ?? 0) + 1
  }
}
