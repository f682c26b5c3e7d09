/** What queues are told: settings, and pauses of a queue, of a job name or of a key. */
import type { ConfigureCommand, PauseCommand } from '../manageCommands.ts'
import { changeSettings } from '../queueSettings.ts'
import type { Decision } from '../replies.ts'
import { changeRate } from '../tables/bucket.ts'
import type { Queue } from '../tables/lane.ts'
import { laneOf } from './enqueue.ts'
import type { TurnContext } from './turn.ts'

export function configure(turn: TurnContext, { queue: name, changes }: ConfigureCommand): Decision<'configure'> {
  const { tables, effects, now } = turn
  const queue = queueOf(turn, name)
  const before = queue.settings
  const settings = changeSettings(before, changes)
  queue.settings = settings
  if (settings.rateLimit !== undefined && settings.rateLimit !== before.rateLimit)
    queue.fullMono = changeRate(before.rateLimit, settings.rateLimit, queue.fullMono, now.mono)
  tables.bounded += Number(settings.maxLength !== undefined) - Number(before.maxLength !== undefined)
  if (settings.perKeyLimit !== before.perKeyLimit) limitKeys(turn, queue)
  tables.doors.open(queue)
  effects.noteQueue(queue)
  return true
}

/** In force for what starts from now on: what runs beyond a smaller limit runs to its end. */
function limitKeys({ tables }: TurnContext, queue: Queue): void {
  tables.keys.begin(queue, tables.running())
  tables.keys.look(queue)
}

export function pause(turn: TurnContext, { queue: name, job, key, paused }: PauseCommand): Decision<'pause'> {
  const { tables, effects } = turn
  const queue = queueOf(turn, name)
  if (key !== undefined) pauseKey(turn, queue, key, paused)
  if (job !== undefined) {
    const lane = laneOf(turn, name, job)
    if (paused) lane.paused = true
    else tables.doors.resume(lane)
    effects.notePause(lane)
  }
  if (key === undefined && job === undefined) {
    queue.paused = paused
    if (paused) tables.doors.close(queue)
    else tables.doors.open(queue)
    effects.noteQueue(queue)
  }
  return true
}

function pauseKey({ tables, effects }: TurnContext, queue: Queue, text: string, paused: boolean): void {
  tables.keys.begin(queue, tables.running())
  const key = tables.keys.key(queue, text)
  key.paused = paused
  effects.noteQueue(queue)
  effects.noteKey(key)
  tables.keys.look(queue)
  tables.keys.forgetIdle(key)
}

function queueOf({ tables, effects }: TurnContext, name: string): Queue {
  const known = tables.queues.get(name)
  if (known !== undefined) return known
  const queue = tables.addQueue(name)
  effects.noteQueue(queue)
  return queue
}
