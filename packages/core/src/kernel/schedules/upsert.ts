/** Creates or changes a schedule. If its ticks stay the same, it keeps its next one: a deploy neither delays nor repeats it. */
import type { NewJob } from '../../commands.ts'
import { type Decision, Refused } from '../../decision.ts'
import { checkScheduledJob, checkScheduleSpec } from '../../options/schedule.ts'
import type { ScheduleSpec } from '../../schedule.ts'
import type { UpsertScheduleCommand } from '../../scheduleCommands.ts'
import { drained } from '../jobs/enqueue.ts'
import { findTooMany } from '../queues/newQueues.ts'
import { runsLeft, type Schedule, sameTicks, tickAfter } from '../records/ticks.ts'
import { noSchedule, queueDraining, scheduleChanged, scheduleExists } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { create, moveTo } from './fire.ts'
import { isSameData, updateWaiting } from './updateWaiting.ts'

export function upsertSchedule(turn: TurnContext, command: UpsertScheduleCommand): Decision<'upsertSchedule'> {
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const before = turn.facts.schedule(command.id)
  const unexpected = findUnexpected(command, before)
  if (unexpected !== undefined) return unexpected
  const wrong =
    command.runImmediately && command.paused ? 'runImmediately and paused exclude each other: give one of them' : whatIsWrong(turn, command)
  if (wrong !== undefined) return new Refused({ code: 'INVALID_SCHEDULE', message: `schedule '${command.id}': ${wrong}` })
  if (before === undefined) {
    const queue = command.runImmediately ? drained(turn, command.job) : undefined
    if (queue !== undefined) return queueDraining(queue)
    const tooMany = command.runImmediately ? findTooMany(turn, [command.job]) : undefined
    if (tooMany !== undefined) return tooMany
    const { fireAt } = insert(turn, command)
    return { created: true, fireAt: command.paused ? 0 : fireAt, ...(command.updateWaiting && { waitingUpdated: 0 }) }
  }
  change(turn, before, command)
  if (command.paused === true) pause(turn, before)
  if (command.paused === false) resume(turn, before)
  const waiting = command.updateWaiting && { waitingUpdated: updateWaiting(turn, before) ? 1 : 0 }
  return { created: false, fireAt: before.paused ? 0 : before.fireAt, ...waiting }
}

/** Returns the refusal of a call that expects another state of the schedule. */
function findUnexpected({ id, absent = false, updatedAt }: UpsertScheduleCommand, before: Schedule | undefined): Refused | undefined {
  if (absent && before !== undefined) return scheduleExists(id)
  if (updatedAt === undefined) return undefined
  if (before === undefined) return noSchedule(id)
  return before.updatedAt === updatedAt ? undefined : scheduleChanged(id)
}

/** Returns what is wrong with a schedule. The caller's side refuses it by the option's name, but another library may have sent it. */
export function whatIsWrong({ settings }: TurnContext, { spec, job }: Pick<Schedule, 'spec' | 'job'>): string | undefined {
  try {
    checkScheduleSpec(spec, settings.calendar)
    checkScheduledJob(job)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function insert(turn: TurnContext, { id, spec, job, runImmediately, paused = false }: UpsertScheduleCommand): Schedule {
  const { now, facts, effects } = turn
  const schedule: Schedule = {
    id,
    spec,
    job,
    anchor: spec.startAt ?? now.wall,
    nextAt: 0,
    fireAt: 0,
    lastAt: 0,
    held: false,
    paused,
    behind: 0,
    fired: 0,
    skipped: 0,
    last: undefined,
    createdAt: now.wall,
    updatedAt: now.wall,
  }
  effects.schedule(schedule, 'put')
  effects.systemEvent({ type: 'schedule.upserted', schedule: id })
  facts.rememberSchedule(schedule)
  if (runImmediately) create(turn, schedule, job, now.wall, 'schedule.fired')
  restart(turn, schedule, true)
  if (paused) effects.systemEvent({ type: 'schedule.paused', schedule: id })
  return schedule
}

function change(turn: TurnContext, schedule: Schedule, { spec, job }: UpsertScheduleCommand): void {
  const same = sameTicks(schedule.spec, spec)
  const otherBound = schedule.spec.maxRuns !== spec.maxRuns
  if (same && isSame(schedule, spec, job)) return
  if (!same) schedule.anchor = spec.startAt ?? turn.now.wall
  schedule.spec = spec
  schedule.job = job
  // Later than before, even within one millisecond, because it distinguishes changes.
  schedule.updatedAt = Math.max(turn.now.wall, schedule.updatedAt + 1)
  turn.effects.schedule(schedule, 'put')
  turn.effects.systemEvent({ type: 'schedule.upserted', schedule: schedule.id })
  // A bound that neither ends the schedule nor lets it continue moves no tick: one may be due, or wait.
  const bounds = otherBound && (schedule.nextAt === 0 || runsLeft(schedule) === 0)
  if (!same || bounds) restart(turn, schedule)
  else if (schedule.held && spec.overlap !== 'queue') {
    // The new spec no longer waits for the previous job.
    schedule.held = false
    moveTo(turn, schedule, schedule.nextAt)
  }
}

function isSame(schedule: Schedule, spec: ScheduleSpec, { data, ...job }: NewJob): boolean {
  const { data: dataBefore, ...jobBefore } = schedule.job
  return isSameData(data, dataBefore) && textOf(schedule.spec) === textOf(spec) && textOf(jobBefore) === textOf(job)
}

/** Returns the same string whatever the order of the properties. */
function textOf(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function pause(turn: TurnContext, schedule: Schedule): void {
  if (schedule.paused) return
  schedule.paused = true
  turn.effects.schedule(schedule, 'move')
  turn.effects.systemEvent({ type: 'schedule.paused', schedule: schedule.id })
}

export function resume(turn: TurnContext, schedule: Schedule): void {
  if (!schedule.paused) return
  schedule.paused = false
  turn.effects.systemEvent({ type: 'schedule.resumed', schedule: schedule.id })
  restart(turn, schedule)
}

/** Continues with the first tick from now that has not fired yet. */
export function restart(turn: TurnContext, schedule: Schedule, fresh = false): void {
  schedule.held = false
  schedule.behind = 0
  const next = tickAfter(schedule, Math.max(turn.now.wall, schedule.lastAt), turn.settings.calendar)
  moveTo(turn, schedule, runsLeft(schedule) > 0 ? next : 0, fresh)
}
