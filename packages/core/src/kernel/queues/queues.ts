/** Manages queues: settings, draining and deletion. */

import { DEFERRED, type Decision, type Refused } from '../../decision.ts'
import type { ConfigureCommand, DeleteQueueCommand, DrainQueueCommand } from '../../manageCommands.ts'
import {
  changeSettings,
  keyLimitsOf,
  largestPerKey,
  mayRefuse,
  NO_SETTINGS,
  type QueueChanges,
  type QueueSettings,
  sameSettings,
} from '../../queueSettings.ts'
import { changeRate } from '../records/bucket.ts'
import { keyRateOf } from '../records/keyBacklog.ts'
import { isDrained, isEmptied, liveCountOf, type Queue } from '../records/lane.ts'
import { deadLetterOfItself, dropWithoutLength, keyOrderConflict, keyOrderTooLate, queueNotEmpty } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { refuseQueue } from './newQueues.ts'
import { removeQueue } from './removeQueue.ts'

export function configure(turn: TurnContext, { queue: name, changes }: ConfigureCommand): Decision<'configure'> {
  const refused = findConflict(turn.tables.queues.get(name), name, changes) ?? refuseQueue(turn, name)
  if (refused !== undefined) return refused
  const queue = queueOf(turn, name)
  const before = queue.settings
  change(turn, queue, changes)
  if (!sameSettings(before, queue.settings)) turn.effects.systemEvent({ type: 'queue.configured', queue: name })
  return true
}

/** Returns the refusal of settings that conflict with each other, or with existing jobs. */
function findConflict(queue: Queue | undefined, name: string, changes: QueueChanges): Refused | undefined {
  const before = queue?.settings ?? NO_SETTINGS
  const settings = changeSettings(before, changes)
  const { keyOrder, onFull, maxLength, deadLetter } = settings
  const perKeyLimit = largestPerKey(settings)
  if (onFull !== undefined && maxLength === undefined) return dropWithoutLength(name)
  if (keyOrder !== undefined && perKeyLimit > 1) return keyOrderConflict(name, perKeyLimit)
  if (deadLetter === name) return deadLetterOfItself(name)
  const live = queue === undefined ? 0 : liveCountOf(queue)
  return keyOrder !== before.keyOrder && live > 0 ? keyOrderTooLate(name, live) : undefined
}

/** Applies settings to jobs that start from now on. Jobs that run beyond a smaller limit run to their end. */
export function change(turn: TurnContext, queue: Queue, changes: QueueChanges): void {
  const { tables, effects, now } = turn
  const before = queue.settings
  const settings = changeSettings(before, changes)
  queue.settings = settings
  queue.drained &&= settings.draining !== undefined
  if (settings.rateLimit !== undefined && settings.rateLimit !== before.rateLimit)
    queue.fullMono = changeRate(before.rateLimit, settings.rateLimit, queue.fullMono, now.mono)
  tables.bounded += Number(mayRefuse(settings)) - Number(mayRefuse(before))
  tables.emptying += Number(settings.empties !== undefined) - Number(before.empties !== undefined)
  // A queue that is empty when the setting comes has not run empty.
  if (settings.empties !== before.empties) queue.emptied = isEmptied(queue)
  tables.deadLettering += Number(settings.deadLetter !== undefined) - Number(before.deadLetter !== undefined)
  const ofKeys = (name: 'perKeyLimit' | 'perKeyRateLimit' | 'keyTiers' | 'keyOrder') => settings[name] !== before[name]
  if (ofKeys('perKeyRateLimit') || ofKeys('keyTiers')) changeKeyRates(turn, queue, before)
  if (ofKeys('perKeyLimit') || ofKeys('perKeyRateLimit') || ofKeys('keyTiers') || ofKeys('keyOrder')) {
    tables.keys.begin(queue, tables.running())
    tables.keys.look(queue)
  }
  if (settings.fairness !== before.fairness) beginTurns(turn, queue)
  if (settings.sharedLimit !== before.sharedLimit) changeSharing(turn, queue, before)
  tables.dispatchable.resume(queue)
  effects.noteQueue(queue)
}

