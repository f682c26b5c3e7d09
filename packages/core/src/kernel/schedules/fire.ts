/**
 * Fires ticks that are due. One commit creates the job of a tick and notes the tick that follows. A crash before the commit
 * leaves the tick due; a crash after it finds the next one. Ticks only grow, so none fires twice, whatever the wall clock does.
 */
import type { LabelChanges, NewJob } from '../../commands.ts'
import { isLive } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Enqueued } from '../../replies.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { createScheduled, drained } from '../jobs/enqueue.ts'
import { metaWith } from '../jobs/meta.ts'
import { findTooMany } from '../queues/newQueues.ts'
import type { Job } from '../records/job.ts'
import { fireTime, latestTick, runsLeft, type Schedule, scheduleTag, tickAfter } from '../records/ticks.ts'
import { isDeleted } from '../state/facts.ts'
import type { TurnContext } from '../state/turnContext.ts'

export function fireSchedules(turn: TurnContext): void {
  const { facts, tables, now } = turn
  for (const schedule of facts.freedSchedules) unhold(turn, schedule)
  if (turn.refusing !== undefined) {
    tables.ticksMono = now.mono + LIMITS.refusedTicksMs
    return
  }
  for (const schedule of facts.freedSchedules) fire(turn, schedule)
  for (const schedule of facts.dueSchedules) fire(turn, schedule)
}

/** Releases a schedule if the job that its tick has waited for is over. */
function unhold(turn: TurnContext, schedule: Schedule): void {
  if (!schedule.held || liveJob(turn, schedule) !== undefined) return
  schedule.held = false
  moveTo(turn, schedule, schedule.nextAt)
}

function fire(turn: TurnContext, schedule: Schedule): void {
  const { held, paused, fireAt } = schedule
  // A command of this turn may have changed or deleted the schedule.
  if (held || paused || fireAt === 0 || fireAt > turn.now.wall || turn.effects.schedules.get(schedule) === 'delete') return
  const running = schedule.spec.overlap === 'allow' ? undefined : liveJob(turn, schedule)
  if (running !== undefined && schedule.spec.overlap === 'queue') {
    schedule.held = true
    turn.effects.schedule(schedule, 'move')
    return
  }
  const ticks = ticksOf(turn, schedule)
  if (ticks === undefined) {
    // Its row is broken, or its zone is no longer known. Other schedules must fire all the same.
    schedule.paused = true
    turn.effects.schedule(schedule, 'move')
    turn.effects.systemEvent({ type: 'schedule.paused', schedule: schedule.id })
    return
  }
  const { overlap, catchUp } = schedule.spec
  const { tick, next } = ticks
  const late = fireTime(schedule, tick, turn.settings.calendar) < earliest(turn, schedule)
  const overlaps = running !== undefined && overlap === 'skip'
  const drains = drained(turn, schedule.job) !== undefined
  if (late || overlaps || drains || findTooMany(turn, [schedule.job]) !== undefined) {
    // A late tick does not count as skipped: no other job caused it.
    if (!late) schedule.skipped++
    // One queue too many has no reason of its own: clients that know only the others could not read it.
    const reason = late ? 'late' : overlaps ? 'overlap' : drains ? 'draining' : undefined
    turn.effects.systemEvent({ type: 'schedule.skipped', schedule: schedule.id, tick, ...(reason && { reason }) })
  } else {
    if (running !== undefined) cancelJob(turn, running)
    create(turn, schedule, schedule.job, tick, 'schedule.fired')
  }
  // When the bound is reached, one tick stands for all late ones. Then the count starts again.
  schedule.behind =
    next !== 0 && fireTime(schedule, next, turn.settings.calendar) <= turn.now.wall && catchUp === 'all'
      ? (schedule.behind + 1) % (LIMITS.ticksCaughtUp + 1)
      : 0
  moveTo(turn, schedule, runsLeft(schedule) > 0 ? next : 0)
}

/** A tick that should have fired before then is lost. */
function earliest({ now }: TurnContext, { spec: { catchUp, catchUpWithin = Number.POSITIVE_INFINITY } }: Schedule): number {
  return now.wall - (catchUp === 'none' ? LIMITS.tickGraceMs : catchUpWithin)
}

