/** Questions: answered after the commit, from the store and the tables. */
import {
  ACTIVE,
  type Command,
  type Counts,
  countOf,
  type JobRow,
  type JobView,
  LIMITS,
  type ListCommand,
  type ListPage,
  type Queue,
  type QueueStats,
  Refused,
  type Sender,
  STATES,
  type StateCounts,
  type Stats,
  type Tables,
  viewOf,
  WAITING,
  type WorkerView,
} from '@millrace/core'
import type { Actor } from './actor.ts'

export function answer(actor: Actor, command: Command, sender: Sender): unknown {
  switch (command.op) {
    case 'get': {
      const found = actor.store.job(command.id.seq)
      if (found === undefined || found.row.node !== command.id.node || found.row.enqueuedAt !== command.id.enqueuedAt) return null
      return view(actor.tables, found.row, found.attempts)
    }
    case 'watch':
      return actor.watches.ask(actor.store, command.id, sender)
    case 'unwatch':
      actor.watches.forget(sender.connection, command.request)
      return true
    case 'stats':
      return stats(actor)
    case 'workers':
      return [...actor.tables.sessions.values()].map(
        ({ intro, jobs, weight, zombies, draining }): WorkerView => ({
          id: intro.worker,
          host: intro.host,
          pid: intro.pid,
          names: intro.handlers.map((handler) => handler.name),
          queues: intro.queues ?? null,
          minConcurrency: intro.minConcurrency,
          maxConcurrency: intro.maxConcurrency,
          runningJobs: jobs.size,
          runningWeight: weight,
          zombies,
          draining,
        }),
      )
    case 'list':
      return list(actor, command)
    default:
      return new Refused({ code: 'UNSUPPORTED', message: `unknown operation '${String(command.op)}'` })
  }
}

function view(tables: Tables, row: JobRow, attempts: JobView['attempts']): JobView {
  const lane = tables.lanesById.get(row.laneId)
  if (lane === undefined) throw new Error(`job ${row.seq} is of an unknown lane ${row.laneId}`)
  return viewOf(row, lane.queue.name, lane.name, attempts)
}

function list({ store, tables }: Actor, { filter, before, limit }: ListCommand): ListPage {
  const size = Math.min(limit, LIMITS.pageJobs)
  const rows = isOfRunning(filter) ? store.jobs(runningOf(tables, filter, before, size)) : store.page(filter, before, size)
  const last = rows.at(-1)
  return { jobs: rows.map((row) => view(tables, row, [])), next: rows.length < limit || last === undefined ? null : last.seq }
}

/** Which jobs run is known here, and on disk by no index: it would cost every job that runs. */
export function isOfRunning({ state, tag }: ListCommand['filter']): boolean {
  return state === ACTIVE && tag === undefined
}

/** Their numbers, newest first. */
function runningOf(tables: Tables, { queue, name }: ListCommand['filter'], before = Number.POSITIVE_INFINITY, limit: number): number[] {
  return tables
    .running()
    .filter(
      ({ seq, lane }) => seq < before && (queue === undefined || lane.queue.name === queue) && (name === undefined || lane.name === name),
    )
    .map((job) => job.seq)
    .sort((a, b) => b - a)
    .slice(0, limit)
}

function stats(actor: Actor): Stats {
  const { tables } = actor
  const states: Counts = [0, 0, 0, 0, 0, 0, 0]
  const totals = { enqueued: 0, completed: 0, failed: 0, cancelled: 0 }
  const queues: Record<string, QueueStats> = {}
  const unserved: { queue: string; name: string; waiting: number }[] = []
  for (const queue of tables.queues.values()) {
    for (let state = 0; state < states.length; state++) states[state] = (states[state] as number) + (queue.counts[state] as number)
    for (const total of ['enqueued', 'completed', 'failed', 'cancelled'] as const) totals[total] += queue.totals[total]
    queues[queue.name] = { ...named(queue.counts), paused: false, oldestWaitingMs: oldestWaitingMs(actor, queue) }
    for (const lane of queue.lanes.values()) {
      const waiting = countOf(lane, WAITING)
      if (waiting > 0 && lane.services.length === 0) unserved.push({ queue: queue.name, name: lane.name, waiting })
    }
  }
  return { states: named(states), totals, queues, unserved, workers: tables.sessions.size, writer: actor.meter.stats(actor.draining) }
}

function named(counts: Counts): StateCounts {
  return Object.fromEntries(STATES.map((state, code) => [state, counts[code] as number])) as unknown as StateCounts
}

function oldestWaitingMs({ store, now }: Actor, queue: Queue): number {
  if (countOf(queue, WAITING) === 0) return 0
  let oldest = Number.POSITIVE_INFINITY
  for (const lane of queue.lanes.values()) if (countOf(lane, WAITING) > 0) oldest = Math.min(oldest, store.oldestWaiting(lane.id))
  return Math.max(0, now.wall - oldest)
}
