/**
 * A turn's knowledge of the disk beyond the tables. It is read set by set before anything is decided, and kept true during the
 * turn, so that a later command sees what an earlier one did.
 */
import type { RedriveCommand } from '../../commands.ts'
import { type JobKey, sourcedNode } from '../../id.ts'
import type { HeldKey } from '../../keyCommands.ts'
import { ACTIVE, COMPLETED, isFinal } from '../../lifecycle.ts'
import type { ManyCommand } from '../../manageCommands.ts'
import type { KeptMessage, StepResult } from '../../steps.ts'
import { Arrivals } from '../records/arrivals.ts'
import { broken } from '../records/broken.ts'
import type { Settling } from '../records/definition.ts'
import type { DependencyCounter, DueMode, ParentOutcome } from '../records/flowState.ts'
import { DIRTY_DELETE, type Job } from '../records/job.ts'
import type { Key } from '../records/keyBacklog.ts'
import type { Queue } from '../records/lane.ts'
import type { FlowLeftRow, IdempotentHolder, JobRow, NameAndKey, Prunable } from '../records/rows.ts'
import type { Schedule } from '../records/ticks.ts'
import type { Tables } from './tables.ts'
import type { StepMark } from './turnRows.ts'

/** Journals that draw the same number have this many jobs of one place at most, or a look for an id would read ever more rows. */
const SAME_PLACE_MAX = 2

/** Children of one parent that this turn notifies. */
export interface FlowSlice {
  readonly parent: number
  readonly mode: DueMode
  readonly state: ParentOutcome
  readonly children: { readonly seq: number; readonly reported: ParentOutcome }[]
  /** True if these are the last. */
  done: boolean
}

/** Tells the last run of a job: its row says it while it goes on or has ended well, and a row of its own otherwise. */
interface RunMark {
  readonly run: number
  readonly isOwn: boolean
  readonly dropped: boolean
}

function markOf({ run, state, dropped }: Job): RunMark {
  return { run, isOwn: state === ACTIVE || state === COMPLETED, dropped }
}

type IdempotentKey = JobKey & Partial<Pick<IdempotentHolder, 'until'>>

/** Jobs that are to take the defaults of their name, which was defined after them. */
export interface SettlingSlice {
  readonly name: string
  /** The walk that the jobs belong to; another may have begun since. */
  readonly walk: Settling
  readonly jobs: readonly Job[]
  readonly next: number | null
}

export class Facts {
  readonly #tables: Tables
  readonly #jobs = new Map<number, Job>()
  // Each map is created on first use: most turns need few of them, and a map is expensive.
  #idempotent: Map<string, IdempotentKey> | undefined
  #unique: Map<string, JobKey> | undefined
  /** Jobs of producers' journals, by their `node`. Two journals may have drawn the same number. */
  #sourced: Map<number, Job[]> | undefined
  #taken: Map<number, number[]> | undefined
  #offsets: Map<string, number> | undefined
  /** Jobs found by time or by filter, for the decisions that asked for them. */
  due: readonly Job[] = []
  expired: readonly Job[] = []
  prunable: readonly Prunable[] = []
  /** The oldest event that is kept, or the next one if none is; for a new export. */
  firstEvent = 1
  #failed: Map<RedriveCommand, { readonly job: Job; readonly finishedAt: number }[]> | undefined
  #matching: Map<ManyCommand, { readonly jobs: readonly Job[]; readonly next: number | null }> | undefined
  /** The last runs of jobs, as they were when a filter judged them. */
  #runs: Map<number, RunMark> | undefined
  #schedules: Map<string, Schedule> | undefined
  /** Schedules that are due, and schedules whose job has ended. */
  dueSchedules: readonly Schedule[] = []
  freedSchedules: readonly Schedule[] = []
  /** Parked jobs that may take their keys' turns. `taken`: the job already has the turn. */
  readonly turns: { readonly key: Key; readonly job: Job; readonly taken: boolean }[] = []
  settling: SettlingSlice | undefined
  flowSlices: readonly FlowSlice[] = []
  /** True if some children have yet to hear that a parent is live again. */
  flowBack = false
  flowLeft: readonly FlowLeftRow[] = []
  #counters: Map<number, DependencyCounter> | undefined
  #steps: Map<string, StepMark> | undefined
  #results: Map<number, readonly StepResult[]> | undefined
  #messages: Map<string, KeptMessage[]> | undefined
  /** Arrivals in queues that drop their oldest jobs. */
  #arrivals: Map<Queue, Arrivals> | undefined
  /** The number of jobs that the current call has created in each of these queues. */
  readonly fresh = new Map<Queue, number>()

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** Returns the turn's one record of a job: the tables' own if they have it. */
  remember(row: JobRow): Job {
    const known = this.job(row.seq)
    if (known !== undefined) return known
    const job = this.#tables.fromRow(row)
    this.#jobs.set(row.seq, job)
    return job
  }

