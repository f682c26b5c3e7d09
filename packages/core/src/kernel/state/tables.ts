/**
 * Everything that the engine holds in memory: a function of the store. After a commit that failed the tables are discarded and
 * loaded again, so nothing here is ever undone.
 */
import type { SessionIntro, Vitals } from '../../commands.ts'
import { IndexedHeap } from '../../heap.ts'
import { dataBytes } from '../../job.ts'
import { ACTIVE, WAITING } from '../../lifecycle.ts'
import { broken } from '../records/broken.ts'
import { ConsumerGroup } from '../records/consumerGroup.ts'
import { Definitions } from '../records/definitions.ts'
import { Dispatchable } from '../records/dispatchable.ts'
import type { Job } from '../records/job.ts'
import { countInWindow, isStrict, type KeyBacklog } from '../records/keyBacklog.ts'
import { Keys } from '../records/keys.ts'
import { countOf, type Lane, newLane, newQueue, newSums, type Queue } from '../records/lane.ts'
import type { Deadlines, JobRow, Loaded } from '../records/rows.ts'
import { type ConnectionId, newSession, type Session, takesJobs, type Unattached } from '../records/session.ts'
import { bytesToHold, bytesToRead, hasRoom, jobsToHold, jobsToRead } from '../records/windowShare.ts'
import type { Present } from '../records/workerRegistry.ts'
import { jobFrom } from './fromRow.ts'

export class Tables {
  readonly node: number
  nextSeq: number
  nextEvent: number
  nextSession: number
  #nextLane = 1
  #nextQueue = 1

  readonly queues = new Map<string, Queue>()
  /** The sums of all queues together, kept so that nothing needs to add them up. */
  readonly all = newSums()
  readonly lanesById = new Map<number, Lane>()
  readonly lanesByName = new Map<string, Lane[]>()
  readonly definitions: Definitions
  /** The last event that each export is done with. Finished jobs are kept for exports. */
  readonly exports = new Map<string, number>()

  /** Jobs that run or stand in a window, by seq. */
  readonly jobs = new Map<number, Job>()
  /** Running jobs by deadline. */
  readonly deadlines = new IndexedHeap<Job>(
    (a, b) => a.deadlineMono < b.deadlineMono,
    (job, place) => {
      job.deadlinePlace = place
    },
  )
  readonly sessions = new Map<string, Session>()
  /** Sessions that were reported as attached and not as gone, by their uuid. Some have yet to attach again. */
  readonly present = new Map<string, Present>()
  readonly groups = new Map<string, ConsumerGroup>()
  /** Running jobs whose session lives and has yet to attach, by the session's uuid. */
  readonly unattached = new Map<string, Unattached>()
  /** Connections that spoke for sessions before this turn changed them. They do again if the turn cannot be written. */
  readonly formerHolders = new Map<string, ConnectionId | undefined>()
  /** Running jobs whose process is gone. The first turn recovers them. */
  readonly abandoned: Job[] = []
  /** Runs past their grace period that may still continue, by `seq:run`. */
  readonly zombies = new Map<string, Session>()
  /** Served lanes whose windows run low while more is on disk. */
  readonly needRefill = new Set<Lane>()
  windowedJobs = 0
  /** The bytes of their payloads. */
  windowedBytes = 0
  /** The number of lanes that a worker serves. */
  servedLanes = 0
  /** True if the next turn is to look for children to notify and edges to drop; maybe in vain. */
  flowWork: boolean

  readonly keys = new Keys()
  readonly dispatchable = new Dispatchable(this.groups)
  /** The number of queues that may refuse a job, because they are limited in length or draining. */
  bounded = 0
  /** The number of queues that report the end of their last live job. */
  emptying = 0
  /** The number of queues that name a queue for their dead letters. */
  deadLettering = 0
  /** True if the turn has ended before it looked at all that waits. */
  unfinished = false
  /** The number of jobs that the turn took out of line because their keys hold them back, while it handed out others. */
  setAside = 0
  /** The group that was last handed a job. */
  served: ConsumerGroup | undefined

