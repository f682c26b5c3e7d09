/** What must hold of the engine's tables and of the file, held against the model: after turns, now and then, and at the end. */
import { ACTIVE, BLOCKED, DEFAULT_POLICY, type Defaults, formatId, isJobEvent, SCHEDULED, STATES, WAITING } from '@millrace/core'
import { type Effects, hourOf, type JobRow, type Session, type Store, tokenMs } from '@millrace/core/kernel'
import { rebuilt, tableFacts } from '@millrace/testkit/internal'
import type { Actor } from '../../../packages/engine/src/actor/actor.ts'
import type { MemoryDatabase } from './database.ts'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'
import { FORGED } from './stranger.ts'

/** How late a deadline may be seen: a slow commit, a few turns that could not be written. */
const LATE_MS = 8_000
/** Tokens come at fractions of a millisecond. */
export const ROUNDING_MS = 0.01
/** The wall clock is looked at so often when nothing else happens. */
const SLICE_MS = 60_000

type Events = ReturnType<Store['events']>

export class Audit {
  readonly #history: History
  readonly #model: Model
  /** Old events may be gone. */
  readonly #forgets: boolean
  readonly #inForce = new Map<string, Defaults>()
  /** The sessions that were there after the last turn, by their uuid. */
  #present: ReadonlyMap<string, number> = new Map()
  /** The names, with their defaults, that sessions of the engine's own process defined then. */
  #ownSaid: ReadonlySet<string> = new Set()

  constructor(history: History, model: Model, forgets: boolean) {
    this.#history = history
    this.#model = model
    this.#forgets = forgets
  }