/** Queues that share the limit may start jobs if it was raised here, or if this queue has left it. */
function changeSharing({ tables: { dispatchable } }: TurnContext, queue: Queue, { sharedLimit: before }: QueueSettings): void {
  if (before !== undefined) dispatchable.shared.leave(queue, before.name)
  dispatchable.shared.join(queue)
  for (const shared of [before, queue.settings.sharedLimit]) if (shared !== undefined) dispatchable.resumeSharing(shared.name)
}

/** Starts the turns between the queue's names: none has had one yet. */
function beginTurns({ tables }: TurnContext, queue: Queue): void {
  queue.turns = 0
  for (const lane of queue.lanes.values()) lane.turn = 0
  for (const group of tables.groups.values()) group.reorder(queue)
}

/** Converts each key whose bucket is not full. There are at most as many as jobs start within the time that one takes to fill up. */
function changeKeyRates({ tables, effects, now }: TurnContext, queue: Queue, before: QueueSettings): void {
  for (const key of queue.keys?.values() ?? []) {
    if (key.bucketPlace < 0) continue
    effects.noteBucket(key)
    const { perKeyRateLimit: from } = keyLimitsOf(before, key.text)
    const to = keyRateOf(key)
    const fullMono = to === undefined ? now.mono : changeRate(from, to, key.fullMono, now.mono)
    if (fullMono > now.mono) tables.keys.buckets.fill(key, fullMono)
    else tables.keys.forgetBucket(key)
  }
}

/** Drains a queue. The actor answers when all of its jobs have ended. */
export function drainQueue(turn: TurnContext, { queue: name }: DrainQueueCommand): Decision<'drainQueue'> {
  const refused = refuseQueue(turn, name)
  if (refused !== undefined) return refused
  const queue = queueOf(turn, name)
  if (queue.settings.draining === undefined) {
    change(turn, queue, { draining: true })
    turn.effects.systemEvent({ type: 'queue.draining', queue: name })
  }
  return DEFERRED
}

/**
 * Reports queues whose live jobs have all ended: those that take no new ones, and those whose settings ask for it. Runs after all else that
 * the turn does to jobs.
 */
export function tellEnded({ effects }: TurnContext): void {
  const look = (queue: Queue) => {
    const drained = isDrained(queue)
    if (drained && !queue.drained && !queue.gone) effects.systemEvent({ type: 'queue.drained', queue: queue.name })
    queue.drained = drained
    const emptied = isEmptied(queue)
    if (emptied && !queue.emptied && !queue.gone) effects.systemEvent({ type: 'queue.empty', queue: queue.name })
    queue.emptied = emptied
  }
  for (const { queue } of effects.countedLanes) look(queue)
  for (const queue of effects.queues) look(queue)
}

export function deleteQueue({ tables, effects }: TurnContext, { queue: name }: DeleteQueueCommand): Decision<'deleteQueue'> {
  const queue = tables.queues.get(name)
  if (queue === undefined) return false
  const jobs = queue.counts.reduce((all, count) => all + count, 0)
  if (jobs > 0) return queueNotEmpty(name, jobs)
  tables.bounded -= Number(mayRefuse(queue.settings))
  tables.emptying -= Number(queue.settings.empties !== undefined)
  tables.deadLettering -= Number(queue.settings.deadLetter !== undefined)
  removeQueue(tables, queue)
  effects.queuesGone.push(queue)
  effects.systemEvent({ type: 'queue.deleted', queue: name })
  return true
}

export function queueOf({ tables, effects }: TurnContext, name: string): Queue {
  const known = tables.queues.get(name)
  if (known !== undefined) return known
  const queue = tables.addQueue(name)
  effects.noteQueue(queue)
  return queue
}
