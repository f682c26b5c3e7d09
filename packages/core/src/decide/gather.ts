/** Reads what a turn's commands need and memory lacks: one set-based read per kind, before the first decision. */
import type { Now } from '../clock.ts'
import type { NewJob, RedriveCommand } from '../commands.ts'
import { ACTIVE, CANCELLED, COMPLETED, FAILED, type StateCode } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import type { Request } from '../port.ts'
import type { Keep, Retention } from '../retention.ts'
import type { NameAndKey, Store } from '../store.ts'
import type { Lane } from '../tables/lane.ts'
import type { Tables } from '../tables/tables.ts'
import { Facts } from './facts.ts'

export function gather(store: Store, tables: Tables, requests: readonly Request[], now: Now, retention: Retention | undefined): Facts {
  if (tables.thirsty.size > 0) refill(store, tables)
  const facts = new Facts(tables)
  if (requests.length > 0) gatherFor(store, tables, facts, requests, now)
  if (tables.dueAt !== 0 && tables.dueAt <= now.wall) facts.due = store.due(now.wall, LIMITS.sliceRows).map((row) => facts.remember(row))
  if (tables.expiresAt !== 0 && tables.expiresAt <= now.wall) {
    facts.expired = store.expired(now.wall, LIMITS.sliceRows).map((row) => facts.remember(row))
  }
  if (retention !== undefined) gatherPrunable(store, tables, facts, now, retention)
  return facts
}

/** Fills windows that run low, some of them per turn. */
function refill(store: Store, tables: Tables): void {
  let lanes = 0
  for (const lane of tables.thirsty) {
    if (++lanes > 32) break
    const { last, size } = lane.window
    const { rows, complete } = store.window(lane.id, last, Math.max(1, tables.windowSize() - size), LIMITS.windowBytes)
    tables.refill(lane, rows, complete)
  }
}

function gatherFor(store: Store, tables: Tables, facts: Facts, requests: readonly Request[], now: Now): void {
  const seqs = new Set<number>()
  const idempotent: NameAndKey[] = []
  const unique: NameAndKey[] = []
  const take = (jobs: readonly NewJob[]) => {
    for (const job of jobs) {
      if (job.idempotencyKey !== undefined) idempotent.push({ name: job.name, key: job.idempotencyKey })
      if (job.unique !== undefined) unique.push({ name: job.name, key: job.unique.key })
    }
  }
  for (const { command } of requests) {
    switch (command.op) {
      case 'enqueue':
        take(command.jobs)
        break
      case 'complete':
        if (command.enqueues !== undefined) take(command.enqueues)
        if (tables.jobs.get(command.seq)?.state !== ACTIVE) seqs.add(command.seq)
        break
      case 'cancel':
      case 'update':
      case 'retry':
      case 'runNow':
      case 'delete':
        if (!tables.jobs.has(command.id.seq)) seqs.add(command.id.seq)
        break
      case 'redrive':
        facts.failed = store.failed(lanesOf(tables, command), redriveLimit(command)).map((row) => facts.remember(row))
        for (const job of facts.failed)
          if (job.extras?.uniqueKey !== undefined) unique.push({ name: job.lane.name, key: job.extras.uniqueKey })
        break
      default:
    }
  }
  if (seqs.size > 0) {
    for (const row of store.jobs([...seqs])) {
      const job = facts.remember(row)
      // A job that comes back to life takes its key again.
      if (job.extras?.uniqueKey !== undefined) unique.push({ name: job.lane.name, key: job.extras.uniqueKey })
    }
  }
  if (idempotent.length > 0 || unique.length > 0) {
    const holders = unique.length > 0 ? store.unique(unique) : []
    facts.addHolders(idempotent.length > 0 ? store.idempotent(idempotent, now.wall) : [], holders)
    const unknown = holders.filter((holder) => facts.job(holder.seq) === undefined).map((holder) => holder.seq)
    if (unknown.length > 0) for (const row of store.jobs(unknown)) facts.remember(row)
  }
}

function lanesOf(tables: Tables, { queue, name }: RedriveCommand): number[] {
  const lanes: Lane[] = []
  for (const candidate of queue === undefined ? tables.queues.values() : [tables.queues.get(queue)]) {
    if (candidate === undefined) continue
    for (const lane of candidate.lanes.values())
      if ((name === undefined || lane.name === name) && (lane.counts[FAILED] as number) > 0) lanes.push(lane)
  }
  return lanes.map((lane) => lane.id)
}

function redriveLimit(command: RedriveCommand): number {
  return Math.min(command.limit, LIMITS.sliceRows)
}

function gatherPrunable(store: Store, tables: Tables, facts: Facts, now: Now, retention: Retention): void {
  let room: number = LIMITS.sliceRows
  const prunable = []
  for (const queue of tables.queues.values()) {
    for (const [state, keep] of finalStates(retention)) {
      const count = queue.counts[state] as number
      if (count === 0 || room === 0) continue
      const surplus = count - keep.count
      const rows =
        surplus > 0
          ? store.finished(queue.id, state, now.wall + 1, Math.min(surplus, room))
          : store.finished(queue.id, state, now.wall - keep.ageMs, room)
      for (const row of rows) prunable.push(facts.remember(row))
      room -= rows.length
    }
  }
  facts.prunable = prunable
}

export function finalStates(retention: Retention): readonly (readonly [StateCode, Keep])[] {
  return [
    [COMPLETED, retention.completed],
    [FAILED, retention.failed],
    [CANCELLED, retention.cancelled],
  ]
}