  /** What was in force for a name stays so while a living session says it, unless one of the engine's own process says otherwise. */
  definitions({ tables }: Actor, { newSessions }: Effects): void {
    // A session that has decided may have come and gone within the turn.
    const ownSaid = new Set([...this.#ownSaid, ...saidByOwn(newSessions), ...saidByOwn(tables.sessions.values())])
    for (const [name, { defaults }] of tables.definitions.inForce) {
      const before = this.#inForce.get(name)
      this.#inForce.set(name, defaults)
      const forged = JSON.stringify(defaults) === JSON.stringify(FORGED)
      this.#history.hold(!forged, 54, () => `the defaults of a stranger are in force for ${name}`)
      if (before === undefined || JSON.stringify(before) === JSON.stringify(defaults)) continue
      this.#history.meet('redefined')
      const said = (of: Defaults) =>
        [...tables.sessions.values()].filter(({ intro }) =>
          intro.handlers.some((handler) => handler.name === name && JSON.stringify(handler.defaults) === JSON.stringify(of)),
        )
      const own = ownSaid.has(textOf(name, defaults))
      // Not one that was taken for lost meanwhile, and is back as a newcomer.
      const still = said(before).find(({ intro, id }) => (intro.local || !own) && this.#present.get(intro.uuid) === id)
      this.#history.hold(still === undefined, 46, () => `${still?.intro.worker} still says what was in force for ${name}, and is overruled`)
    }
    this.#present = new Map([...tables.present].map(([uuid, { id }]) => [uuid, id]))
    this.#ownSaid = new Set(saidByOwn(tables.sessions.values()))
  }

  /** Of what a turn has started: nothing that was to run before it still waits. */
  order(actor: Actor, wall: number): void {
    const { started, waiting, turns } = this.#model
    if (started.length === 0 || waiting.size === 0) return
    for (const job of started) {
      const session = actor.tables.sessions.get(job.session)
      if (session === undefined) continue
      for (const other of waiting) {
        if (other.expiresAt !== 0 && other.expiresAt <= wall) continue
        if (other.key !== undefined || this.#model.limits.holds(other, this.#model.active)) continue
        if (other.waitsSince === turns || other.queue !== job.queue || other.weight > job.weight || !before(other, job)) continue
        const { group } = session
        if (!group.serves(other.queue, other.name)) continue
        // Names of equal priority take turns there: nameTurns.ts.
        if (other.name !== job.name && other.priority === job.priority && this.#model.limits.settings(job.queue).fairness === 'name')
          continue
        // On disk alone, behind what its window holds, or to be read with the next turn; or its name takes what its definition says first.
        const { jobs, definitions } = actor.tables
        if (other.name !== job.name && (jobs.get(other.seq) === undefined || definitions.isUnserved(other.name))) continue
        this.#history.violate(21, `job ${job.seq} starts before job ${other.seq}, which is to run before it`)
      }
    }
  }

  /** Of what a turn has created: no job is let into line, or started, before one of its key and name that was held back by then. */
  newcomers(wall: number): void {
    const { started, waiting, turns } = this.#model
    for (const job of [...started, ...waiting]) {
      if (job.bornTurn < turns || job.key === undefined || job.parked) continue
      for (const other of waiting)
        if (this.#isOvertaken(other, job, wall))
          this.#history.violate(24, `job ${job.seq} of key ${job.key} comes, and passes job ${other.seq} of the key, which is parked`)
    }
  }

  #isOvertaken(held: Tracked, by: Tracked, wall: number): boolean {
    const { limits, turns } = this.#model
    if (held.key !== by.key || held.queue !== by.queue || held.name !== by.name) return false
    if (!held.parked || held.parkedSince === turns || held.waitsSince === turns) return false
    if (held.expiresAt !== 0 && held.expiresAt <= wall) return false
    return limits.settings(held.queue).keyOrder !== 'strict' && before(held, by)
  }

  /** After a turn that asked for no other at once. */
  turned(actor: Actor, wall: number, mono: number): void {
    this.#stranded(actor, wall)
    this.#ghosts(actor, mono)
    this.#payloads(actor)
    for (const job of this.#model.jobs.values()) {
      if (job.state === SCHEDULED && job.runAt <= wall - SLICE_MS - LATE_MS)
        this.#history.violate(22, `job ${job.seq} is due since ${wall - job.runAt} ms, and not in line`)
      if ((job.state < ACTIVE || job.state === BLOCKED) && job.expiresAt !== 0 && job.expiresAt <= wall - SLICE_MS - LATE_MS)
        this.#history.violate(22, `job ${job.seq} has outlived its ttl by ${wall - job.expiresAt} ms`)
    }
    for (const job of this.#model.active) {
      const grace = actor.tables.sessions.get(job.session)?.intro.abortGrace ?? 0
      const late = mono - job.latestMono - grace
      if (late > LATE_MS) this.#history.violate(14, `run ${job.run} of job ${job.seq} goes on ${late} ms after its deadline and its grace`)
    }
  }

  /** Who is away for longer than the longest lease of what it may have held, and holds nothing, is not there any more. */
  #ghosts({ tables }: Actor, mono: number): void {
    for (const { intro, connection, jobs, renewedMono } of tables.sessions.values()) {
      if (intro.local || connection !== undefined || jobs.size > 0) continue
      const late = mono - renewedMono - DEFAULT_POLICY.heartbeatTimeout
      this.#history.hold(late < LATE_MS, 40, () => `session ${intro.uuid} is away, and still there ${late} ms after its lease`)
    }
    for (const [uuid, { untilMono }] of tables.present)
      this.#history.hold(
        mono - untilMono < LATE_MS,
        40,
        () => `session ${uuid} was to be back ${mono - untilMono} ms ago, and is still awaited`,
      )
  }

  /** A job that runs has given its data away, and keeps none in memory. */
  #payloads({ tables }: Actor): void {
    for (const { seq, state, data } of tables.jobs.values())
      if (state === ACTIVE) this.#history.hold(data === undefined, 18, () => `job ${seq} runs, and its data is still in memory`)
  }

  /** Whatever waits for a time alone: the next turn, which comes in `nextMs`, is no later. */
  timers({ tables }: Actor, nextMs: number, wall: number, mono: number): void {
    const look = (what: () => string, ms: number) =>
      this.#history.hold(nextMs <= ms + ROUNDING_MS, 47, () => waitsTooLong(what(), ms, nextMs))
    for (const job of this.#model.jobs.values()) {
      if (job.state === SCHEDULED) look(() => `job ${job.seq}`, job.runAt - wall)
      const isUnstarted = job.state < ACTIVE || job.state === BLOCKED
      if (isUnstarted && job.expiresAt !== 0) look(() => `the ttl of job ${job.seq}`, job.expiresAt - wall)
    }
    for (const [place, end] of this.#model.pauses.ends)
      if (end !== Number.POSITIVE_INFINITY) look(() => `the pause of ${place}`, Math.max(0, end - wall))
    for (const job of tables.running())
      if (job.deadlinePlace >= 0 || job.abort !== undefined || job.policy.timeout !== Number.POSITIVE_INFINITY)
        look(() => `the deadline of job ${job.seq}`, job.deadlineMono - mono)
    for (const session of tables.sessions.values()) look(() => `the lease of ${session.intro.uuid}`, session.leaseMono - mono)
    const { waiting } = tables.dispatchable
    if (waiting.size > 1) this.#history.meet('queuesWaitForTokens')
    for (const { name, settings, fullMono } of waiting) {
      const { rateLimit } = settings
      if (rateLimit === undefined) continue
      // The next job may take several.
      const tokens = [...this.#model.waiting].map((job) => (job.queue === name ? Math.min(job.tokens, rateLimit.burst) : 1))
      look(() => `queue ${name}`, tokenMs(rateLimit, fullMono, mono, Math.max(1, ...tokens)))
    }
  }

  /** A session with room, and a job that fits, is a job too few. */
  #stranded(actor: Actor, wall: number): void {
    const { waiting, active } = this.#model
    if (waiting.size === 0) return
    for (const { intro, group, draining, connection, silent } of actor.tables.sessions.values()) {
      if (draining || silent || connection === undefined || intro.paused === true) continue
      let weight = 0
      for (const job of active) if (job.session === intro.uuid) weight += job.weight
      if (weight >= intro.minConcurrency) continue
      const { limits } = this.#model
      const unheld = [...waiting].filter(
        (job) => group.serves(job.queue, job.name) && (job.expiresAt === 0 || job.expiresAt > wall) && !limits.holds(job, active, false),
      )
      const served = unheld.filter((job) => !limits.holds(job, active))
      // Room may be kept for a heavy one that has its token.
      const fit = unheld.every((job) => weight === 0 || weight + job.weight <= intro.maxConcurrency)
      if (served.length > 0 && fit)
        this.#history.violate(19, `job ${served[0]?.seq} waits, and ${intro.worker} runs ${weight} of ${intro.minConcurrency}`)
    }
  }

  /** Memory is a function of the file, and says what the model says. */
  tables(actor: Actor): void {
    const { tables, store } = actor
    const [live, built] = [JSON.stringify(tableFacts(tables)), JSON.stringify(rebuilt(store))]
    this.#history.hold(live === built, 18, () => `the tables are ${live}, rebuilt from the file ${built}`)
    const counts = [0, 0, 0, 0, 0, 0, 0]
    for (const lane of tables.lanesById.values()) for (const [state, count] of lane.counts.entries()) (counts[state] as number) += count
    for (const [state, count] of counts.entries()) {
      const rows = this.#model.count(state as Tracked['state'])
      this.#history.hold(count === rows, 7, () => `the counters say ${count} ${STATES[state]}, and there are ${rows}`)
    }
    this.#windows(actor)
    this.#workers(actor)
  }

  /** Who is there is told as attached, and has not been told as gone; nobody else is waited for without an end. */
  #workers({ tables }: Actor): void {
    const { workers } = this.#model.systemEvents
    for (const uuid of tables.sessions.keys())
      this.#history.hold(workers.has(uuid), 40, () => `session ${uuid} is there, and not told as attached`)
    for (const uuid of workers.keys()) {
      const { untilMono } = tables.present.get(uuid) ?? { untilMono: Number.POSITIVE_INFINITY }
      const known = tables.sessions.has(uuid) || untilMono < Number.POSITIVE_INFINITY
      this.#history.hold(known, 40, () => `session ${uuid} is told as attached, and nobody would tell that it is lost`)
    }
  }

  /** Each window is the beginning of its lane's order, and all of it where it says so. */
  #windows({ tables }: Actor): void {
    const lines = new Map<string, Tracked[]>()
    for (const job of this.#model.waiting) {
      if (job.parked) continue
      const key = `${job.queue} ${job.name}`
      const line = lines.get(key)
      if (line === undefined) lines.set(key, [job])
      else line.push(job)
    }
    for (const lane of tables.lanesById.values()) {
      const line = (lines.get(`${lane.queue.name} ${lane.name}`) ?? []).sort((a, b) => (before(a, b) ? -1 : 1))
      const { window } = lane
      const seqs = Array.from({ length: window.size }, (_, index) => window.at(index)?.seq)
      const expected = line.slice(0, seqs.length).map(({ seq }) => seq)
      this.#history.hold(
        seqs.join() === expected.join(),
        18,
        () => `the window of lane ${lane.id} is ${seqs}, and should begin ${expected}`,
      )
      if (!window.complete) this.#history.meet('windowCut')
      const whole = !window.complete || seqs.length === line.length
      this.#history.hold(whole, 18, () => `the window of lane ${lane.id} says that ${seqs} are all, and there are ${line.length}`)
    }
  }

