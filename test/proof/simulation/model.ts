/**
 * What every job must be, from the events of committed turns alone: a naive book, kept beside the engine's own. Each step is held
 * against the lifecycle, the fence, the attempts, the due time and the reasons that somebody has given for it.
 */
import {
  ACTIVE,
  BLOCKED,
  CANCELLED,
  COMPLETED,
  type EventType,
  FAILED,
  formatId,
  type JobKey,
  type RunKey,
  SCHEDULED,
  type StateCode,
  WAITING,
} from '@millrace/core'
import { attemptOf, DROPPED, type Effects, type EventNote, type Job, type SystemEventNote } from '@millrace/core/kernel'
import { opened } from './codec.ts'
import type { Edge } from './database.ts'
import { DeadLetters, letterOf } from './deadLetters.ts'
import { Drops } from './drops.ts'
import { FlowBook, type JoinedGroup } from './flowBook.ts'
import { LATE, LATER, QUEUES, WRONG_PARENTS } from './handlers.ts'
import type { History } from './history.ts'
import { Limits } from './limits.ts'
import { Pauses } from './pauses.ts'
import type { Requests } from './requests.ts'
import { Kept, type KeptOptions } from './retention.ts'
import { SystemEventBook, type SystemEventBookOptions } from './systemEventBook.ts'

export interface Tracked {
  readonly seq: number
  readonly id: string
  readonly number: number
  readonly name: string
  readonly queue: string
  /** Undefined once it is released. */
  uniqueKey: string | undefined
  /** The unique key that it was created with. */
  readonly firstKey: string | undefined
  /** The unique key is held until it starts. */
  readonly untilStart: boolean
  /** The turn of its first start. */
  letGoTurn: number
  /** The run with whose end it has got its ttl again, though a snooze of it was said; 0 for none. */
  ttlBackRun: number
  /** Of a trailing debounce: held until it starts. */
  readonly debounceKey: string | undefined
  readonly key: string | undefined
  readonly schedule: string | undefined
  /** Those that it was created with. */
  readonly tags: readonly string[] | undefined
  readonly maxAttempts: number
  /** The log lines that each of its runs keeps. */
  readonly logLines: number
  readonly maxLost: number | undefined
  /** How long it is kept once it has ended; undefined: as its queue says. */
  readonly keep: number | undefined
  /** When it is too old for another retry; wall time. */
  oldAt: number
  readonly maxAge: number
  readonly timeout: number
  readonly heartbeatTimeout: number
  readonly backoff: Job['policy']['backoff']
  state: StateCode
  priority: number
  weight: number
  runAt: number
  /** The due time of its first run; undefined before it. */
  firstDue: number | undefined
  expiresAt: number
  /** What each start takes from the rates of its queue and key. */
  readonly tokens: number
  run: number
  uncounted: number
  cancelRequested: boolean
  /** Why it is cancelled, or being cancelled; undefined if nobody has said so. */
  reason: string | undefined
  /** Held back by the limit of its key, outside its lane. */
  parked: boolean
  /** The turn since which it is, or was. */
  parkedSince: number
  finishedAt: number
  /** The turn that created it. */
  readonly bornTurn: number
  /** The turn since which it waits. */
  waitsSince: number
  /** The turn since which it is in its state. */
  changedTurn: number
  /** Of the run that goes on. */
  session: string
  startedMono: number
  /** When its deadline is passed at the earliest, and at the latest. */
  earliestMono: number
  latestMono: number
  /** When its last run ended. */
  endedMono: number
  /** When the commit that ended it was over: its session is told from then on. */
  toldMono: number
  /** Runs that lost their worker, of a job that may lose so many. */
  lost: number
  /** The last of its runs that was taken for lost, and when. */
  stalledRun: number
  stalledMono: number
  /** Has failed because of one that it waited for. */
  forsaken: boolean
  /** Left by a job that has failed: nobody has called for it. */
  readonly isLetter: boolean
  /** The call whose data it has, where that is certain. */
  readonly dataOf: number
  /** Was cancelled because its queue was full. */
  dropped: boolean
  /** Its handler has made durable calls. */
  hasBegun: boolean
  /** Was written while its queue dropped its oldest. */
  droppable: boolean
}

/** An idempotency key: held for its time, and while a job from `seq` to `lastSeq` lives. */
interface HeldKey {
  readonly seq: number
  readonly lastSeq: number
  readonly expiresAt: number
}

/** A turn, as it has been committed. */
export interface Committed {
  readonly effects: Effects
  readonly wall: number
  readonly mono: number
  readonly nextEvent: number
}

/** An event as whoever reads the journal is to be told of it. */
export interface ToldEvent {
  readonly seq: number
  readonly type: EventType
  /** Of a job, or of a queue itself. */
  readonly queue: string | undefined
  /** What is told beside: the job's id, or all of it. */
  readonly what: string
}

export interface ModelOptions {
  readonly history: History
  readonly retention: KeptOptions['retention']
  /** The engine is to see no data in plain. */
  readonly sealed: boolean
  readonly requests: Requests
  readonly highestWall: () => number
  readonly recovery: 'immediate' | 'backoff'
  readonly exactRates: boolean
  /** Whether the engine has told the job's run to stop. */
  readonly aborted: (seq: number) => boolean
  /** The engine takes a run for lost. */
  readonly lost: (job: Tracked, mono: number) => void
  /** Why a worker's run may have been taken for lost, or given back; undefined where it may not. */
  readonly mayLose: (job: Tracked) => boolean
  readonly mayRelease: (job: Tracked) => boolean
  readonly mayLoseSession: SystemEventBookOptions['mayLoseSession']
  readonly sessionGone: SystemEventBookOptions['sessionGone']
  readonly hasLeft: SystemEventBookOptions['hasLeft']
  /** Whether the export, if there is one, has had the job. */
  readonly exported: (job: Tracked) => boolean
  /** The job of that call is created. */
  readonly appeared: (number: number, job: Job) => void
}

