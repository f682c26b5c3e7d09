/**
 * What a turn knows of the disk beyond the tables: read set by set before anything is decided, and kept true while the turn
 * goes on, so that a later command sees what an earlier one did.
 */
import type { RedriveCommand } from '../commands.ts'
import type { Settling } from '../definition.ts'
import type { DueMode, FlowGate, Told } from '../flow.ts'
import { type JobKey, sourcedNode } from '../id.ts'
import { type Job, TOUCH_DELETE } from '../job.ts'
import { isFinal } from '../lifecycle.ts'
import type { ManyCommand } from '../manageCommands.ts'
import type { Schedule } from '../schedule.ts'
import type { FlowLeftRow, IdempotentHolder, JobRow, KeyHolder, Prunable } from '../store.ts'
import type { Key } from '../tables/gate.ts'
import type { Queue } from '../tables/lane.ts'
import type { Tables } from '../tables/tables.ts'
import { Arrivals } from './arrivals.ts'

/** Children of one parent that this turn tells. */
export interface FlowSlice {
  readonly parent: number
  readonly mode: DueMode
  readonly state: Told
  readonly children: { readonly seq: number; readonly told: Told }[]
  /** Whether these are the last. */
  done: boolean
}

type IdempotentKey = JobKey & Partial<Pick<IdempotentHolder, 'until'>>

/** Jobs that are to take the defaults of their name, which was defined after them. */
export interface SettlingSlice {
  readonly name: string
  /** The walk that they are of: another may have begun since. */
  readonly walk: Settling
  readonly jobs: readonly Job[]
  readonly next: number | null
}

export class Facts {
  readonly #tables: Tables
  readonly #jobs = new Map<number, Job>()
  // Each made when something is first put there: most turns have no use for most of them, and a map is dear.
  #idempotent: Map<string, IdempotentKey> | undefined
  #unique: Map<string, JobKey> | undefined
  /** Jobs of producers' journals, by their `node`: two journals may have drawn the same number. */
  #sourced: Map<number, Job[]> | undefined
  #marks: Map<string, number> | undefined
  /** Jobs found by time or by filter, for the decisions that asked for them. */
  due: readonly Job[] = []
  expired: readonly Job[] = []
  prunable: readonly Prunable[] = []
  /** The oldest that is kept, or the next one; for a new export. */
  firstEvent = 1
  #failed: Map<RedriveCommand, { readonly job: Job; readonly finishedAt: number }[]> | undefined
  #matching: Map<ManyCommand, { readonly jobs: readonly Job[]; readonly next: number | null }> | undefined
  #schedules: Map<string, Schedule> | undefined
  /** Schedules that are due, and those whose job has ended. */
  dueSchedules: readonly Schedule[] = []
  freedSchedules: readonly Schedule[] = []
  /** Parked jobs that may take their keys' turns; `taken`: or have had them. */
  readonly turns: { readonly key: Key; readonly job: Job; readonly taken: boolean }[] = []
  settling: SettlingSlice | undefined
  flowSlices: readonly FlowSlice[] = []
  /** Whether some children have yet to hear that a parent lives again. */
  flowBack = false
  flowLeft: readonly FlowLeftRow[] = []
  #gates: Map<number, FlowGate> | undefined
  /** Of queues that drop their oldest. */
  #arrivals: Map<Queue, Arrivals> | undefined
  /** How many jobs the call that is decided has created in them. */
  readonly fresh = new Map<Queue, number>()

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** One record per job and turn: the tables' own where they have it. */
  remember(row: JobRow): Job {
    const known = this.job(row.seq)
    if (known !== undefined) return known
    const job = this.#tables.fromRow(row)
    this.#jobs.set(row.seq, job)
    return job
  }

  /** As `remember`, of a row that was read without its payload. */
  rememberBare(row: JobRow): Job {
    const known = this.job(row.seq)
    if (known !== undefined) return known
    const job = this.remember(row)
    job.data = undefined
    return job
  }

  gate(seq: number): FlowGate | undefined {
    return this.#gates?.get(seq)
  }

