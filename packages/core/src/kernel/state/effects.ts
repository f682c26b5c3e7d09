/**
 * The effects of one turn, before they are written: rows, keys, counters, the journal's events, and the messages that go to
 * Ports after the commit. Decisions change the tables at once and note here what the store must write. If the commit fails,
 * both are thrown away together.
 */
import type { Unfit } from '../../commands.ts'
import type { JobEventType, SystemEventBody, SystemEventType } from '../../events.ts'
import type { AbortCause, Cancellation } from '../../job.ts'
import { ACTIVE, isFinal, mayMove, SCHEDULED, type StateCode, type Transition } from '../../lifecycle.ts'
import type { RunError } from '../../runError.ts'
import { broken } from '../records/broken.ts'
import { FlowEffects } from '../records/flowState.ts'
import { attemptOf, DIRTY_EXTRAS, DIRTY_OTHER, type Job, type JobExtras, type StepsMemory, waitsForRetry } from '../records/job.ts'
import type { Key, KeyBacklog } from '../records/keyBacklog.ts'
import type { Lane, Queue } from '../records/lane.ts'
import type { PausePlace } from '../records/pauseEnds.ts'
import type { DefinitionRow, ExportCursor } from '../records/rows.ts'
import type { Session } from '../records/session.ts'
import type { Schedule, ScheduleChange } from '../records/ticks.ts'
import { type MinuteNote, minuteOf } from './history.ts'
import type {
  ForgottenKeys,
  IdempotencyRecord,
  LogRecord,
  MessageRecord,
  PrunedJob,
  Rewind,
  RunRecord,
  SourceOffset,
  StepRecord,
  TurnRecord,
  UniqueRecord,
} from './turnRows.ts'

/** An event with what the journal needs of its job, as it was when it happened. */
export interface EventNote {
  readonly type: JobEventType
  readonly job: Job
  readonly run: number
  readonly attempt: number
  /** The class's name of an error. */
  readonly error: string | undefined
  /** The error itself: for those who listen now, never for the journal. */
  readonly failure?: RunError | undefined
  /** A due time or a fraction. */
  readonly value: number | undefined
}

/** An event of something that is no job. */
export interface SystemEventNote {
  readonly type: SystemEventType
  readonly job: undefined
  readonly body: SystemEventBody
}

/** A worker's session that is there from now on, begins to drain, or is there no longer. */
export interface PresenceNote {
  readonly id: number
  readonly presence: 'here' | 'draining' | 'gone'
}

export interface PauseEndNote extends PausePlace {
  /** Wall time. */
  readonly until: number
}

/** A run that failed, or a job that did before it ran: of what kind, and where to read more. */
export interface FailureNote {
  readonly job: Job
  readonly run: number
  /** The class's name. */
  readonly error: string
  readonly fingerprint: number
}

/** Entries that leave the store's inbox. */
export interface InboxEffects {
  readonly taken: number[]
  /** Entries among them that became no job. */
  readonly refused: (Unfit & { readonly id: number })[]
}

export type NoticeNote = ({ readonly kind: 'abort'; readonly cause: AbortCause } & Cancellation) | { readonly kind: 'lost' | 'messaged' }

