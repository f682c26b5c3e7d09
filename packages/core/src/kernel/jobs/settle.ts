/**
 * Settles jobs that were enqueued before their name was defined, or while no session was there that states its defaults. They keep what their
 * callers stated (`extras.explicit`), and take the rest from the definition when it comes. So it makes no difference which of the two was first.
 * A job that has started keeps what it has.
 */

import { ACTIVE, BLOCKED, isFinal, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { type Policy, type PolicyOptions, resolvePolicy } from '../../policy.ts'
import { defaultsOf } from '../../queueSettings.ts'
import { endTurn } from '../keys/strict.ts'
import { enterLine, leaveLine } from '../queues/line.ts'
import { refuseName } from '../queues/newQueues.ts'
import { DEFAULT_QUEUE, laneOf } from '../queues/queueOf.ts'
import type { Definition, Field } from '../records/definition.ts'
import { DIRTY_PLACE, type Job } from '../records/job.ts'
import { countOf, type Lane } from '../records/lane.ts'
import { type Facts, isDeleted, type SettlingSlice } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { expiryOf, priorityOf, weightOf } from './enqueue.ts'

/**
 * Begins to settle a name that is defined for the first time, or anew: its jobs are to take its defaults. If the jobs of its first
 * definition are still being settled, all of them are looked at again.
 */
export function beginToSettle(tables: Tables, name: string, isFirst: boolean): void {
  const { settling } = tables.definitions
  const left = (tables.lanesByName.get(name) ?? []).reduce((sum, lane) => sum + unstarted(lane), 0)
  if (left > 0) settling.set(name, { before: tables.nextSeq, first: isFirst || settling.get(name)?.first === true, left })
}

/**
 * Settles again if other defaults come into force before jobs of the name could start. If the session that stated those of before is gone,
 * also jobs that were enqueued meanwhile.
 */
export function settleAnew(tables: Tables, name: string, before: Definition): void {
  const { settling, settled } = tables.definitions
  const isLeft = !tables.present.has(before.session)
  if (settled.has(name) || settling.get(name)?.first === true) {
    settled.delete(name)
    settling.set(name, { before: isLeft ? tables.nextSeq : before.firstSeq, first: true, left: Number.POSITIVE_INFINITY })
  } else if (isLeft) beginToSettle(tables, name, false)
}

function unstarted(lane: Lane): number {
  return countOf(lane, SCHEDULED) + countOf(lane, WAITING) + countOf(lane, BLOCKED)
}

export function gatherSettling(plan: Plan, tables: Tables, facts: Facts): void {
  const [first] = tables.definitions.settling
  if (first === undefined) return
  const [name, walk] = first
  const laneIds = (tables.lanesByName.get(name) ?? []).map(({ id }) => id)
  const filter = { laneIds, filter: {}, indexed: false }
  plan.ask('matching', [filter, walk.before, LIMITS.sliceRows], ({ rows, next }) => {
    facts.settling = { name, walk, jobs: rows.map((row) => facts.remember(row)), next }
  })
}

/** Settles a slice after the turn's commands, which may have ended some of its jobs. */
export function settleSlice(turn: TurnContext, slice: SettlingSlice): void {
  const { tables, effects } = turn
  const settling = tables.definitions.settling.get(slice.name)
  const definition = tables.definitions.inForce.get(slice.name)
  if (settling !== slice.walk || definition === undefined) return
  // In order of arrival, because the first job of a key to enter the line stands in it.
  const end = settling.first ? -1 : slice.jobs.findIndex((job) => job.seq < definition.firstSeq || isHeard(job, definition))
  for (const job of slice.jobs.slice(0, end < 0 ? undefined : end).toReversed()) {
    if (job.seq >= settling.before || isFinal(job.state) || isDeleted(job)) continue
    if (job.run === 0 && !isHeard(job, definition)) settle(turn, job, definition)
    // `left` counts no jobs that run.
    if (job.state !== ACTIVE) settling.left--
  }
  const done = end >= 0 || slice.next === null || settling.left <= 0
  settling.before = done ? 0 : (slice.next as number)
  if (done) endSettling(tables, slice.name)
  effects.definitions.push({ name: slice.name, definition, settling: settling.before })
}

/** True if the job took the defaults of a session that was there when it was enqueued: it keeps them. */
function isHeard({ seq, extras }: Job, { firstSeq }: Definition): boolean {
  return seq >= firstSeq && extras?.explicit === undefined
}

/** Ends the settling of a name. It is served as soon as no other name is being settled. */
function endSettling(tables: Tables, name: string): void {
  const { settling, settled } = tables.definitions
  settling.delete(name)
  settled.add(name)
  if (settling.size > 0) return
  const names = [...settled]
  settled.clear()
  for (const one of names) for (const lane of tables.lanesByName.get(one) ?? []) tables.beginToServe(lane)
}

/** Gives a job that ended before its name was defined, and comes back, the defaults now. */
export function settleRevived(turn: TurnContext, job: Job): void {
  const { tables } = turn
  const definition = tables.definitions.inForce.get(job.lane.name)
  if (definition === undefined || job.run > 0 || isHeard(job, definition)) return
  settle(turn, job, definition)
  const settling = tables.definitions.settling.get(job.lane.name)
  // The slices will reach this job.
  if (settling !== undefined && job.seq < settling.before) settling.left++
}

function settle(turn: TurnContext, job: Job, { defaults }: Definition): void {
  const { effects, now, settings } = turn
  const explicit = new Set(job.extras?.explicit)
  const { name } = job.lane
  const queue = explicit.has('queue') ? job.lane.queue.name : (defaults.queue ?? DEFAULT_QUEUE)
  // The job was already accepted. If there is no room for another queue or name, it stays where it is.
  const lane = refuseName(turn, queue, name) === undefined ? laneOf(turn, queue, name) : job.lane
  const ofQueue = defaultsOf(settings.defaults, lane.queue.settings)
  const policy = resolvePolicy(stated(job.policy, explicit), defaults, ofQueue)
  const priority = explicit.has('priority') ? job.priority : priorityOf({}, defaults, ofQueue)
  const weight = explicit.has('weight') ? job.weight : weightOf({}, defaults, ofQueue)
  const expiresAt = explicit.has('ttl') ? job.expiresAt : expiryOf(job.enqueuedAt, defaults.ttl ?? ofQueue?.ttl)
  const isAsItWas = policy.text === job.policy.text && priority === job.priority && weight === job.weight && expiresAt === job.expiresAt
  if (lane === job.lane && isAsItWas) return
  const waits = job.state === WAITING
  if (waits) leaveLine(turn, job)
  if (lane !== job.lane) {
    endTurn(turn, job)
    for (const [of, change] of [
      [job.lane, -1],
      [lane, 1],
    ] as const) {
      effects.countJob(job, change, of)
      effects.total(of, 'enqueued', change)
    }
    job.lane = lane
    // The due time stays: a wall clock that was set back does not delay a waiting job.
    if (job.state !== BLOCKED) effects.event('updated', job, waits ? Math.min(job.runAt, now.wall) : job.runAt)
  }
  // A job that comes back is still among those that have ended.
  effects.countKept(job, -1)
  job.policy = policy
  effects.countKept(job, 1)
  job.priority = priority
  job.weight = weight
  job.expiresAt = expiresAt
  turn.tables.noteExpiry(expiresAt)
  effects.touch(job, DIRTY_PLACE)
  turn.facts.add(job)
  if (waits) enterLine(turn, job)
}

function stated(policy: Policy, explicit: ReadonlySet<Field>): PolicyOptions {
  return Object.fromEntries(Object.entries(policy).filter(([field]) => explicit.has(field as Field)))
}