  /** One gate per job and turn. */
  addGate(gate: FlowGate): void {
    this.#gates ??= new Map()
    if (!this.#gates.has(gate.seq)) this.#gates.set(gate.seq, gate)
  }

  setArrivals(queue: Queue, jobs: Job[], complete: boolean): void {
    this.#arrivals ??= new Map()
    this.#arrivals.set(queue, new Arrivals(jobs, complete))
  }

  /** Where nothing was read, nothing is known: the queue had room enough, or was not told to drop any. */
  arrivals(queue: Queue): Arrivals {
    this.#arrivals ??= new Map()
    const known = this.#arrivals.get(queue) ?? new Arrivals([], false)
    this.#arrivals.set(queue, known)
    return known
  }

  /** A job has come back to be started. */
  addArrival(job: Job): void {
    const { queue } = job.lane
    if (queue.settings.onFull !== undefined) this.arrivals(queue).add(job)
  }

  /** A job is new. */
  addFresh(job: Job): void {
    const { queue } = job.lane
    if (queue.settings.onFull === undefined) return
    this.fresh.set(queue, (this.fresh.get(queue) ?? 0) + 1)
    this.arrivals(queue).add(job)
  }

  add(job: Job): void {
    this.#jobs.set(job.seq, job)
  }

  job(seq: number): Job | undefined {
    return this.#tables.jobs.get(seq) ?? this.#jobs.get(seq)
  }

  /** The job that the whole id names; not one that this turn has deleted. */
  find(id: JobKey): Job | undefined {
    const own = this.job(id.seq)
    const job = own?.node === id.node && own.enqueuedAt === id.enqueuedAt ? own : this.#findSourced(id)
    return job === undefined || isDeleted(job) ? undefined : job
  }

  /** The id says the job's place in a producer's journal. */
  #findSourced({ seq, node, enqueuedAt }: JobKey): Job | undefined {
    return this.#sourced?.get(sourcedNode(seq, node))?.find((job) => job.enqueuedAt === enqueuedAt)
  }

  rememberSourced(row: JobRow): Job {
    const job = this.remember(row)
    this.addSourced(job)
    return job
  }

  addSourced(job: Job): void {
    this.#sourced ??= new Map()
    const others = this.#sourced.get(job.node)
    if (others === undefined) this.#sourced.set(job.node, [job])
    else others.push(job)
  }

  /** How far a producer's journal has come; 0 where it has said nothing yet. */
  mark(source: string): number {
    return this.#marks?.get(source) ?? 0
  }

  setMark(source: string, mark: number): void {
    this.#marks ??= new Map()
    this.#marks.set(source, mark)
  }

  /** The jobs that a redrive has asked for. */
  failed(command: RedriveCommand): readonly { readonly job: Job; readonly finishedAt: number }[] {
    return this.#failed?.get(command) ?? []
  }

  /** With its place among the failed ones: an earlier command of the turn may change that. */
  addFailed(command: RedriveCommand, job: Job, finishedAt: number): void {
    this.#failed ??= new Map()
    const others = this.#failed.get(command)
    if (others === undefined) this.#failed.set(command, [{ job, finishedAt }])
    else others.push({ job, finishedAt })
  }

  /** The jobs on disk that a slice of many is about, newest first, and the place behind which the next begins. */
  matching(command: ManyCommand): { readonly jobs: readonly Job[]; readonly next: number | null } {
    return this.#matching?.get(command) ?? { jobs: [], next: null }
  }

  setMatching(command: ManyCommand, jobs: readonly Job[], next: number | null): void {
    this.#matching ??= new Map()
    this.#matching.set(command, { jobs, next })
  }

  schedule(id: string): Schedule | undefined {
    return this.#schedules?.get(id)
  }

  /** One record per schedule and turn. */
  rememberSchedule(read: Schedule): Schedule {
    this.#schedules ??= new Map()
    const known = this.#schedules.get(read.id)
    if (known !== undefined) return known
    this.#schedules.set(read.id, read)
    return read
  }

  forgetSchedule(id: string): void {
    this.#schedules?.delete(id)
  }

  idempotent(name: string, key: string): JobKey | undefined {
    const first = this.#idempotent?.get(`${name}\0${key}`)
    return first !== undefined && this.#isFree(first) ? undefined : first
  }

  /** Its time is over, and this turn has ended its job. A flow's key is free from the next turn on. */
  #isFree({ seq, until }: IdempotentKey): boolean {
    const job = until === seq ? this.job(seq) : undefined
    return job !== undefined && (isFinal(job.state) || isDeleted(job))
  }

  holdIdempotent(name: string, key: string, job: IdempotentKey): void {
    this.#idempotent ??= new Map()
    this.#idempotent.set(`${name}\0${key}`, job)
  }

  /** Whatever keys name that job. */
  forgetIdempotent(seq: number): void {
    for (const [key, job] of this.#idempotent ?? []) if (job.seq === seq) this.#idempotent?.delete(key)
  }

  /** The live job that holds the unique key. */
  unique(name: string, key: string): JobKey | undefined {
    return this.#unique?.get(`${name}\0${key}`)
  }

  holdUnique(name: string, key: string, job: JobKey): void {
    this.#unique ??= new Map()
    this.#unique.set(`${name}\0${key}`, job)
  }

  freeUnique(name: string, key: string): void {
    this.#unique?.delete(`${name}\0${key}`)
  }

  addHolders(idempotent: readonly IdempotentHolder[], unique: readonly KeyHolder[]): void {
    for (const holder of idempotent) this.holdIdempotent(holder.name, holder.key, holder)
    for (const holder of unique) this.holdUnique(holder.name, holder.key, holder)
  }
}

/** Deleted by this turn: its record is still there, its row will not be. */
export function isDeleted(job: Job): boolean {
  return (job.touched & TOUCH_DELETE) !== 0
}
