/**
 * Schedules, as the world asks for them, and a book of their ticks from committed turns alone: each fires once and in order, never
 * early, never before its schedule begins, never beside the job of an earlier one, and in a healed world the chain goes on.
 */
import type { ScheduleChanges, ScheduledJob } from '@millrace/client'
import { systemCalendar } from '@millrace/client/calendar'
import { ACTIVE, CANCELLED, COMPLETED, type ScheduleOptions } from '@millrace/core'
import { type Effects, type Job, type Schedule, tickAfter } from '@millrace/core/kernel'
import type { Definition } from '@millrace/worker'
import type { Actor } from '../../../packages/engine/src/actor/actor.ts'
import { ROUNDING_MS, waitsTooLong } from './audit.ts'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import { type Act, JOBS, plain, QUEUES, type Task } from './handlers.ts'
import type { History } from './history.ts'
import type { Model } from './model.ts'
import type { Operations } from './operations.ts'
import type { Requests } from './requests.ts'
import { Templates } from './templates.ts'
import type { Timeline } from './timeline.ts'

export interface SchedulesOptions {
  /** Half of them by cron expressions, some with an end. */
  readonly crons: boolean
  /** Some with a beginning. */
  readonly startsAt: boolean
  /** How often somebody changes one as soon as its last job waits. */
  readonly amends: number
  /** Whose clocks are about to change. */
  readonly zone: string | undefined
  readonly chance: Chance
  /** Of its own, so that seeds whose world takes none are as they were: schedules that are to be new, or to be there, or are paused. */
  readonly editChance: Chance
  /** Decides which schedules end after some jobs, run them beside each other, or catch up on little. */
  readonly boundChance: Chance
  /** Decides whether each upsert of the world updates the job that waits. */
  readonly waitingChance: Chance
  readonly history: History
  readonly timeline: Timeline
  readonly model: Model
  readonly requests: Requests
  readonly operations: Operations
  /** Returns a client that lives, if there is one. */
  readonly client: () => Client | undefined
}

/** What is known of one, from its creation to its deletion. */
interface Tracked {
  record: Schedule
  lastTick: number
  readonly jobs: Set<number>
  /** `fired` when the world was healed. */
  firedBefore: number
}

const IDS = ['s1', 's2', 'group/s3'] as const
/** Of seconds, so that they fire as often as the intervals. */
const CRONS = ['* * * * * *', '*/3 * * * * *', '1,2,30-40/5 * * * * *'] as const
/** Off by no whole hours, too. */
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe'] as const
/** What clocks show for the second time when they go back there in 2030, by an hour and by half of one: nothing fires. */
const FOLDS = [
  { zone: 'Europe/Berlin', from: Date.UTC(2030, 9, 27, 1), to: Date.UTC(2030, 9, 27, 2) },
  { zone: 'Australia/Lord_Howe', from: Date.UTC(2030, 3, 6, 15), to: Date.UTC(2030, 3, 6, 15, 30) },
] as const
/** When that is over, and when they go forward. */
export const SEASONS = [
  ...FOLDS.map(({ zone, to }) => ({ zone, at: to })),
  { zone: 'Europe/Berlin', at: Date.UTC(2030, 2, 31, 1) },
  { zone: 'Australia/Lord_Howe', at: Date.UTC(2030, 9, 5, 15, 30) },
] as const
const TASKS: readonly Act[] = ['ok', 'ok', 'sync', 'long', 'throw', 'flaky', 'fatal', 'deaf']
/** In worlds where somebody changes what waits: most jobs wait again. */
const REPEATED: readonly Act[] = [...TASKS, 'throw', 'flaky', 'flaky', 'retryAfter', 'snooze', 'snooze']
/** A tick may be seen so late: the wall clock is looked at once a minute, and commits may be slow or fail. */
const LATE_MS = 68_000
const HEALED_TICKS = 2