  /** Every row is what the model says. */
  rows(store: Store): void {
    const { jobs } = this.#model
    const rows = new Map(store.jobs([...jobs.keys()]).map((row) => [row.seq, row]))
    for (const job of jobs.values()) {
      const row = rows.get(job.seq)
      if (row === undefined) this.#history.violate(1, `job ${job.seq}, which was committed, is not there`)
      else this.#row(job, row)
    }
  }

  #row(job: Tracked, row: JobRow): void {
    const { state, run, priority, weight, runAt, cancelRequested, expiresAt } = job
    const expected = [state, run, run - job.uncounted, priority, weight, runAt, cancelRequested, job.id]
    const found = [row.state, row.run, row.run - row.uncounted, row.priority, row.weight, row.runAt, row.cancelRequested, formatId(row)]
    this.#history.hold(
      `${expected}` === `${found}`,
      state === row.state ? 18 : 2,
      () => `the row of job ${job.seq} is ${found}, and should be ${expected}`,
    )
    const tags = this.#model.tagsOf(job)
    const has = JSON.stringify(row.extras?.tags ?? [])
    this.#history.hold(tags === undefined || tags === has, 18, () => `job ${job.seq} has the tags ${has}, and should have ${tags}`)
    if (state < ACTIVE)
      this.#history.hold(expiresAt === row.expiresAt, 18, () => `the ttl of job ${job.seq} is ${row.expiresAt}, and should be ${expiresAt}`)
  }

  /** All of the file, and its journal from the beginning. */
  file(database: MemoryDatabase, store: Store): void {
    const { problems, jobs } = database.audit()
    for (const problem of problems) this.#history.violate(7, problem)
    this.#history.hold(
      jobs.length === this.#model.jobs.size,
      6,
      () => `${jobs.length} rows are there, and should be ${this.#model.jobs.size}`,
    )
    const untrue = database.untrueTags().join(', ')
    this.#history.hold(untrue === '', 18, () => `jobs have tags that no list finds them by, or are found by tags of others: ${untrue}`)
    const [held, expected] = [database.uniqueKeys().join(', '), this.#model.uniqueKeys().join(', ')]
    this.#history.hold(held === expected, 25, () => `the unique keys held are ${held}, and should be ${expected}`)
    const events = store.events(0, Number.MAX_SAFE_INTEGER)
    this.#journal(events)
    this.#failures(store, events)
  }

  /** Every failure that the journal tells is counted to its kind, once. */
  #failures(store: Store, events: Events): void {
    const told = events.filter(({ type }) => type === 'retrying' || type === 'failed').length
    const kinds = store.failures(undefined, Number.MAX_SAFE_INTEGER, 'last')
    const counted = kinds.reduce((sum, { count }) => sum + count, 0)
    // Of a deleted queue the journal tells, and nothing is counted any more. What is old is counted, and the journal tells it no more.
    const [forgotten, gone] = [this.#forgets, this.#model.queuesGone > 0]
    const fits = (forgotten || told >= counted) && (gone || told <= counted)
    this.#history.hold(fits, 7, () => `${counted} failures are counted by their kinds, and the journal tells ${told}`)
    for (const { count, firstAt, hours } of kinds) {
      // The runs of the hours that are kept: all of them, unless some are older.
      const shown = count - (hours[0]?.before ?? 0)
      const rises = hours.every(
        ({ at, before }, place) => place === 0 || (at > (hours[place - 1]?.at ?? at) && before > (hours[place - 1]?.before ?? before)),
      )
      const isWhole = hours[0]?.at !== hourOf(firstAt) || shown === count
      this.#history.hold(rises && isWhole && shown > 0, 7, () => `a kind of ${count} failures has the hours ${JSON.stringify(hours)}`)
    }
    if (counted > 0) this.#history.meet('failuresCounted')
  }

  #journal(events: Events): void {
    const last = new Map<number, string>()
    const starts = new Map<number, number>()
    let next = this.#forgets ? (events[0]?.seq ?? this.#model.nextEvent) : 1
    const isWhole = next === 1
    for (const event of events) {
      this.#history.hold(event.seq === next, 40, () => `event ${event.seq} follows event ${next - 1}`)
      next = event.seq + 1
      if (!isJobEvent(event)) continue
      const { type, jobSeq, name } = event
      this.#history.hold(name !== '', 40, () => `event ${event.seq} of job ${jobSeq} has lost its name`)
      if (type === 'started') starts.set(jobSeq, (starts.get(jobSeq) ?? 0) + 1)
      if (type !== 'progress' && type !== 'stalled' && type !== 'deduplicated') last.set(jobSeq, type)
    }
    this.#history.hold(
      next === this.#model.nextEvent,
      40,
      () => `the journal ends before event ${next}, and should before ${this.#model.nextEvent}`,
    )
    for (const job of this.#model.jobs.values()) {
      const type = last.get(job.seq) ?? 'nothing'
      if (!isWhole && type === 'nothing') continue
      const fits = STATE_AFTER[type]?.includes(job.state) === true
      this.#history.hold(fits, 40, () => `the journal ends job ${job.seq} with '${type}', and it is ${STATES[job.state]}`)
      this.#history.hold(
        !isWhole || (starts.get(job.seq) ?? 0) === job.run,
        40,
        () => `the journal starts job ${job.seq} ${starts.get(job.seq)} times, and its run is ${job.run}`,
      )
    }
  }
}