/** Returns the tick that fires and the one that follows, or undefined if no calendar can evaluate the schedule. */
function ticksOf(turn: TurnContext, schedule: Schedule): Ticks | undefined {
  const { nextAt, behind, spec } = schedule
  try {
    const first = { tick: nextAt, next: tickAfter(schedule, nextAt, turn.settings.calendar) }
    if (spec.catchUp !== 'all' || behind >= LIMITS.ticksCaughtUp) return latestDue(turn, schedule, first, turn.now.wall)
    const lost = earliest(turn, schedule) - 1
    // All ticks that are too late are passed over at once.
    return fireTime(schedule, nextAt, turn.settings.calendar) <= lost ? latestDue(turn, schedule, first, lost) : first
  } catch {
    return undefined
  }
}

interface Ticks {
  readonly tick: number
  readonly next: number
}

/** Returns the last tick that was due by then. Those before it create no jobs. */
function latestDue({ settings: { calendar } }: TurnContext, schedule: Schedule, first: Ticks, by: number): Ticks {
  let { tick, next } = first
  const until = by - schedule.spec.jitter
  // Ticks this old are due whatever their jitter.
  if (next !== 0 && next <= until) {
    tick = latestTick(schedule, next, until, calendar)
    next = tickAfter(schedule, tick, calendar)
  }
  for (let steps = 0; steps < JITTERED_TICKS && next !== 0 && fireTime(schedule, next, calendar) <= by; steps++) {
    tick = next
    next = tickAfter(schedule, tick, calendar)
  }
  return { tick, next }
}

/** The number of ticks, nearer to each other than their jitter, that are examined one by one. */
const JITTERED_TICKS = 100

/** Creates the schedule's job now: at a tick, or by hand. */
export function create(
  turn: TurnContext,
  schedule: Schedule,
  job: NewJob,
  tick: number,
  type: 'schedule.fired' | 'schedule.triggered',
): Enqueued {
  const { id } = schedule
  const enqueued = createScheduled(turn, jobAt(id, job, tick), id)
  const { seq, node, enqueuedAt } = enqueued
  const last = { seq, node, enqueuedAt }
  turn.effects.systemEvent({ type, schedule: id, ...(type === 'schedule.fired' && { tick }), job: last })
  schedule.last = last
  schedule.lastAt = Math.max(schedule.lastAt, tick)
  schedule.fired++
  turn.effects.schedule(schedule, 'move')
  const created = turn.tables.jobs.get(seq)
  if (created !== undefined) turn.facts.add(created)
  return enqueued
}

function jobAt(id: string, job: NewJob, tick: number): NewJob {
  return { ...job, ...labelsOf(id, job, { id, at: new Date(tick).toISOString() }) }
}

/** Adds the schedule's tag to those of its job, and the tick as `meta.schedule`. */
export function labelsOf(id: string, { tags = [], meta }: NewJob, schedule: unknown): Required<LabelChanges> {
  return { tags: [...tags, scheduleTag(id)], meta: metaWith(meta, 'schedule', schedule) }
}

/** Returns the schedule's last job if it is not final. */
export function liveJob({ facts }: TurnContext, { last }: Schedule): Job | undefined {
  const job = last && facts.job(last.seq)
  return job !== undefined && isLive(job.state) && !isDeleted(job) ? job : undefined
}

/** True if the job has begun, even if it was snoozed or given back and so has used no attempt. */
export function hasStarted(job: Job): boolean {
  return job.run > 0
}

/** Moves a schedule to its next tick. `fresh`: the schedule has just been created. */
export function moveTo(turn: TurnContext, schedule: Schedule, tick: number, fresh = false): void {
  if (tick === 0 && (fresh || schedule.nextAt !== 0)) turn.effects.systemEvent({ type: 'schedule.ended', schedule: schedule.id })
  schedule.nextAt = tick
  schedule.fireAt = fireTime(schedule, tick, turn.settings.calendar)
  if (!schedule.paused) turn.tables.noteFire(schedule.fireAt)
  turn.effects.schedule(schedule, 'move')
}
