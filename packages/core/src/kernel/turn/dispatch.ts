/**
 * Hands waiting jobs to sessions with room. Within a queue, the order is (priority desc, due time, seq) across all names that a
 * session serves. If the queue is fair to its names, those of equal priority take turns. Queues take turns,
 * unless the session serves them in a strict order. Sessions take turns. Exactly as many sessions get a push as get jobs.
 */

import { ACTIVE } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { NO_SETTINGS } from '../../queueSettings.ts'
import { expireJob } from '../jobs/expire.ts'
import { start } from '../jobs/start.ts'
import { settleBacklogs } from '../keys/parked.ts'
import { shelve } from '../queues/line.ts'
import { tellEnded } from '../queues/queues.ts'
import { tokenMs, tokensFor } from '../records/bucket.ts'
import type { ConsumerGroup, Tier } from '../records/consumerGroup.ts'
import type { Job } from '../records/job.ts'
import { type KeyBacklog, mayPay, roomOf } from '../records/keyBacklog.ts'
import { countOf, passTurn, type Queue } from '../records/lane.ts'
import { comesBefore, type ReadyLanes } from '../records/readyLanes.ts'
import { fits, type Session } from '../records/session.ts'
import { isShareFull } from '../records/sharedLimits.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'

export function dispatch(turn: TurnContext): void {
  const { tables, facts, now } = turn
  const { keys } = tables
  tables.unfinished = false
  tables.setAside = 0
  const isKeyFree = keys.overfilled.size > 0 || keys.releasable.size > 0 || keys.buckets.nextMono <= now.mono
  if (facts.turns.length > 0 || isKeyFree) settleBacklogs(turn)
  if (tables.dispatchable.short.size > 0 || tables.dispatchable.tokenMono <= now.mono) fillBuckets(turn)
  serve(turn)
  if (tables.bounded > 0 || tables.emptying > 0) tellEnded(turn)
}

function serve(turn: TurnContext): void {
  if (turn.tables.paused) return
  const { grants } = turn.effects
  for (let groups = inTurn(turn.tables); groups.length > 0; ) {
    groups = groups.filter(({ underfilled, isIdle }) => underfilled.size > 0 && !isIdle)
    const before = grants.length
    handOut(turn, groups)
    // The heavy job that one group has kept room for may have gone to another.
    if (groups.length < 2 || grants.length === before) return
  }
}

/** Returns the groups, beginning after the last one served: if a queue may start only one job at a time, each has its turn. */
function inTurn({ groups, served }: Tables): ConsumerGroup[] {
  const all = [...groups.values()]
  const after = served === undefined ? 0 : all.indexOf(served) + 1
  return after === 0 ? all : [...all.slice(after), ...all.slice(0, after)]
}

/** Hands out one job per group and round, so that groups that share a lane share its jobs. */
function handOut(turn: TurnContext, groups: ConsumerGroup[]): void {
  let open = groups
  while (open.length > 1) open = open.filter((group) => handOne(turn, group))
  const [last] = open
  if (last !== undefined) while (handOne(turn, last));
}

function handOne(turn: TurnContext, group: ConsumerGroup): boolean {
  for (const session of group.underfilled) {
    const job = pick(turn, group, session)
    if (job === undefined) {
      if (group.isIdle) return false
      continue
    }
    start(turn, job, session)
    turn.tables.weigh(session)
    turn.tables.served = group
    if (session.underfilled && group.underfilled.size > 1) {
      group.underfilled.delete(session)
      group.underfilled.add(session)
    }
    return true
  }
  return false
}

/** Returns the next job for a session: from the first queue in line with a job that fits, unless room is kept for a heavy one. */
function pick(turn: TurnContext, group: ConsumerGroup, session: Session): Job | undefined {
  for (const tier of group.tiers) {
    for (const [queue, lanes] of tier) {
      // A queue without settings holds nothing back, unless it is paused.
      const isFree = queue.settings === NO_SETTINGS
      if ((!isFree || queue.paused) && !mayStart(turn, queue)) continue
      const job = pickOf(turn, group, queue, lanes, session)
      // Jobs of other queues must not take the room either.
      if (job === KEEP_ROOM) return undefined
      if (job !== undefined && (isFree || mayPayFor(turn, queue, job))) {
        if (tier.size > 1) group.rotate(tier, queue, lanes)
        if (!isFree) passTurn(job.lane)
        return job
      }
    }
    if (group.isStrict && isCutShort(turn, group, tier)) return undefined
  }
  return undefined
}

/** True if queues of the tier may have jobs to start that only the next turn sees: those behind too many held back by keys, or only on disk. */
function isCutShort(turn: TurnContext, group: ConsumerGroup, tier: Tier): boolean {
  const { unfinished, needRefill } = turn.tables
  if (unfinished) return true
  for (const lane of needRefill) {
    const { queue, window, groups, paused } = lane
    const isHidden = window.size === 0 && !paused && groups.includes(group) && group.tierOf(queue) === tier
    if (isHidden && mayStart(turn, queue)) return true
  }
  return false
}