  /** The earliest end of a lease, maybe too early; monotonic. */
  leaseMono = Number.POSITIVE_INFINITY
  /** The last renewal that was counted, and the last report, for each connection that has sent one. No row has them. */
  readonly renewals = new Map<ConnectionId, number>()
  readonly vitals = new Map<ConnectionId, Vitals>()
  /** The earliest due time and the earliest `expiresAt`; 0 for none. Never too late, maybe too early. */
  dueAt = 0
  expiresAt = 0
  /** The time when the next schedule fires; 0 for none, maybe too early. */
  fireAt = 0
  /** No schedule is checked before: new work was refused when some were due. It is monotonic, because a wall clock may be set. */
  ticksMono = 0
  /** True if no job of any queue may start. */
  paused: boolean
  /** Schedules whose job has ended. A tick may wait for that. */
  readonly freed: Set<string>

  /** Takes the numbers of a store. `loadTables` adds its rows. */
  constructor(loaded: Loaded, earliest: Deadlines) {
    this.node = loaded.node
    this.nextSeq = loaded.nextSeq
    this.nextEvent = loaded.nextEvent
    this.nextSession = loaded.nextSession
    this.#nextLane = loaded.nextLane
    this.#nextQueue = loaded.nextQueue
    this.flowWork = loaded.flowWork
    this.paused = loaded.paused
    this.dueAt = earliest.dueAt
    this.expiresAt = earliest.expiresAt
    this.fireAt = earliest.fireAt
    this.freed = new Set(loaded.freed)
    this.definitions = new Definitions(loaded)
    for (const { name, cursor } of loaded.exports) this.exports.set(name, cursor)
  }

  /** True if more may start than the last turn has seen. */
  get hurried(): boolean {
    return (
      this.unfinished ||
      this.definitions.settling.size > 0 ||
      this.keys.needRefill.size > 0 ||
      this.keys.releasable.size > 0 ||
      this.keys.turns.size > 0
    )
  }

  // Lanes.

  lane(queueName: string, name: string): Lane | undefined {
    return this.queues.get(queueName)?.lanes.get(name)
  }

  /** Returns the lane that a row names. */
  laneOf(id: number): Lane {
    const lane = this.lanesById.get(id)
    if (lane === undefined) throw new Error(`a row is of an unknown lane ${id}`)
    return lane
  }

  addQueue(name: string, id = this.#nextQueue++): Queue {
    const queue = newQueue(id, name, this.all)
    this.queues.set(name, queue)
    return queue
  }

  addLane(queueName: string, name: string, id = this.#nextLane++): Lane {
    const queue = this.queues.get(queueName) ?? this.addQueue(queueName)
    const lane = newLane(id, queue, name)
    queue.lanes.set(name, lane)
    this.lanesById.set(id, lane)
    const namesakes = this.lanesByName.get(name)
    if (namesakes === undefined) this.lanesByName.set(name, [lane])
    else namesakes.push(lane)
    if (!this.definitions.isUnserved(name)) this.beginToServe(lane)
    return lane
  }

  // Waiting jobs.

  /** Lines up a job that has become waiting or has changed its place in line. */
  line(job: Job): void {
    const { lane } = job
    if (lane.groups.length === 0) {
      lane.window.complete = false
      this.keys.enterOutside(job)
      return
    }
    const out = lane.window.insert(job, jobsToHold(this), bytesToHold(this))
    this.#enterMemory(job)
    for (const pushed of out) {
      if (pushed === job) this.#leaveMemory(job)
      else this.#evict(pushed)
    }
    if (lane.queue.keys !== undefined) {
      if (job.windowed) this.keys.enter(job)
      else this.keys.enterOutside(job)
    }
    if (!job.windowed) this.#noteRefill(lane)
    else if (lane.window.first === job) for (const group of lane.groups) group.markReady(lane)
  }

  /** Lines up a job whose payload is only on disk. Jobs behind it leave memory, and are read again together with it. */
  lineFromDisk(job: Job): void {
    const { lane } = job
    for (const gone of lane.window.cutAt(job)) this.#evict(gone)
    this.keys.enterOutside(job)
    this.#noteRefill(lane)
  }

  /** Takes a waiting job out of the line, and out of memory if it stands there. */
  unline(job: Job): void {
    if (job.state !== WAITING) return
    const { windowed } = job
    if (windowed) {
      job.lane.window.remove(job)
      this.#leaveMemory(job)
      this.#noteRefill(job.lane)
    }
    this.keys.leave(job, windowed)
  }

