/**
 * Checks invariant 18, and whatever else must hold between two turns: the tables are what a rebuild from the store would give.
 * Throws an error that names the first difference.
 */

import { rebuilt, tableFacts } from '../../../testkit/src/rebuilt.ts'
import { leaseEndMono } from '../kernel/jobs/lease.ts'
import { exclusiveKey } from '../kernel/records/exclusiveKey.ts'
import { attemptOf, type Job } from '../kernel/records/job.ts'
import type { Lane } from '../kernel/records/lane.ts'
import type { JobRow } from '../kernel/records/rows.ts'
import type { Tables } from '../kernel/state/tables.ts'
import { ACTIVE, isFinal, isLive, SCHEDULED, STATES, WAITING } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import { parsePolicy } from '../policy.ts'
import { auditFlows } from './auditFlows.ts'
import { keyOf, type MemoryStore } from './memoryStore.ts'

/** @param isLowered an update may have set `maxAttempts` below the attempts that a job has used */
export function audit(store: MemoryStore, tables: Tables, isLowered = false): void {
  if (!isLowered) auditAttempts(store)
  auditCounters(store, tables)
  auditKept(store, tables)
  expectSame('rebuilt', tableFacts(tables), rebuilt(store))
  auditWindows(store, tables)
  auditBacklogs(store, tables)
  auditTurns(store, tables)
  auditRunning(store, tables)
  auditDeadlines(store, tables)
  auditKeys(store)
  auditFlows(store)
}

