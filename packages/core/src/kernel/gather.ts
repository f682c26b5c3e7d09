/** Reads what a turn's commands need and memory lacks: one set-based read per kind, before the first decision. */
import type { Now } from '../clock.ts'
import type { NewJob, RedriveCommand } from '../commands.ts'
import { type JobKey, NODE_LIMIT, PLACE_LIMIT, sourcedNode } from '../id.ts'
import { ACTIVE, CANCELLED, COMPLETED, FAILED, type StateCode } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import type { Request } from '../port.ts'
import { retentionOf } from '../queueSettings.ts'
import type { Keep, Retention } from '../retention.ts'
import { Facts } from './facts.ts'
import { FLOW_KEYS } from './flows/flow.ts'
import { gatherFlows } from './flows/gatherFlows.ts'
import { exclusiveKey, placeOf, shapeOf } from './jobs/coalescing.ts'
import { gatherArrivals } from './jobs/gatherArrivals.ts'
import { gatherMatching } from './jobs/gatherMatching.ts'
import type { Job } from './jobs/job.ts'
import { roomOf } from './keys/keyBacklog.ts'
import { BACKLOG_JOBS } from './keys/keys.ts'
import { gatherTurns } from './keys/strict.ts'
import { countOf, type Lane } from './queues/lane.ts'
import { bytesToRead, jobsToRead } from './queues/windowShare.ts'
import { gatherSchedules } from './schedules/gather.ts'
import { gatherSettling } from './sessions/settle.ts'
import type { NameAndKey, Prunable, TurnStore } from './store.ts'
import type { Tables } from './tables.ts'

export function gather(store: TurnStore, tables: Tables, requests: readonly Request[], now: Now, retention: Retention | undefined): Facts {
  if (tables.needRefill.size > 0) refill(store, tables)
  if (tables.keys.needRefill.size > 0) refillBacklogs(store, tables, now)
  const facts = new Facts(tables)
  if (tables.keys.turns.size > 0) gatherTurns(store, tables, facts, now.mono)
  const schedules: string[] = []
  if (requests.length > 0) gatherFor(store, tables, facts, requests, now, schedules)
  gatherFlows(store, tables, facts)
  if (tables.dueAt !== 0 && tables.dueAt <= now.wall) {
    facts.due = store.due(now.wall, LIMITS.sliceRows).map((row) => facts.remember(row))
    // The job with that time is gone. Without a later time the next turn would be due at once, for ever.
    if (facts.due.length === 0) tables.dueAt = store.deadlines().dueAt
  }
  if (tables.expiresAt !== 0 && tables.expiresAt <= now.wall) {
    facts.expired = store.expired(now.wall, LIMITS.sliceRows).map((row) => facts.remember(row))
    if (facts.expired.length === 0) tables.expiresAt = store.deadlines().expiresAt
  }
  gatherSchedules(store, tables, facts, schedules, now)
  gatherArrivals(store, tables, facts, requests)
  gatherSettling(store, tables, facts)
  // Reads more than the turn can finish, so that the number kept stays bounded however fast jobs come.
  if (retention !== undefined) gatherPrunable(store, tables, facts, now, retention, Math.max(LIMITS.sliceRows, 2 * requests.length))
  return facts
}

/** Refills windows that run low, at most 32 per turn. */
function refill(store: TurnStore, tables: Tables): void {
  let lanes = 0
  for (const lane of tables.needRefill) {
    if (++lanes > 32) break
    const { last, size, bytes } = lane.window
    const { rows, complete } = store.window(lane.id, last, Math.max(1, jobsToRead(tables) - size), bytesToRead(tables) - bytes)
    tables.refill(lane, rows, complete)
  }
}

/** Reads the parked jobs that are let go next, for at most 32 backlogs per turn. */
function refillBacklogs(store: TurnStore, tables: Tables, { mono }: Now): void {
  let backlogs = 0
  for (const backlog of tables.keys.needRefill) {
    if (++backlogs > 32) break
    const { key, inWindow, beyondWindow, window, id } = backlog
    const room = roomOf(key, mono) - inWindow - beyondWindow
    const { rows, complete } = store.parked(id, window.last, Math.max(BACKLOG_JOBS, Math.min(room, LIMITS.windowJobs)), BACKLOG_BYTES)
    tables.refillBacklog(backlog, rows, complete)
  }
}