export class Model {
  readonly jobs = new Map<number, Tracked>()
  readonly waiting = new Set<Tracked>()
  readonly active = new Set<Tracked>()
  readonly numbers = new Map<number, number>()
  /** The same, of the last turn. */
  readonly newNumbers = new Set<number>()
  /** Of every job that there ever was, by its id. */
  readonly seqs = new Map<string, number>()
  readonly idempotent = new Map<string, HeldKey>()
  /** Every row number that was ever given. */
  readonly created = new Set<number>()
  nextEvent = 1
  /** Events up to this one may be gone. */
  forgotten = 0
  /** All that were ever committed. */
  readonly events: ToldEvent[] = []
  turns = 0
  starts = 0
  /** What started in the last turn. */
  started: Tracked[] = []
  /** By their rows, jobs that have answered calls in the last turn, and how many of these are yet to be heard of. */
  readonly #repeats = new Map<number, number>()
  readonly #options: ModelOptions
  readonly limits: Limits
  readonly systemEvents: SystemEventBook
  /** Queues that were deleted, whoever has heard of it. */
  queuesGone = 0
  readonly #unique = new Map<string, Tracked>()
  /** There was an export before this turn. */
  #exporting = false

  readonly #flows: FlowBook
  readonly #drops: Drops
  readonly #letters: DeadLetters
  readonly #kept: Kept
  readonly pauses: Pauses

  constructor(options: ModelOptions) {
    this.#options = options
    this.limits = new Limits(options.history, options.exactRates)
    this.systemEvents = new SystemEventBook({ ...options, limits: this.limits, jobs: this.jobs })
    this.#flows = new FlowBook(this, options)
    this.#drops = new Drops(options.history, this.limits)
    this.#letters = new DeadLetters(options.history, this.limits)
    this.#kept = new Kept({ ...options, limits: this.limits })
    this.pauses = new Pauses(options.history, options.requests)
  }

