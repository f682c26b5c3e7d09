/**
 * Reads what a turn's commands need and memory lacks, before the first decision: the questions of all
 * features, asked at once. A feature that this turn does not touch is not called, here and in the
 * steps that follow: the step asks first.
 */
import type { Now } from '../../clock.ts'
import type { CheckedForward, NewJob } from '../../commands.ts'
import { type JobKey, NODE_LIMIT, PLACE_LIMIT, sourcedNode } from '../../id.ts'
import { ACTIVE } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { Request } from '../../port.ts'
import type { Retention } from '../../retention.ts'
import type { SendCommand } from '../../stepCommands.ts'
import { FLOW_KEYS } from '../flows/flow.ts'
import { gatherFlows } from '../flows/gatherFlows.ts'
import { shapeOf } from '../jobs/coalescing.ts'
import { gatherArrivals } from '../jobs/gatherArrivals.ts'
import { gatherFailed } from '../jobs/gatherFailed.ts'
import { gatherMatching } from '../jobs/gatherMatching.ts'
import { gatherPrunable } from '../jobs/gatherPrunable.ts'
import { tellsRepeats } from '../jobs/repeats.ts'
import { gatherSettling } from '../jobs/settle.ts'
import { gatherTurns } from '../keys/strict.ts'
import { placeOf } from '../records/exclusiveKey.ts'
import { roomOf } from '../records/keyBacklog.ts'
import { BACKLOG_JOBS } from '../records/keys.ts'
import { bytesToRead, jobsToRead } from '../records/windowShare.ts'
import { gatherSchedules } from '../schedules/gather.ts'
import { Facts } from '../state/facts.ts'
import { Plan } from '../state/plan.ts'
import type { TurnStore } from '../state/store.ts'
import type { Tables } from '../state/tables.ts'
import { messageKeys } from '../steps/messages.ts'
import { gatherWait } from '../steps/wait.ts'

export function gather(store: TurnStore, tables: Tables, requests: readonly Request[], now: Now, retention: Retention | undefined): Facts {
  const facts = new Facts(tables)
  const plan = new Plan(facts, now)
  // Windows first: what they read is in the tables before another answer names the same job.
  if (tables.needRefill.size > 0) refill(plan, tables)
  if (tables.keys.needRefill.size > 0) refillBacklogs(plan, tables, now)
  if (tables.keys.turns.size > 0) gatherTurns(plan, tables, facts, now.mono)
  for (const { command } of requests) gatherFor(plan, tables, facts, command)
  if (tables.flowWork) gatherFlows(plan, tables, facts)
  if (tables.dueAt !== 0 && tables.dueAt <= now.wall) gatherDue(plan, tables, facts, now)
  if (tables.expiresAt !== 0 && tables.expiresAt <= now.wall) gatherExpired(plan, tables, facts, now)
  const isTickDue = tables.fireAt !== 0 && tables.fireAt <= now.wall && tables.ticksMono <= now.mono
  if (isTickDue || tables.freed.size > 0 || plan.schedules.length > 0) gatherSchedules(plan, tables, facts, now, isTickDue)
  if (tables.definitions.settling.size > 0) gatherSettling(plan, tables, facts)
  // Reads more than the turn can finish, so that the number kept stays bounded however fast jobs come.
  if (retention !== undefined) gatherPrunable(plan, tables, facts, now, retention, Math.max(LIMITS.sliceRows, 2 * requests.length))
  plan.run(store)
  if (tables.bounded === 0) return facts
  // How many jobs may have to go depends on what else this turn starts and ends.
  gatherArrivals(plan, tables, facts, requests)
  plan.run(store)
  return facts
}

/** Refills windows that run low, at most 32 per turn. */
function refill(plan: Plan, tables: Tables): void {
  let lanes = 0
  for (const lane of tables.needRefill) {
    if (++lanes > 32) break
    const { last, size, bytes } = lane.window
    const room = [Math.max(1, jobsToRead(tables) - size), bytesToRead(tables) - bytes] as const
    plan.ask('window', [lane.id, last, ...room], ({ rows, complete }) => tables.refill(lane, rows, complete))
  }
}

/** Reads the parked jobs that are let go next, for at most 32 backlogs per turn. */
function refillBacklogs(plan: Plan, tables: Tables, { mono }: Now): void {
  let backlogs = 0
  for (const backlog of tables.keys.needRefill) {
    if (++backlogs > 32) break
    const { key, inWindow, beyondWindow, window, id } = backlog
    const room = roomOf(key, mono) - inWindow - beyondWindow
    const jobs = Math.max(BACKLOG_JOBS, Math.min(room, LIMITS.windowJobs))
    plan.ask('parked', [id, window.last, jobs, BACKLOG_BYTES], ({ rows, complete }) => tables.refillBacklog(backlog, rows, complete))
  }
}

/** Reads a slice of the jobs that are due. */
function gatherDue(plan: Plan, tables: Tables, facts: Facts, { wall }: Now): void {
  plan.ask('due', [wall, LIMITS.sliceRows], (rows) => {
    facts.due = rows.map((row) => facts.remember(row))
    // The job with that time is gone. Without a later time the next turn would be due at once, for ever.
    if (rows.length === 0)
      plan.ask('deadlines', [], ({ dueAt }) => {
        tables.dueAt = dueAt
      })
  })
}