export class Schedules {
  readonly #options: SchedulesOptions
  readonly #book = new Map<string, Tracked>()
  readonly #edits: boolean
  readonly #bounds: boolean
  readonly #updates: boolean
  readonly #templates: Templates
  #healing = false

  constructor(options: SchedulesOptions) {
    this.#options = options
    this.#edits = options.editChance.hits(0.4)
    this.#bounds = options.boundChance.hits(0.4)
    this.#updates = options.waitingChance.hits(0.4) || options.amends > 0
    this.#templates = new Templates(options.history, options.requests)
  }

  act(client: Client): void {
    const { chance, operations, amends } = this.#options
    const { schedules } = client.engine
    const id = chance.pick(IDS)
    const kind = chance.pick(['upsert', 'upsert', 'upsert', 'get', 'list', 'delete', 'pause', 'resume', 'trigger', 'trigger'] as const)
    switch (kind) {
      case 'upsert': {
        const options = { ...this.#drawBounds(this.#drawOptions()), ...this.#updateWaiting }
        const data: Task = { number: 0, act: chance.pick(amends > 0 ? REPEATED : TASKS), ms: chance.small(400) }
        const ranked = this.#updates && { priority: this.#options.waitingChance.whole(-3, 3) }
        const told = { ...plain(), maxAttempts: chance.whole(1, 3), queue: chance.pick(QUEUES), ...ranked }
        const job = { job: chance.pick(JOBS), data, options: told }
        if (this.#edits && this.#options.editChance.hits(0.5)) {
          this.#edit(client, id, options, job)
          break
        }
        operations.call(client, `upsert ${id} ${JSON.stringify(options)} ${data.act}`, schedules.upsert(id, options, job))
        break
      }
      case 'list':
        operations.call(client, 'list schedules', schedules.list({ prefix: chance.pick(['', 's', 'group/']) }))
        break
      case 'get':
        operations.call(client, `get ${id}`, schedules.get(id, { times: 3 }))
        break
      default:
        operations.call<unknown>(client, `${kind} ${id}`, schedules[kind](id))
    }
  }

  /** Its last job waits, for its first run or after one: somebody soon changes the data of the schedule. */
  #amend({ state, seq, extras }: Job): void {
    const { waitingChance: chance, timeline, operations, client: find, amends } = this.#options
    const id = extras?.schedule ?? ''
    if (state >= ACTIVE || this.#book.get(id)?.record.last?.seq !== seq || !chance.hits(amends)) return
    const changes = { data: { number: 0, act: chance.pick(REPEATED), ms: chance.small(400) }, updateWaiting: true }
    timeline.after(chance.small(100), () => {
      const client = find()
      if (client === undefined) return
      operations.call(client, `amend ${id} ${JSON.stringify(changes)}`, client.engine.schedules.update(id, changes as ScheduleChanges))
    })
  }

  #edit(client: Client, id: string, options: ScheduleOptions, job: ScheduledJob<Definition<Task>>): void {
    const { editChance: chance, operations } = this.#options
    const { schedules } = client.engine
    const kind = chance.pick(['add', 'paused', 'update', 'update'] as const)
    if (kind === 'add') operations.call(client, `add ${id} ${JSON.stringify(options)}`, schedules.add(id, options, job))
    else if (kind === 'update') {
      const change = chance.pick([{ paused: true }, { paused: false }, { jitter: 700 }, { every: 2_000 }, { data: job.data }] as const)
      const changes = { ...change, ...this.#updateWaiting }
      operations.call(client, `update ${id} ${JSON.stringify(changes)}`, schedules.update(id, changes as ScheduleChanges))
    } else {
      const told = { ...options, runImmediately: false, paused: chance.hits(0.5) }
      operations.call(client, `upsert ${id} ${JSON.stringify(told)}`, schedules.upsert(id, told, job))
    }
  }

  get #updateWaiting(): Pick<ScheduleOptions, 'updateWaiting'> {
    return this.#updates ? { updateWaiting: true } : {}
  }