  /** Takes a waiting job out of the line because it starts. It stays in `jobs`. */
  take(job: Job): void {
    job.lane.window.remove(job)
    this.#leaveWindows(job)
    this.#noteRefill(job.lane)
    if (job.lane.queue.keys === undefined) return
    // Before the job leaves the line, so that its key exists throughout.
    this.keys.started(job)
    this.keys.leave(job, true)
  }

  /** Adds the next jobs of a lane, as read from disk. */
  refill(lane: Lane, rows: readonly JobRow[], complete: boolean): void {
    this.needRefill.delete(lane)
    const jobs = rows.map((row) => this.fromRow(row))
    lane.window.extend(jobs, complete)
    for (const job of jobs) this.#enterMemory(job)
    if (lane.queue.keys !== undefined) {
      for (const job of jobs) this.keys.refilled(job)
      this.keys.overfilled.add(lane)
    }
    for (const group of lane.groups) group.markReady(lane)
  }

  // Parked jobs.

  /** Parks a job that stands in its lane's window and is held back by its key. */
  shelve(job: Job, backlog: KeyBacklog): void {
    job.lane.window.remove(job)
    this.#leaveMemory(job)
    this.#noteRefill(job.lane)
    countInWindow(backlog, job, -1)
    this.park(job, backlog)
  }

  /** Parks a waiting job that stands in no line and is held back by its key. */
  park(job: Job, backlog: KeyBacklog): void {
    this.#enterMemory(job)
    // Jobs that stand by arrival are let go as the store says.
    const gone = this.keys.park(job, backlog, hasRoom(this) && !isStrict(backlog))
    for (const left of gone) this.#leaveMemory(left)
    // The job is not among those that left if it was cut off before it stood there.
    if (!job.windowed && !gone.includes(job)) this.#leaveMemory(job)
  }

  /** Takes a job out of its backlog: it is let go, or gone. */
  unpark(job: Job): void {
    if (job.windowed) {
      job.parked?.window.remove(job)
      this.#leaveMemory(job)
    }
    this.keys.unpark(job)
  }