function gatherFor(store: TurnStore, tables: Tables, facts: Facts, requests: readonly Request[], now: Now, schedules: string[]): void {
  const seqs: number[] = []
  // A job in memory may leave it (when a window is cut) before the turn comes to the command.
  const want = (seq: number) => {
    const known = tables.jobs.get(seq)
    if (known === undefined) seqs.push(seq)
    else {
      facts.add(known)
      // The job may end and come back in this very turn.
      mayRevive(known)
    }
  }
  const sourced: number[] = []
  const wantId = ({ seq, node }: JobKey) => {
    want(seq)
    if (node !== tables.node && node < NODE_LIMIT && seq < PLACE_LIMIT) sourced.push(sourcedNode(seq, node))
  }
  const sources: string[] = []
  const idempotent: NameAndKey[] = []
  const unique: NameAndKey[] = []
  const dependent: number[] = []
  // A job that comes back to life takes its key again, and waits again for its parents.
  const mayRevive = (job: Job) => {
    const { seq, extras } = job
    const held = exclusiveKey(job)
    if (held !== undefined) unique.push(held)
    if (extras?.flow !== undefined && extras.flow.parents > 0) dependent.push(seq)
  }
  const take = (jobs: readonly NewJob[]) => {
    for (const job of jobs) {
      if (job.idempotencyKey !== undefined) idempotent.push({ name: job.name, key: job.idempotencyKey })
      if (job.unique !== undefined) unique.push({ name: job.name, key: job.unique.key })
      const shape = shapeOf(job)
      if (shape !== undefined) (shape.by === 'trailing' ? unique : idempotent).push(placeOf(job.name, shape))
    }
  }
  for (const { command } of requests) {
    switch (command.op) {
      case 'enqueue':
        take(command.jobs)
        break
      case 'forward':
        sources.push(command.source)
        for (const { jobs } of command.entries) take(jobs)
        break
      case 'flow':
        if (command.idempotencyKey !== undefined) idempotent.push({ name: FLOW_KEYS, key: command.idempotencyKey })
        break
      case 'complete':
        if (command.enqueues !== undefined) take(command.enqueues)
        if (tables.jobs.get(command.seq)?.state !== ACTIVE) want(command.seq)
        break
      case 'cancel':
      case 'cancelTree':
      case 'retryTree':
      case 'update':
      case 'retry':
      case 'runNow':
      case 'delete':
        wantId(command.id)
        break
      case 'upsertSchedule':
      case 'deleteSchedule':
      case 'pauseSchedule':
      case 'resumeSchedule':
      case 'triggerSchedule':
        schedules.push(command.id)
        break
      case 'redrive':
        for (const row of store.failed(
          failedLanes(tables, command).map(({ id }) => id),
          command.after ?? FIRST,
          redriveLimit(command),
        )) {
          const job = facts.remember(row)
          facts.addFailed(command, job, row.finishedAt)
          mayRevive(job)
        }
        break
      case 'export':
        // This very turn may delete an existing export and create it again.
        if (command.upTo === undefined) facts.firstEvent = store.journal(0).firstEvent || tables.nextEvent
        break
      case 'cancelMany':
      case 'retryMany':
      case 'deleteMany':
        for (const key of command.ids ?? []) wantId(key)
        if (command.ids === undefined) {
          for (const job of gatherMatching(store, tables, facts, command)) mayRevive(job)
        }
        break
      default:
    }
  }
  if (seqs.length > 0) {
    for (const row of store.jobs([...new Set(seqs)])) mayRevive(facts.remember(row))
  }
  if (sourced.length > 0) {
    for (const row of store.sourced([...new Set(sourced)])) mayRevive(facts.rememberSourced(row))
  }
  if (dependent.length > 0) for (const counter of store.dependencies(dependent)) facts.addDependencies(counter)
  if (sources.length > 0) for (const { source, mark } of store.marks([...new Set(sources)])) facts.setMark(source, mark)
  if (idempotent.length > 0 || unique.length > 0) {
    const holders = unique.length > 0 ? store.unique(unique) : []
    const first = idempotent.length > 0 ? store.idempotent(idempotent, now.wall) : []
    facts.addHolders(first, holders)
    const unknown: number[] = []
    for (const { seq } of [...holders, ...first.filter(({ seq, until }) => until === seq)]) {
      const known = facts.job(seq)
      if (known === undefined) unknown.push(seq)
      else facts.add(known)
    }
    if (unknown.length > 0) for (const row of store.jobs(unknown)) facts.remember(row)
  }
}

/** Returns the lanes with the jobs that a redrive is about. */
export function failedLanes(tables: Tables, { queue, name }: RedriveCommand): Lane[] {
  const lanes: Lane[] = []
  for (const candidate of queue === undefined ? tables.queues.values() : [tables.queues.get(queue)]) {
    if (candidate === undefined) continue
    for (const lane of candidate.lanes.values())
      if ((name === undefined || lane.name === name) && (lane.counts[FAILED] as number) > 0) lanes.push(lane)
  }
  return lanes
}

const BACKLOG_BYTES = 256 * 1024
const FIRST = { finishedAt: -1, seq: -1 }

function redriveLimit(command: RedriveCommand): number {
  return Math.min(command.limit, LIMITS.sliceRows)
}

function gatherPrunable(store: TurnStore, tables: Tables, facts: Facts, now: Now, retention: Retention, slice: number): void {
  const prunable: Prunable[] = []
  let room = slice
  const exported = lastExported(store, tables)
  for (const queue of tables.queues.values()) {
    for (const [state, keep] of finalStates(retentionOf(retention, queue.settings))) {
      const count = countOf(queue, state)
      if (count === 0 || room <= 0) continue
      const surplus = count - keep.count
      const tooMany = exported === undefined ? 0 : count - Math.max(keep.count, LIMITS.jobsHeldForExports)
      const found =
        tooMany > 0
          ? store.prunable(queue.id, state, now.wall + 1, Math.min(tooMany, room))
          : surplus > 0
            ? store.prunable(queue.id, state, now.wall + 1, Math.min(surplus, room), exported)
            : store.prunable(queue.id, state, now.wall - keep.ageMs, room, exported)
      if (found === undefined) continue
      prunable.push(found)
      room -= found.rows.length
    }
  }
  facts.prunable = prunable
}

/** Returns the last event that every export is done with or can no longer get; undefined if there is no export. */
function lastExported(store: TurnStore, { exports, nextEvent }: Tables): number | undefined {
  if (exports.size === 0) return undefined
  return Math.max(Math.min(...exports.values()), (store.journal(0).firstEvent || nextEvent) - 1)
}

export function finalStates(retention: Retention): readonly (readonly [StateCode, Keep])[] {
  return [
    [COMPLETED, retention.completed],
    [FAILED, retention.failed],
    [CANCELLED, retention.cancelled],
  ]
}