function expectSame(what: string, live: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(live), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: in the tables ${a}, in the store ${b}`)
}

function expectTrue(what: string, holds: boolean): void {
  if (!holds) throw new Error(what)
}

function auditAttempts(store: MemoryStore): void {
  for (const row of store.rows.values()) {
    const { maxAttempts } = parsePolicy(row.policy)
    expectTrue(`job ${row.seq}: attempt ${row.run - row.uncounted} of ${maxAttempts}`, row.run - row.uncounted <= maxAttempts)
  }
}

/** The counters equal the counts of rows, in the file and in memory. */
function auditCounters(store: MemoryStore, tables: Tables): void {
  const counted = new Map<number, number[]>()
  const retrying = new Map<number, number>()
  for (const { laneId, state, run, uncounted } of store.rows.values()) {
    const counts = counted.get(laneId) ?? [0, 0, 0, 0, 0, 0, 0]
    counts[state] = (counts[state] as number) + 1
    counted.set(laneId, counts)
    if (state === SCHEDULED && run > uncounted) retrying.set(laneId, (retrying.get(laneId) ?? 0) + 1)
  }
  expectSame('lanes', [...tables.lanesById.keys()].sort(), [...store.lanes.keys()].sort())
  for (const { id, counts, totals, retrying: stored, usedAt, usedEvent } of store.lanes.values()) {
    const lane = tables.lanesById.get(id) as Lane
    expectSame(`rows of lane ${id}`, counts, counted.get(id) ?? [0, 0, 0, 0, 0, 0, 0])
    expectSame(`counters of lane ${id}`, lane.counts, counts)
    expectSame(`totals of lane ${id}`, lane.totals, totals)
    expectSame(`retrying jobs of lane ${id}`, [lane.retrying, stored], Array(2).fill(retrying.get(id) ?? 0))
    expectSame(`last use of lane ${id}`, [lane.usedAt, lane.usedEvent], [usedAt, usedEvent])
    expectTrue(`lane ${id} is still marked as counted`, !lane.counted)
  }
}

/** The numbers of finished jobs with a `keep` of their own equal the counts of rows. */
function auditKept(store: MemoryStore, tables: Tables): void {
  for (const { id, kept } of tables.queues.values()) {
    const counted = [0, 0, 0, 0, 0, 0, 0]
    for (const { laneId, state, policy } of store.rows.values())
      if (isFinal(state) && store.lanes.get(laneId)?.queueId === id && parsePolicy(policy).keep !== undefined)
        counted[state] = (counted[state] as number) + 1
    expectSame(`kept jobs of queue ${id}`, kept, counted)
  }
}

/** Each window is a prefix of its lane's order, its jobs equal their rows, and no lane is stranded. */
function auditWindows(store: MemoryStore, tables: Tables): void {
  let windowed = 0
  let bytes = 0
  for (const lane of tables.lanesById.values()) {
    const { window, groups } = lane
    const line = store.window(lane.id, undefined, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY).rows
    const jobs = Array.from({ length: window.size }, (_, index) => window.at(index) as Job)
    windowed += jobs.length
    bytes += window.bytes
    expectSame(`window of lane ${lane.id}`, jobs.map(waiting), line.slice(0, jobs.length).map(waitingRow))
    for (const job of jobs) {
      expectTrue(`job ${job.seq} is marked as windowed and known`, job.windowed && tables.jobs.get(job.seq) === job)
      expectTrue(`job ${job.seq} has its payload`, job.data !== undefined)
    }
    if (window.complete) expectSame(`complete window of lane ${lane.id}`, jobs.length, line.length)
    expectTrue(`window of lane ${lane.id} holds ${jobs.length}`, jobs.length <= LIMITS.windowJobs)
    expectTrue(`window of lane ${lane.id}, which nobody serves, is empty`, groups.length > 0 || jobs.length === 0)
    for (const group of groups) {
      if (jobs.length > 0 && (lane.paused || lane.queue.suspended)) continue
      if (jobs.length > 0)
        expectTrue(`lane ${lane.id} is ready for its group`, group.tierOf(lane.queue).get(lane.queue)?.has(lane) === true)
      else expectTrue(`lane ${lane.id} is to be filled`, line.length === 0 || tables.needRefill.has(lane))
    }
  }
  for (const { window } of tables.keys.backlogsById.values()) {
    windowed += window.size
    bytes += window.bytes
  }
  expectSame('served lanes', tables.servedLanes, [...tables.lanesById.values()].filter(({ groups }) => groups.length > 0).length)
  expectSame('windowed jobs', tables.windowedJobs, windowed)
  expectSame('bytes of windowed jobs', tables.windowedBytes, bytes)
  const active = [...tables.jobs.values()].filter((job) => job.state === ACTIVE).length
  expectSame('jobs in memory', tables.jobs.size, windowed + active)
}

function waiting({ seq, state, priority, weight, runAt, run, uncounted, expiresAt, data, checkpoint }: Job) {
  return { seq, state, priority, weight, runAt, run, uncounted, expiresAt, data, checkpoint }
}

function waitingRow({ seq, priority, weight, runAt, run, uncounted, expiresAt, data, checkpoint }: JobRow) {
  return { seq, state: WAITING, priority, weight, runAt, run, uncounted, expiresAt, data, checkpoint }
}

/** All jobs that a backlog counts exist, and its window is a prefix of the jobs parked behind it. */
function auditBacklogs(store: MemoryStore, tables: Tables): void {
  const keys = [...tables.queues.values()].flatMap((queue) => [...(queue.keys?.values() ?? [])])
  const backlogs = keys.flatMap((key) => [...key.backlogs.values()])
  expectSame('backlogs by id', [...tables.keys.backlogsById.keys()].sort(), backlogs.map(({ id }) => id).sort())
  for (const key of keys) {
    const rows = [...store.rows.values()].filter(
      ({ laneId, extras }) => store.lanes.get(laneId)?.queueId === key.queue.id && extras?.concurrencyKey === key.text,
    )
    expectSame(`running jobs of key ${key.text}`, key.active, rows.filter(({ state }) => state === ACTIVE).length)
    expectTrue(`key ${key.text} is of use`, key.active + key.backlogs.size > 0 || key.paused || key.bucketPlace >= 0)
    expectTrue(`key ${key.text} is still marked as noted`, !key.noted && !key.bucketNoted)
  }
  expectSame(
    'buckets that are not full',
    keys
      .filter(({ bucketPlace }) => bucketPlace >= 0)
      .map(({ queue, text }) => keyOf(`${queue.id}`, text))
      .sort(),
    [...store.buckets.keys()].sort(),
  )
  for (const backlog of backlogs) {
    const what = `backlog ${backlog.id} of key ${backlog.key.text}`
    const rows = [...store.rows.values()].filter(
      ({ laneId, extras }) => laneId === backlog.lane.id && extras?.concurrencyKey === backlog.key.text,
    )
    const inMemory = (row: JobRow) => tables.jobs.get(row.seq)?.windowed === true
    const inWindow = rows.filter(({ state, backlogId }) => state === WAITING && backlogId === 0)
    expectSame(`jobs in windows of ${what}`, backlog.inWindow, inWindow.filter(inMemory).length)
    expectTrue(
      `jobs behind the windows of ${what}: ${backlog.beyondWindow}`,
      backlog.beyondWindow >= 0 && backlog.beyondWindow <= inWindow.filter((row) => !inMemory(row)).length,
    )
    const { rows: parked } = store.parked(backlog.id, undefined, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
    expectSame(`parked jobs of ${what}`, backlog.parked, parked.length)
    const jobs = Array.from({ length: backlog.window.size }, (_, index) => backlog.window.at(index) as Job)
    expectSame(`window of ${what}`, jobs.map(waiting), parked.slice(0, jobs.length).map(waitingRow))
    for (const job of jobs) expectTrue(`job ${job.seq} is parked and known`, job.parked === backlog && tables.jobs.get(job.seq) === job)
    if (backlog.window.complete) expectSame(`complete window of ${what}`, jobs.length, parked.length)
    expectTrue(`${what} is still marked as noted`, !backlog.noted)
    expectTrue(`${what} is of use`, backlog.inWindow + backlog.beyondWindow + backlog.parked > 0)
  }
  for (const { seq, backlogId } of store.rows.values())
    expectTrue(`job ${seq} is parked behind no backlog`, backlogId === 0 || tables.keys.backlogsById.has(backlogId))
}

/** In queues that keep an order, jobs in line, running, or that have run have their key's turn, and no others have. */
function auditTurns(store: MemoryStore, tables: Tables): void {
  const held = new Map<string, number>()
  for (const { seq, laneId, state, backlogId, extras } of store.rows.values()) {
    const { queue } = tables.laneOf(laneId)
    if (extras?.concurrencyKey === undefined || queue.settings.keyOrder !== 'strict' || !isLive(state)) continue
    const key = keyOf(`${queue.id}`, extras.concurrencyKey)
    const holds = store.turnsOf.get(key) === seq
    if (holds) held.set(key, seq)
    expectTrue(`job ${seq} has its turn`, holds || (state !== ACTIVE && (state !== WAITING || backlogId !== 0)))
    expectTrue(`job ${seq} is parked by arrival`, backlogId <= 0)
  }
  expectSame('turns', [...store.turnsOf].sort(), [...held].sort())
}

/** Sessions hold exactly their running jobs, and stand in line for more exactly if they have room. */
function auditRunning(store: MemoryStore, tables: Tables): void {
  for (const job of tables.jobs.values()) {
    expectTrue(`job ${job.seq} is marked as touched`, job.dirty === 0)
    expectTrue(`job ${job.seq} in memory is ${STATES[job.state]}`, job.state === ACTIVE || job.state === WAITING)
    if (job.state !== ACTIVE) continue
    const bounded = job.abort !== undefined || job.policy.timeout !== Number.POSITIVE_INFINITY
    const timed = bounded || (job.session === undefined && !tables.abandoned.includes(job))
    const place = [...tables.deadlines.values()].indexOf(job)
    expectSame(`place of job ${job.seq} among the deadlines`, job.deadlinePlace, place)
    if (!tables.abandoned.includes(job)) expectSame(`job ${job.seq} has a deadline`, place >= 0, timed)
    expectTrue(`job ${job.seq} is of its session`, job.session === undefined || job.session.jobs.has(job))
    expectTrue(`attempt ${attemptOf(job)} of job ${job.seq}`, attemptOf(job) >= 1)
  }
  for (const session of tables.sessions.values()) {
    const { intro, group, jobs, weight, draining } = session
    let sum = 0
    for (const job of jobs) {
      expectTrue(
        `job ${job.seq} runs for ${intro.uuid}`,
        job.state === ACTIVE && job.session === session && tables.jobs.get(job.seq) === job,
      )
      expectSame(`session of job ${job.seq}`, store.sessions.get(job.sessionId)?.uuid, intro.uuid)
      sum += job.weight
    }
    expectSame(`weight of ${intro.uuid}`, weight, sum)
    for (const job of session.jobs)
      if (!intro.local) expectTrue(`the lease of job ${job.seq}`, session.leaseMono <= leaseEndMono(session, job))
    expectTrue(`the lease of ${intro.uuid}`, tables.leaseMono <= session.leaseMono)
    expectSame(`hunger of ${intro.uuid}`, session.underfilled, group.underfilled.has(session))
    const takesNone = draining || session.silent || session.connection === undefined || intro.paused === true
    if (takesNone || weight >= intro.maxConcurrency) expectTrue(`${intro.uuid} takes no more`, !session.underfilled)
    else if (weight < intro.minConcurrency) expectTrue(`${intro.uuid} takes more`, session.underfilled)
    expectTrue(`zombies of ${intro.uuid}`, session.zombies === [...tables.zombies.values()].filter((owner) => owner === session).length)
  }
  for (const owner of tables.zombies.values()) expectTrue(`a zombie's session is there`, tables.sessions.get(owner.intro.uuid) === owner)
}