  commit(turn: Committed): void {
    const { effects } = turn
    this.turns++
    this.started = []
    this.#repeats.clear()
    this.newNumbers.clear()
    this.limits.commit(effects)
    this.pauses.commit(effects, this.limits.paused, turn.wall)
    this.#drops.begin()
    this.#letters.begin()
    this.#flows.begin()
    const forgets = effects.pruned.length > 0 || effects.jobs.some(({ dirty }) => (dirty & DELETED) !== 0)
    if (forgets) this.#kept.begin(this.jobs)
    this.queuesGone += effects.queuesGone.length
    for (const record of effects.jobs) this.#released(record)
    for (const note of effects.events) if (note.job !== undefined) this.#step(note, turn)
    this.#drops.end(this.jobs)
    this.#letters.end()
    this.#flows.end()
    this.systemEvents.commit(effects)
    if (effects.flowEffects !== undefined) this.#flows.commit(effects.flowEffects)
    this.limits.started(this.started, this.active, turn.mono)
    for (const job of effects.jobs) this.#compare(job)
    for (const { seq } of effects.pruned) this.#pruned(seq)
    if (forgets) this.#kept.end(this.jobs)
    // An export holds back what has ended.
    if (!this.#exporting && effects.exports.length === 0)
      for (const { seq } of effects.jobs) this.#kept.stays(this.jobs.get(seq), this.turns)
    for (const { session, job } of effects.grants.map((job) => ({ job, session: job.session }))) {
      const tracked = this.jobs.get(job.seq)
      if (tracked !== undefined && session !== undefined) tracked.session = session.intro.uuid
    }
    // Of a job that the same turn has removed nothing is known any more: its key may be another's by now.
    for (const { name, key, job, expiresAt, lastSeq = 0 } of effects.idempotency)
      if (this.jobs.has(job.seq)) this.#holdIdempotent(`${name} ${key}`, { seq: job.seq, lastSeq: byTime(name) ? 0 : lastSeq, expiresAt })
    for (const note of effects.events) this.events.push(toldOf(note, this.events.length + 1))
    this.#exporting ||= effects.exports.length > 0
    this.nextEvent = turn.nextEvent
    this.forgotten = Math.max(this.forgotten, effects.forgetEventsBefore)
  }

  /** After a turn that asked for no other at once: all children are told. */
  flowsTold(edges: readonly Edge[]): void {
    this.#flows.told(edges)
  }

  /** The job that an id names, where it is there. */
  find(id: JobKey): Tracked | undefined {
    return this.jobs.get(this.seqs.get(formatId(id)) ?? 0)
  }

  /** True if the last turn has told of one more call that the job answers. */
  takeRepeat(seq: number): boolean {
    const left = this.#repeats.get(seq) ?? 0
    this.#repeats.set(seq, left - 1)
    return left > 0
  }

  /** How many jobs are in that state. */
  count(state: StateCode): number {
    let count = 0
    for (const job of this.jobs.values()) if (job.state === state) count++
    return count
  }

  get live(): number {
    let live = 0
    for (const { state } of this.jobs.values()) if (state < COMPLETED) live++
    return live
  }

  /** The rows of those that a job of a flow was asked to wait for. */
  parentsOf(seq: number): readonly number[] | undefined {
    return this.#flows.parentsOf(seq)
  }

  /** The same, without those that it has joined. */
  flowParentsOf(seq: number): readonly number[] {
    return this.#flows.flowParentsOf(seq)
  }

  joinedBy(seq: number, name: string): JoinedGroup | undefined {
    return this.#flows.joinedBy(seq, name)
  }

  wrongOfJoined(...seen: Parameters<FlowBook['wrongOf']>): string | undefined {
    return this.#flows.wrongOf(...seen)
  }

  /** By their ids: jobs that have joined others and have yet to complete, and those that they have joined. */
  get joiners(): readonly string[] {
    return this.#flows.joiners
  }

  /** By their ids: joined jobs that have ended in the last turn. */
  get joinedOver(): readonly string[] {
    return this.#flows.ended
  }

  /** As whoever has waited for it is told of it. */
  stateOf(seq: number): ReturnType<FlowBook['stateOf']> {
    return this.#flows.stateOf(seq)
  }

  /** What retention has left, and should not have. */
  kept(wall: number): string | undefined {
    return this.#kept.over(this.jobs, wall)
  }

  /** The tags that a job must have, as JSON; undefined if they are not known. */
  tagsOf(job: Tracked): string | undefined {
    return this.#options.requests.labels.of(job.id, job.tags, job.schedule)
  }

  uniqueKeys(): string[] {
    const held = [...this.jobs.values()].filter((job) => job.state < COMPLETED && exclusiveKey(job) !== undefined)
    return held.map((job) => `${exclusiveKey(job)} ${job.seq}`).sort()
  }

  /** The tables were loaded anew: deadlines begin again. */
  reloaded(mono: number, graceMs: number): void {
    for (const job of this.active) {
      job.earliestMono = mono + (job.cancelRequested ? graceMs : Math.max(job.heartbeatTimeout, graceMs))
      job.latestMono = mono + Math.max(Number.isFinite(job.timeout) ? job.timeout : 0, job.heartbeatTimeout, graceMs)
    }
  }

  /** Its session has come back for a run: one without a timeout has no deadline again, unless it is told to stop. */
  adopted({ seq, run }: RunKey): void {
    const job = this.#running(seq, run)
    if (job !== undefined && job.timeout === Number.POSITIVE_INFINITY && !this.#options.aborted(seq)) job.latestMono = job.timeout
  }

  /** Its worker has said that a run goes on, and the engine has heard it: the deadline may be later by now. */
  mayLast({ seq, run }: RunKey, mono: number): void {
    const job = this.#running(seq, run)
    if (job !== undefined) job.latestMono = Math.max(job.latestMono, mono + job.heartbeatTimeout)
  }

  /** What its worker has said is acknowledged: the deadline is later for certain, but for a run that is told to stop. */
  lasts({ seq, run }: RunKey, mono: number): void {
    const job = this.#running(seq, run)
    if (job === undefined || job.heartbeatTimeout === 0 || this.#options.aborted(seq)) return
    job.earliestMono = Math.max(job.earliestMono, mono + job.heartbeatTimeout)
  }

  /** A session is told to stop a run that is at its deadline. */
  timedOut({ seq, run }: RunKey, mono: number): void {
    const { history } = this.#options
    const job = this.#running(seq, run)
    if (job === undefined) return
    history.meet('abortedByDeadline')
    const early = job.earliestMono - mono
    history.hold(early < 0.01, 14, () => `run ${run} of job ${seq} is aborted ${early} ms before its deadline`)
  }

  #running(seq: number, run: number): Tracked | undefined {
    const job = this.jobs.get(seq)
    return job?.state === ACTIVE && job.run === run ? job : undefined
  }

  #step(note: EventNote, turn: Committed): void {
    const { history, requests } = this.#options
    const { type, job: record, run, attempt } = note
    history.note(`${type} ${record.seq} run ${run}`)
    if (type === 'enqueued') {
      this.#enqueued(record, note.value, turn)
      return
    }
    const job = this.jobs.get(record.seq)
    if (job === undefined) {
      history.violate(2, `job ${record.seq} is ${type}, and is not there`)
      return
    }
    const is = (...states: StateCode[]) =>
      history.hold(states.includes(job.state), 2, () => `job ${job.seq} is ${type} while it is in state ${job.state}`)
    if (type !== 'started') history.hold(run === job.run, 10, () => `job ${job.seq} is ${type} at run ${run}, its run is ${job.run}`)
    switch (type) {
      case 'started':
        is(WAITING)
        if (run === 1) this.#settled(job, record)
        this.#start(job, run, attempt, turn)
        break
      case 'progress':
        is(ACTIVE)
        this.#said(job, type, requests.said('progress', job.seq, run))
        break
      case 'completed':
        is(ACTIVE)
        this.#said(job, type, requests.said('complete', job.seq, run))
        history.hold(!job.cancelRequested, 2, () => `job ${job.seq} completes after its cancel was acknowledged`)
        this.#end(job, COMPLETED, turn)
        break
      case 'retrying':
        is(ACTIVE)
        history.hold(!job.cancelRequested, 2, () => `job ${job.seq} is tried again after its cancel was acknowledged`)
        if (note.error === CHANGED) {
          this.#putOff(job, note, turn)
          break
        }
        history.hold(attempt < job.maxAttempts, 11, () => `job ${job.seq} is tried again after attempt ${attempt} of ${job.maxAttempts}`)
        history.hold(
          (note.value ?? 0) <= job.oldAt,
          11,
          () => `job ${job.seq} is tried again ${(note.value ?? 0) - job.oldAt} ms past its maxAge`,
        )
        this.#retry(job, note, turn)
        break
      case 'failed':
        this.#failed(job, note, turn)
        break
      case 'cancelled':
        is(SCHEDULED, WAITING, ACTIVE, BLOCKED)
        if (note.error === DROPPED.name) this.#drops.dropped(job, this.jobs.values())
        else this.#cancelled(job, note)
        this.#end(job, CANCELLED, turn)
        break
      case 'snoozed':
        is(ACTIVE)
        this.#said(job, type, requests.said('snooze', job.seq, run) || requests.said('wait', job.seq, run))
        history.hold(!job.cancelRequested, 2, () => `job ${job.seq} is snoozed after its cancel was acknowledged`)
        // The end of a wait is a result.
        if (requests.said('snooze', job.seq, run)) job.uncounted++
        else job.uncounted = run
        job.expiresAt = 0
        this.#again(job, note.value ?? 0, turn)
        break
      case 'released':
        if (job.state === BLOCKED) {
          this.#flows.released(job)
          this.#drops.back(job)
          job.runAt = note.value ?? turn.wall
          this.#move(job, note.value === undefined ? WAITING : SCHEDULED)
          break
        }
        is(ACTIVE)
        history.hold(!job.cancelRequested, 2, () => `job ${job.seq} is given back after its cancel was acknowledged`)
        if (requests.said('snooze', job.seq, run)) {
          history.meet('snoozedInItsPlace')
          // An attach that had not heard of the run may have given it back: then the snooze is refused.
          if (note.job.expiresAt !== 0) job.ttlBackRun = run
        } else {
          if (!requests.said('giveBack', job.seq, run))
            history.hold(this.#options.mayRelease(job), 15, () => `run ${run} of job ${job.seq} is given back while its worker holds it`)
          history.meet('givenBack')
        }
        job.uncounted++
        this.#drops.back(job)
        // Its time has come once, whatever the wall clock says by now.
        job.endedMono = turn.mono
        job.toldMono = history.mono
        this.#move(job, WAITING)
        break
      case 'stalled':
        is(ACTIVE)
        history.hold(this.#options.mayLose(job), 15, () => `run ${run} of job ${job.seq} is taken for lost while its worker lives`)
        history.meet('stalled')
        this.#options.lost(job, turn.mono)
        job.stalledRun = run
        job.stalledMono = turn.mono
        break
      case 'updated':
        if (job.state === ACTIVE) this.#joined(job, note, turn)
        else this.#updated(job, note.value, turn)
        break
      case 'deduplicated': {
        const isAsked = QUEUES.some((queue) => this.limits.toldNow(queue) || this.limits.settings(queue).repeats === 'event')
        history.hold(isAsked, 25, () => `job ${job.seq} is told to answer a call, and no queue asks for that`)
        this.#repeats.set(job.seq, (this.#repeats.get(job.seq) ?? 0) + 1)
        history.meet('deduplicated')
        break
      }
      case 'promoted':
        is(SCHEDULED)
        // A message has woken it.
        if (turn.effects.steps.some(({ seq, kind, value }) => seq === job.seq && kind === 'message' && value !== null))
          job.runAt = turn.wall
        this.#due(job, 'promoted')
        this.#move(job, WAITING)
        break
      case 'deleted':
        is(SCHEDULED, WAITING, BLOCKED, COMPLETED, FAILED, CANCELLED)
        this.#said(job, type, requests.asked('delete', job) || requests.askedOf('deleteSchedule', job.schedule ?? ''))
        this.#remove(job)
        break
    }
  }

  #enqueued(record: Job, runAt: number | undefined, { wall }: Committed): void {
    const { history } = this.#options
    const letter = letterOf(record)
    const number = letter === undefined ? numberOf(record.data) : 0
    const failed = letter && this.jobs.get(this.seqs.get(letter.id) ?? 0)
    const { policy, lane, extras } = record
    history.hold(!this.created.has(record.seq), 34, () => `row ${record.seq} is given twice`)
    const plain = this.#options.sealed && typeof record.data === 'string'
    history.hold(!plain, 34, () => `job ${record.seq} has its data in plain`)
    if (number > 0) {
      const twin = this.numbers.get(number)
      history.hold(twin === undefined, 25, () => `jobs ${twin} and ${record.seq} are both of call ${number}`)
      history.hold(!this.#options.requests.refused.has(number), 6, () => `job ${record.seq} is created, though its enqueue was refused`)
      this.numbers.set(number, record.seq)
      this.newNumbers.add(number)
      this.#options.appeared(number, record)
    }
    const job: Tracked = {
      seq: record.seq,
      id: formatId(record),
      number,
      name: lane.name,
      queue: lane.queue.name,
      uniqueKey: extras?.uniqueKey,
      firstKey: extras?.uniqueKey,
      untilStart: extras?.untilStart === true,
      letGoTurn: Number.POSITIVE_INFINITY,
      ttlBackRun: 0,
      debounceKey: extras?.shape?.by === 'trailing' ? extras.shape.key : undefined,
      key: extras?.concurrencyKey,
      schedule: extras?.schedule,
      tags: extras?.tags,
      maxAttempts: policy.maxAttempts,
      logLines: policy.logLines,
      maxLost: policy.maxLost,
      keep: policy.keep,
      oldAt: record.enqueuedAt + policy.maxAge,
      maxAge: policy.maxAge,
      timeout: policy.timeout,
      heartbeatTimeout: policy.heartbeatTimeout,
      backoff: policy.backoff,
      state: SCHEDULED,
      priority: record.priority,
      weight: record.weight,
      runAt: runAt ?? record.runAt,
      firstDue: undefined,
      expiresAt: record.expiresAt,
      tokens: record.policy.tokens,
      run: 0,
      uncounted: 0,
      cancelRequested: false,
      reason: undefined,
      parked: false,
      parkedSince: 0,
      finishedAt: 0,
      bornTurn: this.turns,
      waitsSince: 0,
      changedTurn: 0,
      session: '',
      startedMono: 0,
      earliestMono: 0,
      latestMono: 0,
      endedMono: 0,
      toldMono: 0,
      lost: 0,
      stalledRun: 0,
      stalledMono: -1,
      forsaken: false,
      isLetter: letter !== undefined,
      // What may be replaced may have the data of a later call.
      dataOf: failed === undefined || (failed.firstKey ?? failed.debounceKey) !== undefined ? number : failed.dataOf,
      dropped: false,
      hasBegun: false,
      droppable: false,
    }
    this.jobs.set(job.seq, job)
    history.hold(!this.seqs.has(job.id), 34, () => `the id ${job.id} is given twice`)
    this.seqs.set(job.id, job.seq)
    this.created.add(job.seq)
    this.#drops.created(job)
    this.#letters.created(record)
    this.#hold(job)
    if (this.#flows.enqueued(job)) this.#move(job, BLOCKED)
    else this.#move(job, runAt !== undefined && runAt > wall ? SCHEDULED : WAITING)
  }

  /** Whatever came first, the call or the definition: what the call has left open is as the definition says from the first start on. */
  #settled(job: Tracked, record: Job): void {
    const { maxAttempts, maxLost, keep, timeout, heartbeatTimeout, backoff, maxAge, logLines } = record.policy
    if (job.name === LATE.name) this.#late(job, record)
    if (job.maxAttempts !== maxAttempts || job.timeout !== timeout) this.#options.history.meet('settledLate')
    Object.assign(job, {
      maxAttempts,
      maxLost,
      keep,
      logLines,
      timeout,
      heartbeatTimeout,
      backoff,
      oldAt: record.enqueuedAt + maxAge,
      maxAge,
    })
  }

  #late(job: Tracked, { policy, priority }: Job): void {
    const { history, requests } = this.#options
    const said = requests.late.get(job.number)
    const { maxAttempts, timeout, heartbeatTimeout } = policy
    const so = [LATE, LATER].some(({ defaults }) => {
      const wanted = { ...defaults, ...said }
      return wanted.maxAttempts === maxAttempts && wanted.timeout === timeout && wanted.heartbeatTimeout === heartbeatTimeout
    })
    history.hold(so, 45, () => `job ${job.seq} starts with ${maxAttempts} attempts of ${timeout} ms, which nobody has said`)
    const wanted = said?.priority ?? LATE.defaults.priority
    const asked = requests.asked('update', job)
    history.hold(asked || priority === wanted, 45, () => `job ${job.seq} starts with priority ${priority}, not ${wanted}`)
  }

  #start(job: Tracked, run: number, attempt: number, { wall, mono }: Committed): void {
    const { history } = this.#options
    history.hold(run === job.run + 1, 10, () => `run ${run} of job ${job.seq} follows run ${job.run}`)
    // Calls from now on are of another job.
    if (job.run === 0 && (job.untilStart || job.debounceKey !== undefined)) this.#free(job)
    if (job.run === 0) job.letGoTurn = this.turns
    job.run = run
    const expected = run - job.uncounted
    history.hold(attempt === expected, 11, () => `run ${run} of job ${job.seq} is attempt ${attempt}, and should be ${expected}`)
    history.hold(expected <= job.maxAttempts, 11, () => `job ${job.seq} starts attempt ${expected} of ${job.maxAttempts}`)
    this.#due(job, 'started')
    history.hold(
      job.expiresAt === 0 || job.expiresAt > wall,
      22,
      () => `job ${job.seq} starts ${wall - job.expiresAt} ms after its ttl has run out`,
    )
    this.starts++
    job.startedMono = mono
    job.earliestMono = job.latestMono = mono + job.timeout
    this.#move(job, ACTIVE)
    this.started.push(job)
  }

  #due(job: Tracked, what: string): void {
    const early = job.runAt - this.#options.highestWall()
    this.#options.history.hold(early <= 0, 22, () => `job ${job.seq} is ${what} ${early} ms early`)
  }