  #enterMemory(job: Job): void {
    this.windowedJobs++
    this.windowedBytes += dataBytes(job.data)
    this.jobs.set(job.seq, job)
  }

  /** Removes a job from memory. It stays in line on disk. */
  #evict(job: Job): void {
    const { lane, seq, passedMono } = job
    this.#leaveMemory(job)
    if (passedMono >= 0) lane.passed = { seq, mono: passedMono }
    this.keys.evict(job)
  }

  #leaveMemory(job: Job): void {
    this.#leaveWindows(job)
    if (!this.jobs.delete(job.seq)) broken(`job ${job.seq} leaves memory, and is not there`)
  }

  #leaveWindows(job: Job): void {
    this.windowedJobs--
    this.windowedBytes -= dataBytes(job.data)
    if (this.windowedJobs < 0 || this.windowedBytes < 0) broken(`windows hold ${this.windowedJobs} jobs after job ${job.seq}`)
  }

  /** Adds the next parked jobs of a backlog, as read from disk. */
  refillBacklog(backlog: KeyBacklog, rows: readonly JobRow[], complete: boolean): void {
    this.keys.needRefill.delete(backlog)
    this.keys.releasable.add(backlog)
    const jobs = rows.map((row) => this.fromRow(row))
    backlog.window.extend(jobs, complete)
    for (const job of jobs) this.#enterMemory(job)
  }

  #noteRefill(lane: Lane): void {
    const { window, groups } = lane
    if (window.complete || groups.length === 0) return
    if (window.size * 2 < jobsToRead(this) && window.bytes * 2 < bytesToRead(this)) this.needRefill.add(lane)
  }

  // Sessions.

  addSession(intro: SessionIntro, connection: ConnectionId | undefined, renewedMono: number, id = this.nextSession++): Session {
    const key = ConsumerGroup.keyOf(intro)
    let group = this.groups.get(key)
    if (group === undefined) {
      group = new ConsumerGroup(key, intro)
      this.groups.set(key, group)
      for (const name of group.names) {
        if (this.definitions.isUnserved(name)) continue
        for (const lane of this.lanesByName.get(name) ?? []) if (group.serves(lane.queue.name, name)) this.#serve(group, lane)
      }
    }
    const session = newSession(id, intro, connection, group, renewedMono)
    group.sessions.add(session)
    this.sessions.set(intro.uuid, session)
    return session
  }

  /** Notes a session's holder before the turn removes it. The first one noted is the one from before the turn. */
  noteHolder(uuid: string, holder: ConnectionId | undefined): void {
    if (!this.formerHolders.has(uuid)) this.formerHolders.set(uuid, holder)
  }

  removeSession(session: Session): void {
    this.sessions.delete(session.intro.uuid)
    this.noteHolder(session.intro.uuid, session.holder)
    this.#markFilled(session)
    const { group } = session
    group.sessions.delete(session)
    if (session.zombies > 0) for (const [key, owner] of this.zombies) if (owner === session) this.zombies.delete(key)
    if (group.sessions.size > 0) return
    this.groups.delete(group.key)
    for (const lane of group.lanes) this.#unserve(group, lane)
  }

  /** Runs after any change of what a session runs or may take. Below its minimum it is to be filled up to its maximum. */
  weigh(session: Session): void {
    const { intro, weight } = session
    if (!takesJobs(session) || weight >= intro.maxConcurrency) this.#markFilled(session)
    else if (!session.underfilled && weight < intro.minConcurrency) {
      session.underfilled = true
      session.group.underfilled.add(session)
    }
  }

  #markFilled(session: Session): void {
    if (!session.underfilled) return
    session.underfilled = false
    session.group.underfilled.delete(session)
  }

  /** Serves a lane by all groups that name it in its queue. */
  beginToServe(lane: Lane): void {
    for (const group of this.groups.values()) if (group.serves(lane.queue.name, lane.name)) this.#serve(group, lane)
  }

  #serve(group: ConsumerGroup, lane: Lane): void {
    if (group.lanes.has(lane)) return // The name was served, and then settled again.
    group.lanes.add(lane)
    if (lane.groups.push(group) === 1) this.servedLanes++
    group.markReady(lane)
    this.#noteRefill(lane)
  }

  #unserve(group: ConsumerGroup, lane: Lane): void {
    const index = lane.groups.indexOf(group)
    if (index < 0) broken(`a group leaves lane ${lane.id}, and does not serve it`)
    lane.groups.splice(index, 1)
    if (lane.groups.length > 0) return
    this.servedLanes--
    this.needRefill.delete(lane)
    for (const job of lane.window.clear()) this.#evict(job)
    lane.window.complete = countOf(lane, WAITING) === 0
  }

  /** Returns the jobs that run. */
  running(): Job[] {
    return [...this.jobs.values()].filter((job) => job.state === ACTIVE)
  }

  // Time.

  noteDue(runAt: number): void {
    if (this.dueAt === 0 || runAt < this.dueAt) this.dueAt = runAt
  }

  noteExpiry(expiresAt: number): void {
    if (expiresAt !== 0 && (this.expiresAt === 0 || expiresAt < this.expiresAt)) this.expiresAt = expiresAt
  }

  noteFire(fireAt: number): void {
    if (fireAt !== 0 && (this.fireAt === 0 || fireAt < this.fireAt)) this.fireAt = fireAt
  }

  /** Sets the time from which on something of the session's may be lost. */
  setLease(session: Session, leaseMono: number): void {
    session.leaseMono = leaseMono
    if (leaseMono < this.leaseMono) this.leaseMono = leaseMono
  }

  setDeadline(job: Job, deadlineMono: number): void {
    job.deadlineMono = deadlineMono
    if (job.deadlinePlace >= 0) this.deadlines.update(job.deadlinePlace)
    else this.deadlines.push(job)
  }

  clearDeadline(job: Job): void {
    if (job.deadlinePlace >= 0) this.deadlines.removeAt(job.deadlinePlace)
  }

  // Records.

  fromRow(row: JobRow): Job {
    const backlog = row.backlogId === 0 ? undefined : this.keys.backlogsById.get(row.backlogId)
    return jobFrom(row, this.laneOf(row.laneId), backlog)
  }
}