function pickOf(
  turn: TurnContext,
  group: ConsumerGroup,
  queue: Queue,
  lanes: ReadyLanes,
  session: Session,
): Job | typeof KEEP_ROOM | undefined {
  for (;;) {
    const head = lanes.first()
    if (head === undefined) {
      group.suspend(queue)
      return undefined
    }
    if (head.expiresAt !== 0 && head.expiresAt <= turn.now.wall) {
      expireJob(turn, head)
      continue
    }
    const backlog = queue.keys === undefined ? undefined : holdingBacklogOf(turn, head)
    if (backlog !== undefined) {
      if (!setAside(turn, head, backlog)) return undefined
      continue
    }
    if (fits(head, session)) return head
    return passing(turn, lanes, head, session)
  }
}

/** Returns the backlog of a job whose key has no room. */
function holdingBacklogOf({ tables, now }: TurnContext, job: Job): KeyBacklog | undefined {
  const backlog = tables.keys.backlogOf(job)
  return backlog !== undefined && (roomOf(backlog.key, now.mono) <= 0 || !mayPay(backlog.key, now.mono, job)) ? backlog : undefined
}

/** Takes a job out of the line, so that those behind it can be seen. Returns false if this turn has set enough aside. */
function setAside(turn: TurnContext, job: Job, backlog: KeyBacklog): boolean {
  const { tables } = turn
  // The bound holds whatever else this turn writes: full turns may follow each other, and everything behind them waits.
  if (tables.setAside === LIMITS.sliceRows) {
    tables.unfinished = true
    return false
  }
  tables.setAside++
  shelve(turn, job, backlog)
  return true
}

/** True if the queue may start one more job now. If it may not, it is skipped until something reopens it. */
function mayStart({ tables, now }: TurnContext, queue: Queue): boolean {
  const { settings, paused } = queue
  const { concurrencyLimit, rateLimit } = settings
  if (paused || (concurrencyLimit !== undefined && countOf(queue, ACTIVE) >= concurrencyLimit)) {
    tables.dispatchable.suspend(queue)
    return false
  }
  if (isShareFull(queue)) {
    tables.dispatchable.suspendSharing(queue)
    return false
  }
  const ms = rateLimit === undefined ? 0 : tokenMs(rateLimit, queue.fullMono, now.mono)
  if (ms > 0) tables.dispatchable.suspendUntil(queue, now.mono + ms)
  return ms === 0
}

/** True if the queue's bucket has all the tokens that the job takes. If not, the jobs behind it wait, too: none of them passes it. */
function mayPayFor({ tables, now }: TurnContext, queue: Queue, job: Job): boolean {
  const { rateLimit } = queue.settings
  if (rateLimit === undefined || job.policy.tokens === 1) return true
  const ms = tokenMs(rateLimit, queue.fullMono, now.mono, tokensFor(job, rateLimit))
  if (ms === 0) return true
  tables.dispatchable.suspendUntil(queue, now.mono + ms)
  tables.dispatchable.short.add(queue)
  return false
}

/** Opens queues whose buckets have a token again. */
function fillBuckets({ tables: { dispatchable }, now }: TurnContext): void {
  for (const queue of dispatchable.short) dispatchable.resume(queue)
  dispatchable.short.clear()
  if (dispatchable.tokenMono > now.mono) return
  dispatchable.tokenMono = Number.POSITIVE_INFINITY
  for (const queue of dispatchable.waiting) {
    const { rateLimit } = queue.settings
    const ms = rateLimit === undefined ? 0 : tokenMs(rateLimit, queue.fullMono, now.mono)
    if (ms === 0) dispatchable.resume(queue)
    else dispatchable.tokenMono = Math.min(dispatchable.tokenMono, now.mono + ms)
  }
}

/** Returns a lighter job that may pass `heavy`, which does not fit. After a while the room is kept for `heavy` instead. */
function passing(turn: TurnContext, lanes: ReadyLanes, heavy: Job, session: Session): Job | typeof KEEP_ROOM | undefined {
  const { now } = turn
  if (heavy.passedMono < 0) heavy.passedMono = now.mono
  if (now.mono - heavy.passedMono >= LIMITS.heavyPatienceMs) return KEEP_ROOM
  const room = session.intro.maxConcurrency - session.weight
  let best: Job | undefined
  for (const { window, paused, turn: lastTurn } of lanes.lanes()) {
    if (paused || window.lightest > room) continue
    for (let index = 0; index < window.size; ) {
      const job = window.at(index) as Job
      if (best !== undefined && comesBefore(best, best.lane.turn, job, lastTurn)) break
      if (job.weight > room || (job.expiresAt !== 0 && job.expiresAt <= now.wall)) {
        index++
        continue
      }
      const backlog = holdingBacklogOf(turn, job)
      if (backlog === undefined) {
        best = job
        break
      }
      // A job behind it may precede all jobs of other lanes, so none of those is taken now.
      if (!setAside(turn, job, backlog)) return undefined
    }
  }
  return best
}

const KEEP_ROOM = Symbol('keep room')