export class Effects {
  /** Jobs whose rows change; `job.dirty` says how. */
  readonly jobs: Job[] = []
  readonly events: (EventNote | SystemEventNote)[] = []
  /** Finished jobs whose rows go, of which nothing else is known. */
  readonly pruned: PrunedJob[] = []
  readonly pruneTokens: unknown[] = []
  readonly runs: RunRecord[] = []
  readonly logs: LogRecord[] = []
  /** Results of durable calls. One whose number its job has already stays as it is. */
  readonly steps: StepRecord[] = []
  /** Results to forget, after those of this turn are written. */
  readonly rewinds: Rewind[] = []
  /** Messages to keep, after those that were taken are gone. */
  readonly messages: MessageRecord[] = []
  /** Kept messages that waits have taken. */
  readonly taken: Pick<MessageRecord, 'seq' | 'number'>[] = []
  readonly failures: FailureNote[] = []
  /** The lanes of runs that ended because their worker stopped or was lost, one entry per run. No store writes them. */
  readonly interrupted: Lane[] = []
  /** Queues that count something for the first time in this minute. */
  readonly minutes: MinuteNote[] = []
  readonly #minuteAt: number
  readonly newLanes: Lane[] = []
  /** Lanes whose counters change. */
  readonly countedLanes: Lane[] = []
  /** Queues of which the number of finished jobs with a `keep` of their own changes. */
  readonly keptQueues = new Set<Queue>()
  /** Queues whose settings, pause or bucket change. */
  readonly queues: Queue[] = []
  /** Queues that are deleted, with their lanes. */
  readonly queuesGone: Queue[] = []
  /** Lanes that nothing uses any more: they are forgotten. */
  readonly lanesGone: Lane[] = []
  /** Lanes that are paused, or go on. */
  readonly pausedLanes: Lane[] = []
  readonly pausedKeys: Key[] = []
  /** Timed pauses whose ends change; 0: the pause has none any more, or is over. */
  readonly pauseEnds = new Map<string, PauseEndNote>()
  readonly backlogs: KeyBacklog[] = []
  /** Turns of keys that begin; written before those that end, since a job that is let go may expire in the same turn. */
  readonly turnsTaken: TurnRecord[] = []
  /** Turns of keys that end, whether they had begun or not. */
  readonly turnsOver: TurnRecord[] = []
  /** Keys whose token buckets change. */
  readonly buckets: Key[] = []
  /** True if all queues are paused from now on, false if they resume; undefined if nothing changes. */
  paused: boolean | undefined
  readonly newSessions: Session[] = []
  /** Each with its event. */
  readonly presence: PresenceNote[] = []
  readonly definitions: DefinitionRow[] = []
  /** Names whose defaults are forgotten. */
  readonly definitionsGone: string[] = []
  readonly idempotency: IdempotencyRecord[] = []
  readonly keysForgotten: ForgottenKeys[] = []
  readonly sourceOffsets: SourceOffset[] = []
  exports: ExportCursor[] = []
  readonly exportsGone: string[] = []
  /** Schedules whose rows change, and how. */
  readonly schedules = new Map<Schedule, ScheduleChange>()
  readonly uniqueHeld: UniqueRecord[] = []
  readonly uniqueFreed: UniqueRecord[] = []
  #retagged: Map<Job, readonly string[]> | undefined
  #flows: FlowEffects | undefined
  #inbox: InboxEffects | undefined
  /**
   * Idempotency keys that have run out are looked at up to here, the oldest first, and so many at most; 0 for none. Keys of live jobs are
   * looked at again later, the others are deleted.
   */
  forgetKeysBefore = 0
  forgetKeysLimit = 0
  /**
   * Journal rows up to this event are deleted; 0 for none. It is an event of an earlier turn: a store may keep the next numbers with the
   * events of this one, and refuses to delete those.
   */
  forgetEventsBefore = 0
  /** Kinds of failures that were last seen before are deleted; 0 for none. */
  forgetFailuresBefore = 0

  // For the Ports, after the commit.
  readonly grants: Job[] = []
  readonly notices: { readonly session: Session; readonly job: Job; readonly run: number; readonly note: NoticeNote }[] = []
  /** Sessions that are to hear that their worker stops. */
  readonly stops: Session[] = []
  /** Jobs that became final or were deleted: their watchers are answered. */
  readonly settled: Job[] = []

  /** @param at wall time of the turn, to whose minute belongs what is counted; 0: to none */
  constructor(at = 0) {
    this.#minuteAt = minuteOf(at)
  }

  /** True if there is nothing to commit. */
  get empty(): boolean {
    return (
      this.jobs.length === 0 &&
      this.events.length === 0 &&
      this.countedLanes.length === 0 &&
      this.newLanes.length === 0 &&
      !this.touchesFeatures
    )
  }

  /** True if the turn changes more than jobs, counters and the journal. If not, a store need not ask each feature for its part. */
  get touchesFeatures(): boolean {
    return (
      this.runs.length > 0 ||
      this.logs.length > 0 ||
      this.steps.length > 0 ||
      this.rewinds.length > 0 ||
      this.messages.length > 0 ||
      this.taken.length > 0 ||
      this.failures.length > 0 ||
      this.minutes.length > 0 ||
      this.idempotency.length > 0 ||
      this.uniqueHeld.length > 0 ||
      this.uniqueFreed.length > 0 ||
      this.keysForgotten.length > 0 ||
      this.newSessions.length > 0 ||
      this.presence.length > 0 ||
      this.definitions.length > 0 ||
      this.definitionsGone.length > 0 ||
      this.pruneTokens.length > 0 ||
      this.pruned.length > 0 ||
      this.keptQueues.size > 0 ||
      this.touchesQueues ||
      this.sourceOffsets.length > 0 ||
      this.exports.length > 0 ||
      this.exportsGone.length > 0 ||
      this.schedules.size > 0 ||
      this.#retagged !== undefined ||
      this.#flows !== undefined ||
      this.#inbox !== undefined ||
      this.forgetKeysBefore > 0 ||
      this.forgetEventsBefore > 0 ||
      this.forgetFailuresBefore > 0
    )
  }