  /** Does the same as `remember` for a row that was read without its payload. */
  rememberBare(row: JobRow): Job {
    const known = this.job(row.seq)
    if (known !== undefined) return known
    const job = this.remember(row)
    job.data = undefined
    return job
  }

  /** Returns the first failed step of a job, or its result of that name, as on disk. */
  step(seq: number, name?: string): StepMark | undefined {
    return this.#steps?.get(`${seq} ${name ?? ''}`)
  }

  setStep(seq: number, name: string | undefined, mark: StepMark): void {
    this.#steps ??= new Map()
    this.#steps.set(`${seq} ${name ?? ''}`, mark)
  }

  /** Returns the results of a job that were read, of which its run may have missed some. */
  results(seq: number): readonly StepResult[] {
    return this.#results?.get(seq) ?? []
  }

  setResults(seq: number, results: readonly StepResult[]): void {
    this.#results ??= new Map()
    this.#results.set(seq, results)
  }

  /** Takes the oldest message of that name which the job had before this turn. */
  takeMessage(seq: number, name: string): KeptMessage | undefined {
    return this.#messages?.get(`${seq} ${name}`)?.shift()
  }

  setMessages(seq: number, name: string, messages: KeptMessage[]): void {
    this.#messages ??= new Map()
    this.#messages.set(`${seq} ${name}`, messages)
  }

  dependencies(seq: number): DependencyCounter | undefined {
    return this.#counters?.get(seq)
  }

