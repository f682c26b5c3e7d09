/** Pauses all queues, one queue, or one job name or key in it, and resumes them: by command, or when a timed pause ends. */
import type { Decision } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import type { PauseAllCommand, PauseCommand } from '../../manageCommands.ts'
import type { PausePart } from '../../pausePart.ts'
import type { Job } from '../records/job.ts'
import type { Queue } from '../records/lane.ts'
import type { PausePlace } from '../records/pauseEnds.ts'
import { queueNotFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { refuseName, refuseQueue } from './newQueues.ts'
import { DEFAULT_QUEUE, laneOf } from './queueOf.ts'
import { change, queueOf } from './queues.ts'

export function pause(turn: TurnContext, command: PauseCommand): Decision<'pause'> {
  const { queue: name, job, key, paused, existing, for: ms } = command
  // The default queue exists before its first job.
  if (existing === true && name !== DEFAULT_QUEUE && !turn.tables.queues.has(name)) return queueNotFound(name)
  const refused = refuseQueue(turn, name) ?? (paused && job !== undefined ? refuseName(turn, name, job) : undefined)
  if (refused !== undefined) return refused
  const queue = queueOf(turn, name)
  const until = ms === undefined ? undefined : turn.now.wall + ms
  for (const place of placesOf(queue, job, key)) {
    if (paused) begin(turn, place, until)
    else resume(turn, place)
  }
  return true
}

function placesOf(queue: Queue, job: string | undefined, key: string | undefined): PausePlace[] {
  const places: PausePlace[] = []
  if (key !== undefined) places.push({ queue, part: 'key', what: key })
  if (job !== undefined) places.push({ queue, part: 'name', what: job })
  return places.length > 0 ? places : [{ queue, part: 'queue', what: '' }]
}

/** Pauses a part of the job's queue for a time. Returns false if the job is no part of it: it has no key. */
export function pauseAround(turn: TurnContext, { lane, extras }: Job, part: PausePart, ms: number): boolean {
  const what = { queue: '', name: lane.name, key: extras?.concurrencyKey }[part]
  if (what === undefined) return false
  begin(turn, { queue: lane.queue, part, what }, turn.now.wall + ms)
  return true
}

/** Begins or extends a pause. The later end counts, so that a pause by hand, which has none, outlasts every timed one. */
function begin(turn: TurnContext, place: PausePlace, until: number | undefined): void {
  const before = turn.tables.dispatchable.pauseEnds.until(place)
  const paused = isPaused(place)
  if (paused && before === 0) return
  if (until === undefined || until > before) setEnd(turn, place, until ?? 0)
  if (!paused) apply(turn, place, true)
}

/** Resumes by hand, which also ends a drain. */
function resume(turn: TurnContext, place: PausePlace): void {
  const { queue, part } = place
  const drains = part === 'queue' && queue.settings.draining !== undefined
  if (drains) change(turn, queue, { draining: null })
  if (isPaused(place)) end(turn, place)
  else if (drains) turn.effects.systemEvent({ type: 'queue.resumed', queue: queue.name })
}

/** Ends the pauses whose time has come: a slice in this turn, the others in the next. */
export function endPauses(turn: TurnContext): void {
  for (let left: number = LIMITS.sliceRows; left > 0; left--) {
    const place = turn.tables.dispatchable.pauseEnds.due(turn.now.wall)
    if (place === undefined) return
    end(turn, place)
    if (place.part === 'queue') drainOn(turn, place.queue)
  }
}

/** Reports a drain again that the end of a pause does not end: `queue.resumed` says that the queue takes jobs. */
function drainOn({ effects }: TurnContext, queue: Queue): void {
  if (queue.settings.draining === undefined) return
  queue.drained = false
  effects.systemEvent({ type: 'queue.draining', queue: queue.name })
}

function end(turn: TurnContext, place: PausePlace): void {
  if (turn.tables.dispatchable.pauseEnds.until(place) > 0) setEnd(turn, place, 0)
  apply(turn, place, false)
}

function setEnd({ tables, effects }: TurnContext, place: PausePlace, until: number): void {
  tables.dispatchable.pauseEnds.set(place, until)
  effects.pauseEnd(place, until)
}

function isPaused({ queue, part, what }: PausePlace): boolean {
  switch (part) {
    case 'queue':
      return queue.paused
    case 'name':
      return queue.lanes.get(what)?.paused === true
    case 'key':
      return queue.keys?.get(what)?.paused === true
  }
}

function apply(turn: TurnContext, place: PausePlace, paused: boolean): void {
  const { tables, effects } = turn
  const { queue, part, what } = place
  const of = part === 'queue' ? {} : { [part]: what }
  effects.systemEvent({ type: paused ? 'queue.paused' : 'queue.resumed', queue: queue.name, ...of })
  switch (part) {
    case 'queue':
      queue.paused = paused
      if (paused) tables.dispatchable.suspend(queue)
      else tables.dispatchable.resume(queue)
      effects.noteQueue(queue)
      break
    case 'name': {
      const lane = laneOf(turn, queue.name, what)
      if (paused) lane.paused = true
      else tables.dispatchable.resumeLane(lane)
      effects.notePause(lane)
      break
    }
    case 'key':
      pauseKey(turn, place, paused)
  }
}

function pauseKey({ tables, effects }: TurnContext, { queue, what }: PausePlace, paused: boolean): void {
  tables.keys.begin(queue, tables.running())
  const key = tables.keys.key(queue, what)
  key.paused = paused
  effects.noteQueue(queue)
  effects.noteKey(key)
  tables.keys.look(queue)
  tables.keys.forgetIdle(key)
}

/** Pauses everything until it is resumed. Each queue keeps its own pauses. */
export function pauseAll({ tables, effects }: TurnContext, { paused }: PauseAllCommand): Decision<'pauseAll'> {
  if (tables.paused === paused) return true
  tables.paused = paused
  effects.paused = paused
  effects.systemEvent({ type: paused ? 'engine.paused' : 'engine.resumed' })
  return true
}