/** Reads a slice of the jobs that have expired. */
function gatherExpired(plan: Plan, tables: Tables, facts: Facts, { wall }: Now): void {
  plan.ask('expired', [wall, LIMITS.sliceRows], (rows) => {
    facts.expired = rows.map((row) => facts.remember(row))
    if (rows.length === 0)
      plan.ask('deadlines', [], ({ expiresAt }) => {
        tables.expiresAt = expiresAt
      })
  })
}

function gatherFor(plan: Plan, tables: Tables, facts: Facts, command: Command): void {
  switch (command.op) {
    case 'enqueue':
      gatherKeys(plan, tables, command.jobs)
      break
    case 'forward':
      gatherForwarded(plan, tables, command)
      break
    case 'flow':
      if (command.idempotencyKey !== undefined) plan.idempotent({ name: FLOW_KEYS, key: command.idempotencyKey })
      break
    case 'complete':
      if (command.enqueues !== undefined) gatherKeys(plan, tables, command.enqueues)
      if (tables.jobs.get(command.seq)?.state !== ACTIVE) plan.revivable(command.seq)
      break
    case 'cancel':
    case 'cancelTree':
    case 'retryTree':
    case 'update':
    case 'runNow':
    case 'delete':
      gatherById(plan, tables, command.id)
      break
    case 'join':
    case 'wait': {
      const job = tables.jobs.get(command.seq)
      if (job === undefined) break
      if (command.op === 'wait') gatherWait(plan, job, command)
      else plan.mayRevive(job)
      break
    }
    case 'send':
      gatherSent(plan, tables, command)
      break
    case 'retry':
      if (command.from !== undefined) plan.from(command.from)
      gatherById(plan, tables, command.id)
      break
    case 'byKey':
      if (command.from !== undefined) plan.from(command.from)
      plan.holder(command.of)
      break
    case 'upsertSchedule':
    case 'deleteSchedule':
    case 'pauseSchedule':
    case 'resumeSchedule':
    case 'triggerSchedule':
      plan.schedules.push(command.id)
      break
    case 'redrive':
      gatherFailed(plan, tables, facts, command)
      break
    case 'export':
      // This very turn may delete an existing export and create it again.
      if (command.upTo === undefined)
        plan.ask('journal', [0], ({ firstEvent }) => {
          facts.firstEvent = firstEvent || tables.nextEvent
        })
      break
    case 'cancelMany':
    case 'retryMany':
    case 'deleteMany':
    case 'runNowMany':
    case 'updateMany':
      if (command.ids === undefined) gatherMatching(plan, tables, facts, command)
      else for (const id of command.ids) gatherById(plan, tables, id)
      break
    default:
  }
}

/** Asks how far the producer's journal has come, and for the jobs that may have the ids of its jobs. */
function gatherForwarded(plan: Plan, tables: Tables, { source, number, first, entries, inbox }: CheckedForward): void {
  plan.source(source)
  let place = first
  for (const { jobs } of entries) {
    gatherKeys(plan, tables, jobs)
    if (inbox === undefined) for (const _ of jobs) plan.taken(sourcedNode(place++, number))
  }
  for (const { node } of inbox ?? []) plan.taken(node)
}

/** Asks who holds the keys of new jobs. */
function gatherKeys(plan: Plan, tables: Tables, jobs: readonly NewJob[]): void {
  for (const job of jobs) {
    const { name, idempotencyKey, unique, debounce, throttle } = job
    if (idempotencyKey !== undefined) plan.idempotent({ name, key: idempotencyKey }, tellsRepeats(tables, job))
    if (unique !== undefined) plan.unique({ name, key: unique.key })
    const shape = debounce === undefined && throttle === undefined ? undefined : shapeOf(job)
    if (shape === undefined) continue
    const place = placeOf(name, shape)
    if (shape.by === 'trailing') plan.unique(place)
    else plan.idempotent(place, tellsRepeats(tables, job))
  }
}

/** Asks for the job of a message, and whether it has had the message before. */
function gatherSent(plan: Plan, tables: Tables, { id, of, idempotencyKey: key }: SendCommand): void {
  const known = (job: JobKey) => {
    if (key !== undefined) plan.idempotent({ name: messageKeys(job), key })
  }
  if (of !== undefined) plan.holder(of, known)
  if (id === undefined) return
  known(id)
  plan.job(id.seq)
  gatherSourced(plan, tables, id)
}

function gatherById(plan: Plan, tables: Tables, id: JobKey): void {
  plan.revivable(id.seq)
  gatherSourced(plan, tables, id)
}

/** Asks for the job of a producer's journal that has this id. */
function gatherSourced(plan: Plan, { node: own }: Tables, { seq, node }: JobKey): void {
  if (node !== own && node < NODE_LIMIT && seq < PLACE_LIMIT) plan.sourced(sourcedNode(seq, node))
}

const BACKLOG_BYTES = 256 * 1024