/** The times are never too late, maybe too early. */
function auditDeadlines(store: MemoryStore, tables: Tables): void {
  const { dueAt, expiresAt, fireAt } = store.deadlines()
  if (fireAt !== 0) expectTrue(`fires at ${tables.fireAt}, in the store ${fireAt}`, tables.fireAt !== 0 && tables.fireAt <= fireAt)
  for (const id of store.load().freed) expectTrue(`schedule ${id} waits for a job that has ended`, tables.freed.has(id))
  if (dueAt !== 0) expectTrue(`due at ${tables.dueAt}, in the store ${dueAt}`, tables.dueAt !== 0 && tables.dueAt <= dueAt)
  if (expiresAt !== 0)
    expectTrue(`expires at ${tables.expiresAt}, in the store ${expiresAt}`, tables.expiresAt !== 0 && tables.expiresAt <= expiresAt)
}

/** The unique keys are held by exactly the live jobs. */
function auditKeys(store: MemoryStore): void {
  const holders = new Map<string, number>()
  for (const row of store.rows.values()) {
    const held = exclusiveKey({ ...row, lane: { name: store.lanes.get(row.laneId)?.name ?? '' } })
    if (held === undefined || !isLive(row.state)) continue
    const key = keyOf(held.name, held.key)
    expectTrue(`the unique key of job ${row.seq} is held twice`, !holders.has(key))
    holders.set(key, row.seq)
  }
  expectSame('unique keys', [...store.uniqueKeys].sort(), [...holders].sort())
  for (const row of store.rows.values()) if (row.state === SCHEDULED) expectTrue(`job ${row.seq} has a due time`, row.runAt > 0)
}