  /** True if the turn changes queues, pauses, or what keys hold back. */
  get touchesQueues(): boolean {
    return (
      this.paused !== undefined ||
      this.queues.length > 0 ||
      this.queuesGone.length > 0 ||
      this.lanesGone.length > 0 ||
      this.pausedLanes.length > 0 ||
      this.pausedKeys.length > 0 ||
      this.pauseEnds.size > 0 ||
      this.backlogs.length > 0 ||
      this.turnsTaken.length > 0 ||
      this.turnsOver.length > 0 ||
      this.buckets.length > 0
    )
  }

  /** Jobs whose tags change, with the tags that their rows had before the turn; undefined if there are none. */
  get retagged(): ReadonlyMap<Job, readonly string[]> | undefined {
    return this.#retagged
  }

  /** Notes that the tags of a job change. `before`: those that it has so far. */
  retag(job: Job, before: readonly string[]): void {
    this.#retagged ??= new Map()
    if (!this.#retagged.has(job)) this.#retagged.set(job, before)
  }

  /** Undefined where the turn has nothing to do with flows. */
  get flowEffects(): FlowEffects | undefined {
    return this.#flows
  }

  /** Undefined if the turn takes nothing from the store's inbox. */
  get inboxEffects(): InboxEffects | undefined {
    return this.#inbox
  }

  get inbox(): InboxEffects {
    this.#inbox ??= { taken: [], refused: [] }
    return this.#inbox
  }

  get flows(): FlowEffects {
    this.#flows ??= new FlowEffects()
    return this.#flows
  }

  touch(job: Job, bits: number = DIRTY_OTHER): void {
    if (job.dirty === 0) this.jobs.push(job)
    job.dirty |= bits
  }

  /** Replaces the extras of a job, and writes nothing else of its row. */
  changeExtras(job: Job, extras: JobExtras): void {
    job.extras = Object.keys(extras).length === 0 ? undefined : extras
    this.touch(job, DIRTY_EXTRAS)
  }

  /** Changes what the job remembers of its durable calls; what is undefined goes. */
  remember(job: Job, changes: Partial<StepsMemory>): void {
    const known = Object.entries({ ...job.extras?.steps, ...changes }).filter(([, value]) => value !== undefined)
    this.changeExtras(job, { ...job.extras, steps: Object.fromEntries(known) })
  }

  /** `move`: its times alone. What was put is written whole, and what was deleted is gone. */
  schedule(schedule: Schedule, change: ScheduleChange): void {
    const before = this.schedules.get(schedule)
    if (change !== 'move' || before === undefined) this.schedules.set(schedule, change)
  }

  /** The one place where a job's state changes: held against the lifecycle, and counted. */
  move(job: Job, transition: Transition, to: StateCode, bits: number = DIRTY_OTHER): void {
    if (!mayMove(transition, job.state, to)) throw new Error(`lifecycle: ${transition} from ${job.state} to ${to} (job ${job.seq})`)
    this.countJob(job, -1)
    job.state = to
    this.countJob(job, 1)
    this.touch(job, bits)
  }

  /** Counts a job as it is: what `waitsForRetry` reads does not change while it is scheduled. */
  countJob(job: Job, change: 1 | -1, lane: Lane = job.lane): void {
    this.count(lane, job.state, change)
    if (job.policy.keep !== undefined) this.countKept(job, change, lane)
    if (job.state !== SCHEDULED || !waitsForRetry(job)) return
    lane.retrying += change
    lane.queue.retrying += change
    lane.queue.all.retrying += change
    if (lane.retrying < 0 || lane.queue.retrying < 0) broken(`fewer than no jobs of lane ${lane.id} wait for a retry`)
  }

  count(lane: Lane, state: StateCode, change: number): void {
    const { counts, queue } = lane
    const ofLane = (counts[state] as number) + change
    const ofQueue = (queue.counts[state] as number) + change
    if (ofLane < 0 || ofQueue < 0) broken(`lane ${lane.id} has ${ofLane} jobs in state ${state}, its queue ${ofQueue}`)
    counts[state] = ofLane
    queue.counts[state] = ofQueue
    queue.all.counts[state] = (queue.all.counts[state] as number) + change
    if (state === ACTIVE && queue.sharing !== undefined) {
      queue.sharing.active += change
      if (queue.sharing.active < 0) broken(`queue ${queue.id} shares a limit with fewer than no running jobs`)
    }
    this.noteCounters(lane)
  }

  /** Counts a job with a `keep` of its own among those of its queue, if it has ended. Runs before its policy changes, and after. */
  countKept({ policy, state, lane: own }: Job, change: 1 | -1, lane: Lane = own): void {
    if (policy.keep !== undefined && isFinal(state)) this.kept(lane.queue, state, change)
  }

  /** Counts a finished job that is known to have a `keep` of its own. */
  kept(queue: Queue, state: StateCode, change: 1 | -1): void {
    const kept = (queue.kept[state] as number) + change
    if (kept < 0 || kept > (queue.counts[state] as number)) broken(`queue ${queue.id} keeps ${kept} jobs in state ${state}`)
    queue.kept[state] = kept
    this.keptQueues.add(queue)
  }

  total(lane: Lane, total: 'enqueued' | 'completed' | 'failed' | 'cancelled', change = 1): void {
    if (lane.queue.minuteAt !== this.#minuteAt) this.#noteMinute(lane.queue)
    lane.totals[total] += change
    lane.queue.totals[total] += change
    lane.queue.all.totals[total] += change
    this.noteCounters(lane)
  }

  event(type: JobEventType, job: Job, value?: number, error?: string, failure?: RunError): void {
    this.events.push({ type, job, run: job.run, attempt: attemptOf(job), error, failure, value })
  }

  systemEvent(body: SystemEventBody): void {
    this.events.push({ type: body.type, job: undefined, body })
  }

  noteQueue(queue: Queue): void {
    if (queue.noted) return
    queue.noted = true
    this.queues.push(queue)
  }

  notePause(lane: Lane): void {
    this.noteCounters(lane)
    if (lane.noted) return
    lane.noted = true
    this.pausedLanes.push(lane)
  }

  noteKey(key: Key): void {
    if (key.noted) return
    key.noted = true
    this.pausedKeys.push(key)
  }

  pauseEnd(place: PausePlace, until: number): void {
    const { queue, part, what } = place
    this.pauseEnds.set(`${queue.id} ${part} ${what}`, { queue, part, what, until })
  }

  noteBacklog(backlog: KeyBacklog): void {
    if (backlog.noted) return
    backlog.noted = true
    this.backlogs.push(backlog)
  }

  noteBucket(key: Key): void {
    if (key.bucketNoted) return
    key.bucketNoted = true
    this.buckets.push(key)
  }

  #noteMinute(queue: Queue): void {
    if (this.#minuteAt === 0) return
    this.minutes.push({ queue, at: this.#minuteAt, before: queue.minuteAt, totals: { ...queue.totals } })
    queue.minuteAt = this.#minuteAt
  }

  noteCounters(lane: Lane): void {
    if (lane.counted) return
    lane.counted = true
    this.countedLanes.push(lane)
  }

  /** Drops what the turn has noted of the export: one of that name may be created again, and is written after that. */
  forgetExport(name: string): void {
    this.exports = this.exports.filter((one) => one.name !== name)
    this.exportsGone.push(name)
  }

  /** A job that became final in this turn is so no more. */
  unsettle(job: Job): void {
    for (let at = this.settled.indexOf(job); at >= 0; at = this.settled.indexOf(job)) this.settled.splice(at, 1)
  }

  /** Removes the marks that only this turn needed. Runs after the commit. */
  clear(): void {
    for (const job of this.jobs) job.dirty = 0
    for (const lane of this.countedLanes) lane.counted = false
    for (const queue of this.queues) queue.noted = false
    for (const lane of this.pausedLanes) lane.noted = false
    for (const key of this.pausedKeys) key.noted = false
    for (const backlog of this.backlogs) backlog.noted = false
    for (const key of this.buckets) key.bucketNoted = false
  }
}