  #drawOptions(): ScheduleOptions {
    const { chance, crons, zone, timeline, startsAt } = this.#options
    const all = chance.hits(0.25)
    const options: ScheduleOptions = {
      // Few at a time: so that most upserts find one whose ticks are the same.
      ...(crons && chance.hits(0.5)
        ? { cron: chance.pick(CRONS), timezone: (chance.hits(0.7) && zone) || chance.pick(ZONES) }
        : { every: chance.pick([1_000, 1_700, 5_000]) }),
      ...(crons && chance.hits(0.15) && { endAt: timeline.wall + chance.whole(1, 15_000) }),
      catchUp: all ? 'all' : chance.pick(['latest', 'latest', 'none'] as const),
      overlap: all ? 'queue' : chance.pick(['skip', 'queue', 'queue', 'cancel'] as const),
      ...(chance.hits(0.3) && { jitter: 900 }),
      ...(chance.hits(0.3) && { runImmediately: true }),
    }
    if (!startsAt || !chance.hits(0.4)) return options
    // Few of them, too, and at no whole seconds.
    const startAt = Math.floor(timeline.wall / 5_000) * 5_000 + 137 + chance.pick([-60_000, -5_000, 5_000, 10_000])
    return { ...options, startAt: Math.min(startAt, Number(options.endAt ?? startAt)) }
  }

  #drawBounds(options: ScheduleOptions): ScheduleOptions {
    const { boundChance: chance } = this.#options
    if (!this.#bounds) return options
    return {
      ...options,
      ...(chance.hits(0.3) && { overlap: 'allow' }),
      ...(chance.hits(0.2) && { maxRuns: chance.whole(1, 4) }),
      ...(options.catchUp !== 'none' && chance.hits(0.2) && { catchUpWithin: chance.pick([1_000, 10_000]) }),
    }
  }

  /** After the model: what a turn has done to schedules, and what has come of them. */
  commit(effects: Effects, wall: number): void {
    this.#ticks(effects, wall)
    this.#templates.commit(effects, (id) => this.#book.get(id)?.record, this.#updates)
    if (!this.#healing) for (const { job } of effects.events) if (job !== undefined) this.#amend(job)
  }

  #ticks({ schedules, events }: Effects, wall: number): void {
    // One of the same name may have come in its place within the turn: its jobs wait for none of these.
    for (const [{ id }, change] of schedules) if (change === 'delete') this.#book.get(id)?.jobs.clear()
    for (const { type, job } of events)
      if (job !== undefined && type === 'enqueued' && job.extras?.schedule !== undefined)
        this.#came(job.extras.schedule, job, schedules, wall)
    for (const note of events)
      if (note.job === undefined && note.body.type === 'schedule.skipped' && note.body.reason === 'overlap') {
        const { body } = note
        const record = [...schedules.keys()].find(({ id }) => id === body.schedule)
        this.#options.history.hold(record?.spec.overlap === 'skip', 23, () => `schedule ${body.schedule} skips a tick for an earlier job`)
      }
    for (const [record, change] of schedules) {
      const { id } = record
      const before = this.#book.get(id)
      if (change === 'delete') {
        if (before?.record.createdAt === record.createdAt) this.#book.delete(id)
        continue
      }
      const tracked = before ?? { record, lastTick: 0, jobs: new Set(), firedBefore: 0 }
      tracked.record = { ...record }
      this.#book.set(id, tracked)
      const { history } = this.#options
      const { nextAt, spec } = record
      const isSpent = spec.maxRuns !== undefined && record.fired >= spec.maxRuns
      history.hold(
        nextAt === 0 || !isSpent,
        23,
        () => `schedule ${id} has had ${record.fired} of ${spec.maxRuns} jobs, and has a next tick`,
      )
      if (isSpent) history.meet('spent')
      if (nextAt === 0 && (spec.endAt !== undefined || isSpent)) history.meet('ended')
      else history.hold(nextAt > 0, 23, () => `schedule ${id} has no next tick, and no end`)
      history.hold(nextAt <= (spec.endAt ?? nextAt), 23, () => `schedule ${id} is at tick ${nextAt}, and ends at ${spec.endAt}`)
      this.#begins(record, nextAt)
      history.hold(
        nextAt === 0 || nextAt > tracked.lastTick,
        23,
        () => `schedule ${id} is at tick ${nextAt}, and ${tracked.lastTick} has fired`,
      )
      history.hold(record.lastAt <= Math.max(wall, this.#options.timeline.highestWall), 23, () => `schedule ${id} has fired in the future`)
    }
  }

  /** A job has come: of a tick, or by hand. */
  #came(id: string, { seq, extras }: Job, changes: Effects['schedules'], wall: number): void {
    const { history, model, timeline, requests } = this.#options
    const record = [...changes.keys()].find((schedule) => schedule.id === id)
    if (record === undefined) {
      history.violate(23, `job ${seq} comes of schedule ${id}, whose next tick is not written with it`)
      return
    }
    const at = Date.parse((JSON.parse(extras?.meta as string) as { schedule: { at: string } }).schedule.at)
    const before = this.#book.get(id)
    const tracked = before ?? { record, lastTick: 0, jobs: new Set(), firedBefore: 0 }
    this.#book.set(id, tracked)
    history.hold(at <= timeline.highestWall, 22, () => `tick ${at} of schedule ${id} fires ${at - timeline.highestWall} ms early`)
    // By hand a job comes at the time of its turn, which a tick may name as well.
    const byHand = at === wall && (requests.askedOf('triggerSchedule', id) || requests.askedOf('upsertSchedule', `${id} now`))
    const open = before !== undefined && before.record.nextAt !== 0 && at >= before.record.nextAt
    const named = open && tickAfter(record, at - 1, systemCalendar) === at
    // The tick is still to come where it was the hand.
    if (named && !(byHand && record.nextAt <= at)) {
      history.hold(at > tracked.lastTick || byHand, 23, () => `tick ${at} of schedule ${id} fires after tick ${tracked.lastTick}`)
      tracked.lastTick = Math.max(tracked.lastTick, at)
      if (!byHand) this.#begins(record, at)
      if (record.spec.startAt !== undefined && record.spec.startAt > record.updatedAt) history.meet('tickSinceItsBeginning')
      history.meet(record.spec.cron === undefined ? 'tick' : 'tickOfCron')
      const { cron, timezone } = record.spec
      const twice = cron !== undefined && FOLDS.some(({ zone, from, to }) => zone === timezone && at >= from && at < to)
      history.hold(!twice, 23, () => `tick ${at} of schedule ${id} is at a time that ${timezone} has shown before`)
    } else {
      history.hold(byHand, 23, () => `job ${seq} of schedule ${id} comes at ${at}, which is no tick of it`)
      history.meet('triggered')
    }
    if (requests.mayAllow(id)) {
      if ([...tracked.jobs].some((other) => (model.jobs.get(other)?.state ?? COMPLETED) < COMPLETED)) history.meet('beside')
      // If it waits for one again, it is for the last.
      tracked.jobs.clear()
    }
    // A failed one may have been brought back by hand.
    if (!requests.redriven) {
      for (const other of tracked.jobs) {
        const job = model.jobs.get(other)
        const over =
          job === undefined || job.state >= COMPLETED || job.cancelRequested || job.state === CANCELLED || requests.asked('retry', job)
        history.hold(over, 23, () => `job ${seq} of schedule ${id} comes while job ${other} is in state ${job?.state}`)
        if (over) tracked.jobs.delete(other)
      }
    }
    tracked.jobs.add(seq)
  }

  /** No tick is before its schedule's beginning, and intervals are counted from there, also where it has gone by. */
  #begins({ id, spec: { startAt, every } }: Schedule, tick: number): void {
    if (startAt === undefined || tick === 0) return
    const { history } = this.#options
    history.hold(tick >= startAt, 23, () => `tick ${tick} of schedule ${id} is ${startAt - tick} ms before it begins`)
    const counted = every === undefined || (tick - startAt) % every === 0
    history.hold(counted, 23, () => `tick ${tick} of schedule ${id} is not counted from its beginning ${startAt} in steps of ${every} ms`)
  }

  /** After a turn that asked for no other at once. */
  turned({ tables, draining }: Actor, wall: number): void {
    const { history, model, timeline } = this.#options
    // Not for ever.
    history.hold(tables.ticksMono <= timeline.mono + 1_000, 23, () => `no schedule is looked at before ${tables.ticksMono}`)
    for (const { record } of this.#book.values()) {
      const { id, fireAt, held, paused, last, nextAt } = record
      if (paused || nextAt === 0) continue
      if (held) {
        const job = model.jobs.get(last?.seq ?? 0)
        history.meet('held')
        history.hold(job !== undefined && job.state < COMPLETED, 23, () => `schedule ${id} waits for job ${last?.seq}, which has ended`)
      } else if (!draining && tables.ticksMono <= timeline.mono) {
        history.hold(fireAt > wall - LATE_MS, 23, () => `schedule ${id} is due since ${wall - fireAt} ms, and does not fire`)
        history.hold(
          tables.fireAt !== 0 && tables.fireAt <= fireAt,
          18,
          () => `the next schedule fires at ${tables.fireAt}, and ${id} at ${fireAt}`,
        )
      }
    }
  }

  /** The next turn, which comes in `nextMs`, is no later than any tick that is to fire. */
  timers({ tables }: Actor, nextMs: number, wall: number): void {
    const { history, timeline } = this.#options
    for (const { record } of this.#book.values()) {
      const { id, fireAt, held, paused, nextAt } = record
      if (paused || held || nextAt === 0) continue
      const ms = Math.max(fireAt - wall, tables.ticksMono - timeline.mono)
      history.hold(nextMs <= ms + ROUNDING_MS, 47, () => waitsTooLong(`schedule ${id}`, ms, nextMs))
    }
  }

  /** The file says what the book says. */
  audit({ store }: Actor): void {
    const facts = (of: Schedule) => [of.id, of.nextAt, of.fireAt, of.lastAt, of.held, of.paused, of.behind, of.fired, of.last?.seq].join()
    const rows = store.schedulePage('', undefined, 200).map(facts)
    const expected = [...this.#book.values()].map(({ record }) => facts(record)).sort()
    this.#options.history.hold(
      rows.sort().join(' ') === expected.join(' '),
      18,
      () => `the schedules are ${rows}, and should be ${expected}`,
    )
  }

  /**
   * In a healed world: each that is there fires some more, and is deleted then, so that the world can end. True once all are. None waits for
   * another: jobs that come faster than they run may keep the other's job from its start.
   */
  heal(client: Client): boolean {
    const { operations } = this.#options
    const { schedules } = client.engine
    for (const [id, tracked] of this.#book) {
      const { record, firedBefore } = tracked
      if (!this.#healing) {
        tracked.firedBefore = record.fired
        operations.call(client, `resume ${id}`, schedules.resume(id))
      } else if (record.nextAt === 0 || record.fired >= firedBefore + HEALED_TICKS) {
        operations.call(client, `delete ${id}`, schedules.delete(id))
      } else if (record.paused) {
        // A pause that a client sent before the world was healed may take effect only now.
        operations.call(client, `resume ${id} again`, schedules.resume(id))
      }
    }
    this.#healing = true
    return this.#book.size === 0
  }

  /** The world should have ended by now. */
  unhealed(): void {
    for (const { record } of this.#book.values())
      this.#options.history.violate(23, `schedule ${record.id} has fired ${record.fired} times, and does not go on in a healed world`)
  }
}