  #said(job: Tracked, what: string, said: boolean): void {
    this.#options.history.hold(said, 10, () => `job ${job.seq} is ${what} at run ${job.run}, and nobody has said so of that run`)
  }

  /** A failure has a reason: its worker said so, its deadline has passed, or its worker is gone. */
  #reason(job: Tracked, { error }: EventNote, { mono }: Committed): void {
    const { history, requests } = this.#options
    if (error === 'WorkerLostError') return
    // A worker says it too, of a run that it was told to stop and had not begun: its engine may have been loaded anew since.
    if (error === 'JobTimeoutError' && !requests.said('fail', job.seq, job.run)) {
      history.hold(
        mono >= job.earliestMono - 0.01,
        14,
        () => `run ${job.run} of job ${job.seq} is timed out ${job.earliestMono - mono} ms early`,
      )
      history.meet('timedOut')
      return
    }
    history.hold(error !== WRONG_PARENTS, 26, () => `job ${job.seq} does not see all that it has waited for`)
    this.#said(job, `failed with ${error}`, requests.said('fail', job.seq, job.run))
  }

  #retry(job: Tracked, note: EventNote, turn: Committed): void {
    const { history, requests, recovery } = this.#options
    this.#reason(job, note, turn)
    const runAt = note.value ?? 0
    const said = note.error === 'WorkerLostError' || note.error === 'JobTimeoutError' ? undefined : requests.retryOf(job.seq, job.run)
    const asked = typeof said === 'number' ? said : undefined
    history.hold(said !== false, 11, () => `job ${job.seq} is tried again, and its worker has said never`)
    const isLost = note.error === 'WorkerLostError' && job.maxLost !== undefined
    if (isLost) this.#lose(job, job.maxLost as number)
    const [drawn] = backoffBounds(job, isLost ? job.lost : job.run - job.uncounted)
    const least = note.error === 'WorkerLostError' && recovery === 'immediate' ? 0 : (asked ?? drawn)
    history.hold(
      runAt >= turn.wall + least - 1,
      22,
      () => `job ${job.seq} is tried again after ${runAt - turn.wall} ms, and not after ${least}`,
    )
    // A ttl is for the first start alone.
    job.expiresAt = 0
    this.#again(job, runAt, turn)
  }

  /** Its code did not fit what it has recorded: that uses no attempt. */
  #putOff(job: Tracked, { value: runAt = 0 }: EventNote, turn: Committed): void {
    const { history, requests } = this.#options
    this.#said(job, 'put off', requests.said('fail', job.seq, job.run))
    history.hold(runAt >= turn.wall + CHANGED_MS, 64, () => `job ${job.seq} is put off by ${runAt - turn.wall} ms`)
    history.meet('stepsChanged')
    job.uncounted++
    job.expiresAt = 0
    this.#again(job, runAt, turn)
  }

  /** It has recorded a result: its time, its age and its attempts begin again. */
  anew(job: Tracked, wall: number, mono: number): void {
    job.lost = 0
    job.oldAt = wall + job.maxAge
    if (job.state !== ACTIVE) return
    job.uncounted = job.run - 1
    job.latestMono = Math.max(job.latestMono, mono + job.timeout)
    if (!this.#options.aborted(job.seq)) job.earliestMono = Math.max(job.earliestMono, mono + job.timeout)
  }

  /** A run has lost its worker, and uses no attempt. */
  #lose(job: Tracked, maxLost: number): void {
    const { history } = this.#options
    job.lost++
    job.uncounted++
    history.hold(job.lost <= maxLost, 11, () => `job ${job.seq} is tried again after ${job.lost} lost runs of ${maxLost}`)
    history.meet('lostUncounted')
  }

  #failed(job: Tracked, note: EventNote, turn: Committed): void {
    const { history, requests } = this.#options
    this.#letters.failed(job, note)
    if (job.state === ACTIVE) {
      this.#reason(job, note, turn)
      const wanted = note.error !== 'WorkerLostError' && note.error !== 'JobTimeoutError' && requests.cancels(job.seq, job.run)
      history.hold(!wanted, 11, () => `job ${job.seq} fails, and the handler of run ${job.run} has cancelled it`)
      const hopeless = note.error !== 'WorkerLostError' && note.error !== 'JobTimeoutError' && requests.retryOf(job.seq, job.run) === false
      const attempt = job.run - job.uncounted
      const isLost = note.error === 'WorkerLostError' && job.maxLost !== undefined
      if (isLost) job.lost++
      const over = hopeless || (isLost ? job.lost > (job.maxLost as number) : attempt >= job.maxAttempts)
      if (isLost && over) history.meet('lostTooOften')
      const pause = requests.retryOf(job.seq, job.run)
      const [, drawn] = backoffBounds(job, isLost ? job.lost : attempt)
      const old = turn.wall + Math.max(drawn, typeof pause === 'number' ? pause : 0) + 1 > job.oldAt
      if (!over && old) history.meet('tooOld')
      history.hold(over || old, 16, () => `job ${job.seq} has failed at attempt ${attempt} of ${job.maxAttempts} with ${note.error}`)
    } else if (note.error === 'ParentFailedError') {
      this.#flows.forsaken(job)
      job.forsaken = true
    } else {
      history.meet('expired')
      history.hold(
        job.state === WAITING || job.state === SCHEDULED || job.state === BLOCKED,
        2,
        () => `job ${job.seq} expires in state ${job.state}`,
      )
      const overdue = job.expiresAt !== 0 && job.expiresAt <= this.#options.highestWall()
      history.hold(overdue, 22, () => `job ${job.seq} has expired, and its ttl has not run out`)
    }
    this.#end(job, FAILED, turn)
  }

  #cancelled(job: Tracked, { type, run, failure }: EventNote): void {
    const { history, requests } = this.#options
    const inTree = this.#flows.asked('cancelTree', job)
    const byTick = requests.mayCancel(job.schedule)
    const byHandler = requests.cancels(job.seq, run)
    const byParents = this.#flows.unwanted(job)
    this.#said(job, type, requests.asked('cancel', job) || byTick || inTree || byHandler || byParents)
    const reason = failure?.message
    if (byParents) {
      // It comes back with the one that has failed.
      job.forsaken = true
      history.meet('cancelledByParents')
    }
    // All that waits for a job takes over what was said of that one.
    const so = inTree || byParents || (byTick && reason === undefined) || requests.saidWhy(job, reason)
    history.hold(so, 10, () => `job ${job.seq} is cancelled because of '${reason}', and nobody has said so`)
    const kept = !job.cancelRequested || reason === job.reason
    history.hold(kept, 2, () => `job ${job.seq} was being cancelled because of '${job.reason}', and is cancelled because of '${reason}'`)
    if (reason !== undefined) history.meet(byHandler ? 'cancelledByHandler' : 'cancelledWithReason')
    job.reason = reason
  }

  /** A session is told to stop a run, and why. */
  toldToCancel({ seq, run, reason }: RunKey & { readonly reason?: string }): void {
    const job = this.#running(seq, run)
    const so = job === undefined || job.reason === reason
    this.#options.history.hold(so, 3, () => `run ${run} of job ${seq} is told to stop because of '${reason}', not '${job?.reason}'`)
  }

  /** It has created others, and waits for them. */
  #joined(job: Tracked, { type, value }: EventNote, { mono }: Committed): void {
    const { history, requests } = this.#options
    const { seq, run } = job
    this.#said(job, type, requests.said('join', seq, run))
    history.hold(value === undefined, 26, () => `job ${seq} waits for others, and for a time`)
    history.hold(!job.cancelRequested, 2, () => `job ${seq} joins others after its cancel was acknowledged`)
    this.#flows.joined(job)
    this.#drops.back(job)
    job.uncounted++
    job.expiresAt = 0
    job.endedMono = mono
    job.toldMono = history.mono
    this.#move(job, BLOCKED)
  }

  #updated(job: Tracked, at: number | undefined, { wall }: Committed): void {
    const { history, requests } = this.#options
    const runAt = at ?? wall
    job.runAt = runAt
    if (job.state === FAILED || job.state === CANCELLED) {
      const asked = requests.asked('retry', job) || requests.redriven || this.#flows.asked('retryTree', job)
      this.#said(job, 'brought back', asked || job.forsaken)
      if (job.forsaken) history.meet('broughtBackWithItsParent')
      job.forsaken = false
      job.dropped = false
      this.#drops.back(job)
      history.meet('revived')
      this.#flows.back(job)
      this.#forgetLapsed(job)
      job.uncounted = job.run
      job.cancelRequested = false
      job.reason = undefined
      job.lost = 0
      job.expiresAt = 0
      this.#hold(job)
      // Without a due time it waits for others again.
      this.#move(job, at === undefined ? BLOCKED : WAITING)
      return
    }
    history.hold(job.state === SCHEDULED || job.state === WAITING, 2, () => `job ${job.seq} is updated in state ${job.state}`)
    if (runAt > wall && job.run === 0) this.limits.turnOver(job)
    this.#move(job, runAt > wall ? SCHEDULED : WAITING)
  }

  #again(job: Tracked, runAt: number, turn: Committed): void {
    this.#drops.back(job)
    job.endedMono = turn.mono
    job.toldMono = this.#options.history.mono
    job.runAt = runAt
    this.#move(job, runAt > turn.wall ? SCHEDULED : WAITING)
  }

  #end(job: Tracked, state: StateCode, turn: Committed): void {
    job.endedMono = turn.mono
    job.toldMono = this.#options.history.mono
    job.finishedAt = turn.wall
    this.#flows.over(job)
    this.limits.turnOver(job)
    this.#free(job)
    this.#move(job, state)
  }

  /** A live job has lost its unique key, which the same turn may have given to another. */
  #released({ seq, extras }: Job): void {
    const job = this.jobs.get(seq)
    if (job?.uniqueKey === undefined || extras?.uniqueKey !== undefined) return
    const { history, requests } = this.#options
    history.hold(requests.asked('release', job), 25, () => `job ${seq} has lost its unique key, and nobody has released it`)
    history.meet('keyReleased')
    this.#free(job)
    job.uniqueKey = undefined
  }

  #hold(job: Tracked): void {
    const key = exclusiveKey(job)
    if (key === undefined) return
    const holder = this.#unique.get(key)
    const free = holder === undefined || holder === job
    this.#options.history.hold(free, 25, () => `jobs ${holder?.seq} and ${job.seq} both live with the unique key ${key}`)
    this.#unique.set(key, job)
  }

  #free(job: Tracked): void {
    const key = exclusiveKey(job)
    if (key !== undefined && this.#unique.get(key) === job) this.#unique.delete(key)
  }

  #holdIdempotent(key: string, next: HeldKey): void {
    const { history } = this.#options
    const held = this.idempotent.get(key)
    const free = held === undefined || !this.#isHeld(held) || (held.seq === next.seq && key.startsWith('#leading:'))
    history.hold(free, 25, () => `jobs ${held?.seq} and ${next.seq} are both created under the idempotency key ${key}`)
    this.idempotent.set(key, next)
  }

  #isHeld({ seq, lastSeq, expiresAt }: HeldKey): boolean {
    if (expiresAt > this.#options.highestWall()) return true
    for (let at = seq; at <= lastSeq; at++) if ((this.jobs.get(at)?.state ?? COMPLETED) < COMPLETED) return true
    return false
  }

  /** A job that has ended lives again: a key that was free by then may be another's. */
  #forgetLapsed(job: Tracked): void {
    for (const [key, held] of this.idempotent)
      if (held.seq <= job.seq && job.seq <= held.lastSeq && !this.#isHeld(held)) this.idempotent.delete(key)
  }

  /** The engine's record must say what the events do. */
  #compare(record: Job): void {
    const { history } = this.#options
    const job = this.jobs.get(record.seq)
    if ((record.dirty & DELETED) !== 0) {
      if (job === undefined) return
      history.hold(job.state >= COMPLETED, 2, () => `the row of job ${job.seq} goes while it is in state ${job.state}`)
      const justEnded = job.changedTurn === this.turns
      if (justEnded && job.state === CANCELLED && this.#flows.unneeded(job)) history.meet('flowUnneeded')
      else this.#kept.erased(job, justEnded)
      this.#forget(job)
      return
    }
    if (job === undefined) {
      history.violate(18, `job ${record.seq} is written, and was never created`)
      return
    }
    const said = `${job.state} ${job.run} ${job.run - job.uncounted}`
    const found = `${record.state} ${record.run} ${attemptOf(record)}`
    history.hold(said === found, 11, () => `job ${job.seq} is (state, run, attempt) ${found}, by its events ${said}`)
    const lost = record.extras?.lost ?? 0
    history.hold(lost === job.lost, 11, () => `job ${job.seq} has lost ${lost} runs, by its events ${job.lost}`)
    const due = record.extras?.due ?? record.runAt
    if (record.run > 0) job.firstDue ??= due
    history.hold(record.run === 0 || due === job.firstDue, 18, () => `job ${job.seq} was first due at ${job.firstDue}, and says ${due}`)
    job.priority = record.priority
    job.weight = record.weight
    job.runAt = record.runAt
    job.expiresAt = record.expiresAt
    const reason = record.extras?.cancel?.reason
    if (record.cancelRequested && !job.cancelRequested) job.reason = reason
    const isOver = job.state === CANCELLED || record.cancelRequested
    // A job that has ended otherwise may pass on what was said of its flow.
    const asSaid = job.state === COMPLETED || job.state === FAILED || reason === (isOver ? job.reason : undefined)
    history.hold(asSaid, 2, () => `job ${job.seq} has the reason '${reason}' in state ${job.state}, and '${job.reason}' was said`)
    job.cancelRequested = record.cancelRequested
    const parked = record.parked !== undefined
    if (parked && !job.parked) job.parkedSince = this.turns
    job.parked = parked
    this.limits.written(job, this.waiting, this.turns)
    // What is written of its extras alone leaves it where it is.
    if (record.dirty !== EXTRAS) this.#drops.written(job, record)
    if (job.parked) history.meet('parked')
  }

  #pruned(seq: number): void {
    const job = this.jobs.get(seq)
    if (job === undefined) return
    this.#options.history.meet('pruned')
    this.#options.history.hold(job.state >= COMPLETED, 2, () => `job ${seq} is pruned in state ${job.state}`)
    this.#kept.pruned(job)
    this.#forget(job)
  }

  /** By retention. */
  #forget(job: Tracked): void {
    const { history, exported } = this.#options
    history.hold(!this.#exporting || exported(job), 2, () => `job ${job.seq} is forgotten, and the export has never had it`)
    this.#remove(job)
  }

  #remove(job: Tracked): void {
    this.limits.turnOver(job)
    this.#free(job)
    for (const [key, { seq }] of this.idempotent) if (seq === job.seq) this.idempotent.delete(key)
    this.#flows.removed(job)
    this.jobs.delete(job.seq)
    this.waiting.delete(job)
    this.active.delete(job)
  }

  #move(job: Tracked, state: StateCode): void {
    job.state = state
    job.changedTurn = this.turns
    if (state === ACTIVE) this.active.add(job)
    else this.active.delete(job)
    if (state !== WAITING) this.waiting.delete(job)
    else {
      this.waiting.add(job)
      job.waitsSince = this.turns
    }
  }
}

