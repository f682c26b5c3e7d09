/** Builds the tables from the store: at start-up, and after a commit that failed. Nothing else builds them. */
import type { Now } from '../../clock.ts'
import type { SessionIntro } from '../../commands.ts'
import { ACTIVE, CANCELLED, COMPLETED, FAILED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { limitsKeys, mayRefuse } from '../../queueSettings.ts'
import { beginLease } from '../jobs/lease.ts'
import { fullMonoOf } from '../records/bucket.ts'
import type { Job } from '../records/job.ts'
import { addSums, countOf, isDrained, isEmptied, type Queue } from '../records/lane.ts'
import type { ActiveRow, BucketRow, KeptCounts, KeyBacklogRow, LaneRow, PauseEndRow, PresentRow, QueueRow } from '../records/rows.ts'
import { addPresent } from '../records/workerRegistry.ts'
import type { TurnStore } from '../state/store.ts'
import { Tables } from '../state/tables.ts'

/**
 * @param alive uuids of the sessions of this process that live: their jobs stay active until they attach again. Jobs of its dead
 * sessions are abandoned, and the first turn recovers them. Sessions of other processes live until their leases end.
 */
export function loadTables(store: TurnStore, alive: ReadonlySet<string>, now: Now): Tables {
  const loaded = store.load()
  const tables = new Tables(loaded, store.deadlines())
  for (const row of loaded.queues) loadQueue(tables, row, now)
  for (const row of loaded.lanes) loadLane(tables, row)
  const minutes = new Map(loaded.minutes.map(({ queueId, at }) => [queueId, at]))
  for (const queue of tables.queues.values()) queue.minuteAt = minutes.get(queue.id) ?? 0
  for (const row of loaded.backlogs) loadBacklog(tables, row)
  const byId = new Map([...tables.queues.values()].map((queue) => [queue.id, queue]))
  loadBuckets(tables, byId, loaded.buckets, now)
  loadPauseEnds(tables, byId, loaded.pauseEnds)
  loadKept(byId, loaded.kept)
  for (const queue of tables.queues.values()) {
    queue.drained = isDrained(queue)
    queue.emptied = isEmptied(queue)
  }
  for (const row of loaded.active) {
    const job = tables.fromRow(row)
    job.data = undefined
    job.worker = row.worker
    job.logLines = row.logLines
    tables.jobs.set(job.seq, job)
    tables.keys.started(job)
    if (row.remote) keepAway(tables, row, job, now)
    else if (alive.has(row.sessionUuid)) awaitAttach(tables, row, job)
    else {
      tables.abandoned.push(job)
      continue
    }
    setDeadline(tables, row, job, now)
  }
  for (const row of loaded.present) addPresent(tables, row, comesBackBy(tables, row, alive, now))
  return tables
}

/** Returns until when a session may attach again before it counts as lost; monotonic. */
function comesBackBy({ sessions }: Tables, { uuid, remote }: PresentRow, alive: ReadonlySet<string>, { mono }: Now): number {
  // The session has jobs, so its lease decides.
  if (sessions.has(uuid)) return Number.POSITIVE_INFINITY
  if (remote) return mono + LIMITS.leaseMs
  return alive.has(uuid) ? mono + LIMITS.reattachGraceMs : Number.NEGATIVE_INFINITY
}

function loadQueue(tables: Tables, { id, name, settings, paused, pausedKeys, missingMs, missingAt }: QueueRow, now: Now): void {
  const queue = tables.addQueue(name, id)
  queue.settings = settings
  tables.dispatchable.shared.join(queue)
  queue.paused = paused
  queue.fullMono = fullMonoOf(missingMs, missingAt, now)
  if (mayRefuse(settings)) tables.bounded++
  if (settings.empties !== undefined) tables.emptying++
  if (settings.deadLetter !== undefined) tables.deadLettering++
  if (limitsKeys(settings)) queue.keys = new Map()
  for (const key of pausedKeys) tables.keys.key(queue, key).paused = true
}

function loadLane(tables: Tables, row: LaneRow): void {
  const queue = tables.queues.get(row.queue) ?? tables.addQueue(row.queue, row.queueId)
  const lane = tables.addLane(row.queue, row.name, row.id)
  for (const into of [lane, queue, tables.all]) addSums(into, row)
  if (queue.sharing !== undefined) queue.sharing.active += countOf(lane, ACTIVE)
  ;({ paused: lane.paused, usedAt: lane.usedAt, usedEvent: lane.usedEvent } = row)
  lane.window.complete = countOf(lane, WAITING) === 0
}

function loadBacklog(tables: Tables, { id, laneId, key, parked }: KeyBacklogRow): void {
  const { keys } = tables
  const lane = tables.laneOf(laneId)
  const backlog = keys.addBacklog(keys.key(lane.queue, key), lane, id)
  backlog.parked = parked
  backlog.window.complete = false
  keys.releasable.add(backlog)
}

/** Loads buckets. Those that are full by now are forgotten as others are, a slice per turn. */
function loadBuckets({ keys }: Tables, byId: QueuesById, buckets: readonly BucketRow[], now: Now): void {
  for (const { queueId, key, missingMs, missingAt } of buckets)
    keys.buckets.fill(keys.key(queueOf(byId, queueId), key), fullMonoOf(missingMs, missingAt, now))
}

function loadPauseEnds({ dispatchable }: Tables, byId: QueuesById, rows: readonly PauseEndRow[]): void {
  for (const { queueId, part, what, until } of rows) dispatchable.pauseEnds.set({ queue: queueOf(byId, queueId), part, what }, until)
}

function loadKept(byId: QueuesById, rows: readonly KeptCounts[]): void {
  for (const { queueId, completed, failed, cancelled } of rows) {
    const { kept } = queueOf(byId, queueId)
    kept[COMPLETED] = completed
    kept[FAILED] = failed
    kept[CANCELLED] = cancelled
  }
}

type QueuesById = ReadonlyMap<number, Queue>

function queueOf(byId: QueuesById, id: number): Queue {
  const queue = byId.get(id)
  if (queue === undefined) throw new Error(`a row is of an unknown queue ${id}`)
  return queue
}

function awaitAttach(tables: Tables, { sessionUuid }: ActiveRow, job: Job): void {
  const unattached = tables.unattached.get(sessionUuid)
  if (unattached === undefined) tables.unattached.set(sessionUuid, { jobs: new Set([job]), holder: undefined })
  else unattached.jobs.add(job)
}

/** Keeps a job for a session that is away and has a full lease from now on to come back. */
function keepAway(tables: Tables, { sessionUuid, sessionId, worker }: ActiveRow, job: Job, now: Now): void {
  const session = tables.sessions.get(sessionUuid) ?? tables.addSession(introOf(sessionUuid, worker), undefined, now.mono, sessionId)
  job.session = session
  job.grantedMono = now.mono
  session.jobs.add(job)
  session.weight += job.weight
  beginLease(tables, session, job)
}

/** Returns what is known of a session before it attaches: it serves nothing. */
function introOf(uuid: string, worker: string): SessionIntro {
  const limits = { minConcurrency: 0, maxConcurrency: 0, abortGrace: LIMITS.reattachGraceMs }
  return { uuid, worker, host: '', pid: 0, local: false, handlers: [], ...limits }
}

/** Sets what is left of a deadline by the wall clock, at least one heartbeat. The monotonic clock may be another one by now. */
function setDeadline(tables: Tables, { remote }: ActiveRow, job: Job, now: Now): void {
  const { timeout, heartbeatTimeout } = job.policy
  if (job.cancelRequested) {
    job.abort = 'cancel'
    tables.setDeadline(job, now.mono + LIMITS.reattachGraceMs)
    return
  }
  const unlimited = timeout === Number.POSITIVE_INFINITY
  // A run without a deadline has one until its session has come back for it, unless a lease covers that.
  if (unlimited && remote) return
  const leftMs = unlimited ? 0 : Math.min(job.startedAt + timeout - now.wall, timeout)
  tables.setDeadline(job, now.mono + Math.max(leftMs, heartbeatTimeout, LIMITS.reattachGraceMs))
}