const IN_LINE: readonly number[] = [SCHEDULED, WAITING]
const STATE_AFTER: Readonly<Record<string, readonly number[]>> = {
  enqueued: [...IN_LINE, BLOCKED],
  promoted: [WAITING],
  updated: [...IN_LINE, BLOCKED],
  released: IN_LINE,
  snoozed: IN_LINE,
  retrying: IN_LINE,
  started: [ACTIVE],
  completed: [4],
  failed: [5],
  cancelled: [6],
}

export function waitsTooLong(what: string, ms: number, nextMs: number): string {
  return `${what} waits for a time in ${ms} ms, and the next turn comes in ${nextMs} ms`
}

/** Whether a job runs before another one of its queue. */
type Place = Pick<Tracked, 'priority' | 'runAt' | 'seq'>

function before(a: Place, b: Place): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  return a.runAt === b.runAt ? a.seq < b.seq : a.runAt < b.runAt
}

/** Returns the names, with their defaults, that sessions of the engine's own process define. */
function saidByOwn(sessions: Iterable<Session>): string[] {
  const own = [...sessions].filter(({ intro }) => intro.local)
  return own.flatMap(({ intro }) => intro.handlers.map(({ name, defaults }) => textOf(name, defaults)))
}

function textOf(name: string, defaults: Defaults): string {
  return `${name} ${JSON.stringify(defaults)}`
}