  /** Adds the turn's one counter of a job. */
  addDependencies(counter: DependencyCounter): void {
    this.#counters ??= new Map()
    if (!this.#counters.has(counter.seq)) this.#counters.set(counter.seq, counter)
  }

  setArrivals(queue: Queue, jobs: Job[], complete: boolean): void {
    this.#arrivals ??= new Map()
    this.#arrivals.set(queue, new Arrivals(jobs, complete))
  }

  /** Returns a queue's arrivals. If none were read, none are known: the queue had room enough, or is not set to drop any. */
  arrivals(queue: Queue): Arrivals {
    this.#arrivals ??= new Map()
    const known = this.#arrivals.get(queue) ?? new Arrivals([], false)
    this.#arrivals.set(queue, known)
    return known
  }

  /** Notes a job that has come back to be started. */
  addArrival(job: Job): void {
    const { queue } = job.lane
    if (queue.settings.onFull !== undefined) this.arrivals(queue).add(job)
  }

  /** Notes a new job. */
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

  /** Returns the job that the whole id names, unless this turn has deleted it. */
  find(id: JobKey): Job | undefined {
    const own = this.job(id.seq)
    const job = own?.node === id.node && own.enqueuedAt === id.enqueuedAt ? own : this.#findSourced(id)
    return job === undefined || isDeleted(job) ? undefined : job
  }

  /** Returns the job whose id names its place in a producer's journal. */
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

  /** Notes an id that a producer has said. */
  take({ node, enqueuedAt }: Pick<JobKey, 'node' | 'enqueuedAt'>): void {
    this.#taken ??= new Map()
    const others = this.#taken.get(node)
    if (others === undefined) this.#taken.set(node, [enqueuedAt])
    else others.push(enqueuedAt)
  }

  /** True if a job has this id, as far as this turn has asked, or if so many have its place and number that more are no accident. */
  isTaken({ node, enqueuedAt }: Pick<JobKey, 'node' | 'enqueuedAt'>): boolean {
    const times = this.#taken?.get(node)
    return times !== undefined && (times.length >= SAME_PLACE_MAX || times.includes(enqueuedAt))
  }

  /** Returns the offset that a producer's journal has reached; 0 if nothing of it has come yet. */
  offset(source: string): number {
    return this.#offsets?.get(source) ?? 0
  }

  setOffset(source: string, offset: number): void {
    this.#offsets ??= new Map()
    this.#offsets.set(source, offset)
  }

  /** Returns the jobs that a redrive has asked for. */
  failed(command: RedriveCommand): readonly { readonly job: Job; readonly finishedAt: number }[] {
    return this.#failed?.get(command) ?? []
  }

  /** Adds a job with its place among the failed ones, which an earlier command of the turn may change. */
  addFailed(command: RedriveCommand, job: Job, finishedAt: number): void {
    this.#failed ??= new Map()
    const others = this.#failed.get(command)
    if (others === undefined) this.#failed.set(command, [{ job, finishedAt }])
    else others.push({ job, finishedAt })
  }

  /** Returns the jobs on disk for a slice of a bulk command, newest first, and the place behind which the next slice begins. */
  matching(command: ManyCommand): { readonly jobs: readonly Job[]; readonly next: number | null } {
    return this.#matching?.get(command) ?? { jobs: [], next: null }
  }

  setMatching(command: ManyCommand, jobs: readonly Job[], next: number | null): void {
    this.#matching ??= new Map()
    this.#matching.set(command, { jobs, next })
  }

  noteRuns(jobs: readonly Job[]): void {
    this.#runs ??= new Map()
    for (const job of jobs) if (!this.#runs.has(job.seq)) this.#runs.set(job.seq, markOf(job))
  }

  /** True if a job that a filter has judged by its last run still has that run as its last. */
  hasSameRun(job: Job, ended: ReadonlySet<number>): boolean {
    const [seen, now] = [this.#runs?.get(job.seq), markOf(job)]
    return seen !== undefined && seen.run === now.run && seen.isOwn === now.isOwn && seen.dropped === now.dropped && !ended.has(job.seq)
  }

  schedule(id: string): Schedule | undefined {
    return this.#schedules?.get(id)
  }

  /** Returns the turn's one record of a schedule. */
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

  freeIdempotent(name: string, key: string): void {
    this.#idempotent?.delete(`${name}\0${key}`)
  }

  idempotent(name: string, key: string): JobKey | undefined {
    const first = this.#idempotent?.get(`${name}\0${key}`)
    return first !== undefined && this.#isFree(first) ? undefined : first
  }

  /** True if the key's time is over and this turn has ended its job. A flow's key is free from the next turn on. */
  #isFree({ seq, until }: IdempotentKey): boolean {
    const job = until === seq ? this.job(seq) : undefined
    return job !== undefined && (isFinal(job.state) || isDeleted(job))
  }

  holdIdempotent(name: string, key: string, job: IdempotentKey): void {
    this.#idempotent ??= new Map()
    this.#idempotent.set(`${name}\0${key}`, job)
  }

  /** Forgets every key that names the job. */
  forgetIdempotent(seq: number): void {
    for (const [key, job] of this.#idempotent ?? []) if (job.seq === seq) this.#idempotent?.delete(key)
  }

  /** Returns the live job that holds the unique key. */
  unique(name: string, key: string): JobKey | undefined {
    return this.#unique?.get(`${name}\0${key}`)
  }

  /** Returns the job that a key stands for. */
  holder({ kind, name, key }: HeldKey): JobKey | undefined {
    return kind === 'unique' ? this.unique(name, key) : this.idempotent(name, key)
  }

  holdUnique(name: string, key: string, job: JobKey): void {
    this.#unique ??= new Map()
    const place = `${name}\0${key}`
    const holder = this.#unique.get(place)
    if (holder !== undefined && holder.seq !== job.seq) broken(`job ${job.seq} takes a unique key that job ${holder.seq} holds`)
    this.#unique.set(place, job)
  }

  freeUnique({ name, key }: NameAndKey, { seq }: JobKey): void {
    const place = `${name}\0${key}`
    const holder = this.#unique?.get(place)
    if (holder !== undefined && holder.seq !== seq) broken(`job ${seq} gives a unique key back that job ${holder.seq} holds`)
    this.#unique?.delete(place)
  }
}

/** True if this turn has deleted the job: its record still exists, its row will not. */
export function isDeleted(job: Job): boolean {
  return (job.dirty & DIRTY_DELETE) !== 0
}
