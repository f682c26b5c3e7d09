/** Creates jobs, all or none. A key that matches an earlier job returns that job. */
import type { Defaults, EnqueueCommand, NewJob } from '../../commands.ts'
import { type Decision, Refused } from '../../decision.ts'
import type { JobKey } from '../../id.ts'
import { ACTIVE, BLOCKED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { JOB_TEXT_NAMES, type JobTexts } from '../../options/jobTexts.ts'
import { resolvePolicy } from '../../policy.ts'
import { defaultsOf, mayRefuse, NO_SETTINGS } from '../../queueSettings.ts'
import type { Enqueued } from '../../replies.ts'
import { enterLine } from '../queues/line.ts'
import { findTooMany, mayExceed } from '../queues/newQueues.ts'
import { DEFAULT_QUEUE, laneOf, queueOf } from '../queues/queueOf.ts'
import { exclusiveKey, placeOf } from '../records/exclusiveKey.ts'
import type { FlowPlace } from '../records/flowState.ts'
import { DIRTY_DATA, DIRTY_INSERT, hasBegun, type Job, type JobExtras, newJob } from '../records/job.ts'
import { lengthOf, type Queue } from '../records/lane.ts'
import type { NameAndKey } from '../records/rows.ts'
import { setDue } from '../state/due.ts'
import { active, begun, conflictInCall, nothingToDrop, queueDraining, queueFull, uniqueConflict } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { Claims, OF_CALL } from './claims.ts'
import { hasKey, holdLonger, holdShape, pushedTo, shapeOf } from './coalescing.ts'
import { makeRoom, mayMakeRoom } from './drop.ts'
import { addExplicit, explicitFieldsOfNew } from './explicitFields.ts'
import { tellRepeat } from './repeats.ts'
import { reschedule } from './reschedule.ts'

export const IDEMPOTENCY_TTL_MS = 86_400_000

export function enqueue(turn: TurnContext, command: EnqueueCommand): Decision<'enqueue'> {
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const refused = findRefusal(turn, command.jobs)
  return refused ?? createAll(turn, command.jobs)
}

/** Returns the refusal of one of the jobs, and so of all. Changes nothing. `ending` frees its key before they are created. */
export function findRefusal(turn: TurnContext, jobs: readonly NewJob[], ending?: Job): Refused | undefined {
  const bounded = turn.tables.bounded > 0 || mayExceed(turn, jobs.length)
  if (!bounded && !jobs.some(({ unique }) => unique !== undefined)) return undefined
  const claims = new Claims(turn.facts, ending)
  const created: NewJob[] = []
  for (const job of jobs) {
    if (claims.repeats(job)) continue
    const holder = job.unique && claims.unique(job.name, job.unique.key)
    if (job.unique === undefined || holder === undefined) {
      if (bounded) created.push(job)
      continue
    }
    const { key, onConflict } = job.unique
    if (onConflict === 'error') return holder === OF_CALL ? conflictInCall(key) : uniqueConflict(key, holder)
    if (holder === OF_CALL || onConflict === 'skip') continue
    const known = turn.facts.job(holder.seq)
    if (known === undefined || !hasBegun(known)) continue
    const what = `such a job cannot be ${onConflict}d; use onConflict 'skip' or wait for it`
    return known.state === ACTIVE ? active(holder, what) : begun(holder, what)
  }
  return findFull(turn, created, ending?.lane.queue)
}

/**
 * Returns a refusal if a job's queue or name would be one too many, or if its queue is draining, or has no room for these jobs and can make none. None of
 * the jobs is a repeat. A draining queue still takes jobs of its own runs, which could not end otherwise.
 */
export function findFull(turn: TurnContext, jobs: readonly NewJob[], own?: Queue): Refused | undefined {
  const { tables } = turn
  const tooMany = findTooMany(turn, jobs)
  if (tooMany !== undefined || tables.bounded === 0) return tooMany
  const wanted = new Map<Queue, number>()
  for (const job of jobs) {
    const queue = tables.queues.get(queueOf(tables, job))
    if (queue === undefined || !mayRefuse(queue.settings)) continue
    const { maxLength, draining, onFull } = queue.settings
    if (draining !== undefined && queue !== own) return queueDraining(queue.name)
    if (maxLength === undefined) continue
    const count = (wanted.get(queue) ?? 0) + 1
    wanted.set(queue, count)
    if (onFull === undefined && lengthOf(queue) + count > maxLength) return queueFull(queue.name, maxLength)
  }
  for (const [queue, count] of wanted) {
    const { onFull, maxLength = 0 } = queue.settings
    if (onFull !== undefined && !mayMakeRoom(turn, queue, maxLength, count)) return nothingToDrop(queue.name, maxLength)
  }
  return undefined
}

export function createAll(turn: TurnContext, jobs: readonly NewJob[]): readonly Enqueued[] {
  const first = turn.tables.nextSeq
  const answers = jobs.map((job) => createOne(turn, job))
  if (turn.facts.fresh.size > 0) makeRoom(turn, first)
  return answers
}

export function createOne(turn: TurnContext, job: NewJob, origin?: Origin): Enqueued {
  return existing(turn, job) ?? answer(create(turn, job, origin), true)
}

/** Creates a job of a flow, which has no key that could match an earlier job. */
export function createInFlow(turn: TurnContext, job: NewJob, place: FlowPlace): Job {
  return create(turn, job, undefined, { place })
}

/** The part of an id that a job has before it has a row. */
export type Origin = Pick<JobKey, 'node' | 'enqueuedAt'>

/** Creates the job of a schedule. It has no keys, so nothing can refuse it, and no earlier job can stand in for it. */
export function createScheduled(turn: TurnContext, job: NewJob, schedule: string): Enqueued {
  const created = create(turn, job, undefined, { schedule })
  makeRoom(turn, created.seq)
  return answer(created, true)
}

/** Creates a job with the payload of `from`, which may be in its row alone. It has no keys, and no queue refuses it. */
export function createDeadLetter(turn: TurnContext, job: Omit<NewJob, 'data'>, from: Job): void {
  // A job that this turn has created may have no row when the turn is written.
  const isNew = (from.dirty & DIRTY_INSERT) !== 0
  create(turn, { ...job, data: (isNew ? from.data : undefined) ?? null }, undefined, { payloadOf: isNew ? 0 : from.seq })
}

/** Returns the earlier job that a key of this one matches, changed as `onConflict` says. */
function existing(turn: TurnContext, job: NewJob): Enqueued | undefined {
  const { facts } = turn
  if (job.idempotencyKey !== undefined) {
    const first = facts.idempotent(job.name, job.idempotencyKey)
    if (first !== undefined) return repeated(turn, job, first)
  }
  if (job.debounce !== undefined || job.throttle !== undefined) return shaped(turn, job)
  if (job.unique === undefined) return undefined
  const key = facts.unique(job.name, job.unique.key)
  const holder = key && facts.job(key.seq)
  if (key === undefined || holder === undefined) return undefined
  switch (job.unique.onConflict) {
    case 'replace':
      replace(turn, holder, job, dueTime(turn, job))
      break
    case 'reschedule':
      reschedule(turn, holder, () => {
        setDue(turn, holder, dueTime(turn, job))
      })
      break
    default:
  }
  // The call was answered with this job. A repeat under its key gets the same answer, whatever has become of the job by then.
  holdIdempotent(turn, holder, job)
  return repeated(turn, job, key)
}

function repeated(turn: TurnContext, job: NewJob, first: JobKey): Enqueued {
  tellRepeat(turn, job, first)
  return answer(first, false)
}

function replace(turn: TurnContext, holder: Job, job: NewJob, runAt: number): void {
  reschedule(turn, holder, () => {
    holder.data = job.data
    holder.priority = job.priority ?? holder.priority
    holder.weight = job.weight ?? holder.weight
    addExplicit(turn, holder, { priority: job.priority, weight: job.weight })
    setDue(turn, holder, runAt)
    turn.effects.touch(holder, DIRTY_DATA)
  })
}

/** Returns the earlier job that a debounce or a throttle makes this one a repeat of. */
function firstOfShape({ facts }: TurnContext, job: NewJob): JobKey | undefined {
  const shape = shapeOf(job)
  if (shape === undefined) return undefined
  const { name, key } = placeOf(job.name, shape)
  return shape.by === 'trailing' ? facts.unique(name, key) : facts.idempotent(name, key)
}

function shaped(turn: TurnContext, job: NewJob): Enqueued | undefined {
  const first = firstOfShape(turn, job)
  if (first === undefined) return undefined
  if (job.debounce?.mode === 'leading') holdLonger(turn, first, job)
  else if (job.debounce !== undefined) {
    const holder = turn.facts.job(first.seq)
    if (holder === undefined) return undefined
    replace(turn, holder, job, pushedTo(turn, holder, job))
  }
  return repeated(turn, job, first)
}

/** The flow, the schedule or the failed job that a job comes from. */
interface From {
  readonly place?: FlowPlace
  readonly schedule?: string
  /** The row that has the payload of a dead letter; 0 if it is in memory. */
  readonly payloadOf?: number
}

function create(turn: TurnContext, wanted: NewJob, origin?: Origin, from: From = {}): Job {
  const { tables, effects, facts, now, settings } = turn
  const { place, payloadOf = 0 } = from
  const definition = tables.definitions.inForce.get(wanted.name)
  const defaults = definition?.defaults
  const queueName = wanted.queue ?? defaults?.queue ?? DEFAULT_QUEUE
  const lane = tables.lane(queueName, wanted.name) ?? laneOf(turn, queueName, wanted.name)
  const isDefined = definition !== undefined && tables.present.has(definition.session)
  const isPlain = lane.queue.settings === NO_SETTINGS
  const ofQueue = isPlain ? settings.defaults : defaultsOf(settings.defaults, lane.queue.settings)
  const ttl = wanted.ttl ?? defaults?.ttl ?? ofQueue?.ttl
  const blocked = place !== undefined && place.parents > 0
  // If a job waits for others, `delay` counts from its release.
  const runAt = blocked ? Math.max(wanted.runAt ?? 0, now.wall) : dueTime(turn, wanted)
  const enqueuedAt = origin?.enqueuedAt ?? now.wall
  const job = newJob(
    { seq: tables.nextSeq++, node: origin?.node ?? tables.node, enqueuedAt },
    lane,
    blocked ? BLOCKED : runAt > now.wall ? SCHEDULED : WAITING,
    {
      priority: priorityOf(wanted, defaults, ofQueue),
      weight: weightOf(wanted, defaults, ofQueue),
      runAt,
      expiresAt: ttl === undefined ? 0 : expiryOf(enqueuedAt, ttl),
    },
    resolvePolicy(wanted, defaults, ofQueue),
    extrasOf(wanted, from, isDefined ? undefined : explicitFieldsOfNew(wanted, definition)),
    payloadOf === 0 ? wanted.data : undefined,
  )
  job.payloadOf = payloadOf
  effects.touch(job, DIRTY_INSERT)
  if (tables.bounded > 0) {
    if (from.payloadOf === undefined) facts.addFresh(job)
    else facts.addArrival(job)
  }
  effects.countJob(job, 1)
  effects.total(lane, 'enqueued')
  effects.event('enqueued', job, runAt > now.wall ? runAt : undefined)
  if (job.extras !== undefined) holdKeys(turn, job, wanted)
  if (job.expiresAt !== 0) tables.noteExpiry(job.expiresAt)
  if (job.state === WAITING) enterLine(turn, job)
  else if (job.state === SCHEDULED) tables.noteDue(runAt)
  // It may leave memory in this turn, and still answer a call.
  if ((job.extras !== undefined && hasKey(wanted)) || !tables.jobs.has(job.seq)) facts.add(job)
  // The job may be looked up by its id before the turn is over.
  if (origin !== undefined) {
    facts.add(job)
    facts.addSourced(job)
  }
  return job
}

/** Returns the caller's own, or else that of the name or of the queue. */
export function priorityOf({ priority }: Defaults, ofName: Defaults | undefined, ofQueue: Defaults | undefined): number {
  return priority ?? ofName?.priority ?? ofQueue?.priority ?? 0
}

export function weightOf({ weight }: Defaults, ofName: Defaults | undefined, ofQueue: Defaults | undefined): number {
  return weight ?? ofName?.weight ?? ofQueue?.weight ?? 1
}

/** Returns when a job expires, or 0 for never. The longest `ttl` also means never, because messages cannot carry Infinity. */
export function expiryOf(enqueuedAt: number, ttl: number | undefined): number {
  return ttl === undefined || ttl >= LIMITS.durationMs ? 0 : enqueuedAt + ttl
}

/** Returns the name of the job's queue if it is draining, otherwise undefined. Ticks of schedules create no jobs there. */
export function drained(turn: TurnContext, job: NewJob): string | undefined {
  const name = queueOf(turn.tables, job)
  return turn.tables.queues.get(name)?.settings.draining === undefined ? undefined : name
}

function dueTime(turn: TurnContext, { runAt, delay, debounce }: NewJob): number {
  const wait = delay ?? (debounce?.mode === 'trailing' ? debounce.delay : 0)
  return Math.max(runAt ?? turn.now.wall + wait, turn.now.wall)
}

function holdIdempotent({ effects, facts, now }: TurnContext, job: Job, { idempotencyKey: key, idempotencyTtl }: NewJob): void {
  if (key === undefined) return
  const expiresAt = now.wall + (idempotencyTtl ?? IDEMPOTENCY_TTL_MS)
  effects.idempotency.push({ name: job.lane.name, key, job, expiresAt, lastSeq: job.seq })
  facts.holdIdempotent(job.lane.name, key, job)
}

function holdKeys(turn: TurnContext, job: Job, wanted: NewJob): void {
  holdIdempotent(turn, job, wanted)
  holdShape(turn, job, wanted)
  const held = exclusiveKey(job)
  if (held !== undefined) holdUnique(turn, job, held)
}

export function holdUnique(turn: TurnContext, job: Job, { name, key }: NameAndKey): void {
  turn.effects.uniqueHeld.push({ name, key, seq: job.seq })
  turn.facts.holdUnique(name, key, job)
}

function extrasOf(wanted: NewJob, { place: flow, schedule, payloadOf }: From, explicit: JobExtras['explicit']): JobExtras | undefined {
  const { tags, meta, idempotencyKey, unique } = wanted
  let texts: JobTexts | undefined
  for (const name of JOB_TEXT_NAMES) if (wanted[name] !== undefined) texts = { ...texts, [name]: wanted[name] }
  const plain = tags === undefined && meta === undefined && (texts ?? flow ?? schedule ?? explicit) === undefined
  if (plain && (idempotencyKey ?? unique ?? wanted.debounce ?? wanted.throttle) === undefined) return undefined
  const shape = shapeOf(wanted)
  return {
    ...(tags && { tags }),
    ...(meta !== undefined && { meta }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(unique && { uniqueKey: unique.key }),
    ...(unique?.until === 'start' && { untilStart: true }),
    ...texts,
    ...(shape && { shape }),
    ...(flow && { flow }),
    ...(schedule !== undefined && { schedule }),
    ...(payloadOf !== undefined && { letter: true }),
    ...(explicit && { explicit }),
  }
}

export function answer({ seq, node, enqueuedAt }: JobKey, created: boolean): Enqueued {
  return { seq, node, enqueuedAt, created }
}