const CHANGED = 'StepsChangedError'
/** The shortest delay after that. */
const CHANGED_MS = 10_000

const DELETED = 16
const EXTRAS = 128

function toldOf(note: EventNote | SystemEventNote, seq: number): ToldEvent {
  const { type } = note
  if (note.job !== undefined) return { seq, type, queue: note.job.lane.queue.name, what: formatId(note.job) }
  return { seq, type, queue: 'queue' in note.body ? note.body.queue : undefined, what: whatOf(note.body) }
}

/** Of an event that is no job's: whose, and of what. */
export function whatOf(event: object): string {
  const { queue, schedule, worker, session, name, key, reason } = event as Readonly<Record<string, unknown>>
  return [queue, schedule, worker, session, name, key, reason].filter((of) => of !== undefined).join(' ')
}

/** The call that a job is of; 0 for one that a handler has created. */
export function numberOf(data: Job['data']): number {
  return data === undefined || data === null ? 0 : (JSON.parse(opened(data)) as { number: number }).number
}

/** The key that no other job may have beside it. */
function exclusiveKey({ name, uniqueKey, untilStart, debounceKey, run }: Tracked): string | undefined {
  if (uniqueKey !== undefined) return untilStart && run > 0 ? undefined : `${name} ${uniqueKey}`
  return debounceKey === undefined || run > 0 ? undefined : `#trailing:${name} ${debounceKey}`
}

/** A debounce or a throttle: its key ends by its time alone. */
function byTime(name: string): boolean {
  return name.startsWith('#leading:') || name.startsWith('#throttle:')
}

function backoffBounds({ backoff }: Tracked, attempt: number): readonly [least: number, most: number] {
  const { type, delay, factor = 2, jitter, maxDelay = Number.POSITIVE_INFINITY } = backoff
  const base = type === 'fixed' ? delay : type === 'linear' ? delay * attempt : delay * factor ** (attempt - 1)
  const [least, most] = jitter === 'full' ? [0, 1] : jitter === 'equal' ? [0.5, 1] : [1 - (jitter ?? 0), 1 + (jitter ?? 0)]
  return [Math.min(base * least, maxDelay), Math.min(base * most, maxDelay)]
}
