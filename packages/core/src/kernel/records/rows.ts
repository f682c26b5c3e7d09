/** The rows that a store gives, and the queries that it takes. */
import type { InboxPlace, Unfit } from '../../commands.ts'
import type { JobEnd } from '../../events.ts'
import type { JobKey } from '../../id.ts'
import type { Data } from '../../job.ts'
import type { StateCode } from '../../lifecycle.ts'
import type { PausePart } from '../../pausePart.ts'
import type { QueueSettings } from '../../queueSettings.ts'
import type { LastRunView, PayloadSizes } from '../../replies.ts'
import type { RunError } from '../../runError.ts'
import type { Definition } from './definition.ts'
import type { DependencyCounter, DueMode, FlowPlace, ParentOutcome } from './flowState.ts'
import type { JobExtras } from './job.ts'
import type { Counts, LaneTotals } from './lane.ts'

/** A job's row. Times in milliseconds since 1970, 0 for never. */
export interface JobRow {
  readonly seq: number
  readonly node: number
  readonly laneId: number
  readonly state: StateCode
  readonly priority: number
  readonly weight: number
  readonly runAt: number
  readonly run: number
  readonly uncounted: number
  readonly sessionId: number
  readonly enqueuedAt: number
  readonly startedAt: number
  readonly finishedAt: number
  readonly expiresAt: number
  readonly cancelRequested: boolean
  readonly dropped: boolean
  /** The backlog that it is parked behind; 0 for none. */
  readonly backlogId: number
  /** `Policy.text`. */
  readonly policy: string | null
  readonly extras: JobExtras | undefined
  readonly data: Data
  readonly checkpoint: Data
  readonly progress: string | null
  readonly output: Data
  /** Set where the payloads may be cut. */
  readonly bytes?: PayloadSizes
  /** Set in lists that were asked for it. */
  readonly lastRun?: LastRunView | null
}

export interface LaneRow {
  readonly id: number
  readonly queueId: number
  readonly queue: string
  readonly name: string
  readonly paused: boolean
  readonly counts: Counts
  readonly retrying: number
  readonly totals: LaneTotals
  readonly usedAt: number
  readonly usedEvent: number
}

/** A queue that was told something. */
export interface QueueRow {
  readonly id: number
  readonly name: string
  readonly settings: QueueSettings
  readonly paused: boolean
  readonly pausedKeys: readonly string[]
  /** The time until its token bucket was full, at that time of the wall clock. */
  readonly missingMs: number
  readonly missingAt: number
}

/** The end of a timed pause. */
export interface PauseEndRow {
  readonly queueId: number
  readonly part: PausePart
  /** The name or the key; empty for the whole queue. */
  readonly what: string
  /** Wall time. */
  readonly until: number
}

/** A lane's parked jobs of one key. */
export interface KeyBacklogRow {
  readonly id: number
  readonly laneId: number
  readonly key: string
  readonly parked: number
}

/** A finished job that has been kept long enough: what its removal takes, and no more. */
export interface PrunableRow {
  readonly seq: number
  readonly laneId: number
  readonly state: StateCode
  readonly extras: JobExtras | undefined
}

/** The finished jobs of a queue in a state that have been kept long enough. */
export interface KeptQuery {
  readonly queueId: number
  readonly state: StateCode
  /** They have finished before this. */
  readonly before: number
  /** The most that may go. */
  readonly limit: number
  /** Only of turns that had no event after this one; undefined for any. */
  readonly lastEvent?: number | undefined
  /**
   * True for the jobs with a `keep` of their own, and no others: those of which the time is over before `before`, the earliest first. Such
   * jobs are in no other query.
   */
  readonly own?: boolean
}

/** The finished jobs of a queue that have a `keep` of their own. */
export interface KeptCounts {
  readonly queueId: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
}

/** The last event that an export is done with. */
export interface ExportCursor {
  readonly name: string
  readonly cursor: number
}

export interface Prunable {
  /** True for jobs with a `keep` of their own. */
  readonly own: boolean
  readonly rows: readonly PrunableRow[]
  /** The store's own token, handed back in `Effects.pruneTokens` with the turn that removes the rows. */
  readonly token: unknown
}

/** An active job with the session that was recorded for it. */
export interface ActiveRow extends JobRow {
  readonly sessionUuid: string
  /** The session is of another process: it may live whatever became of the engine's. */
  readonly remote: boolean
  readonly worker: string
  readonly logLines: number
}

/** A job whose children are to be told, and one of them. */
export interface FlowDueRow {
  readonly parent: number
  readonly mode: DueMode
  /** The parent's outcome for it. */
  readonly state: ParentOutcome
  /** Undefined where none is left. */
  readonly child: { readonly seq: number; readonly reported: ParentOutcome; readonly counter: DependencyCounter | undefined } | undefined
}

/** A job whose row is gone, and one that it waited for; undefined where none is left. */
export interface FlowLeftRow {
  readonly child: number
  readonly parent: number | undefined
}

/** A job that another one waited for, as far as it is still known. */
export interface ParentRow {
  /** Among the job's parents, from 1. */
  readonly place: number
  readonly seq: number
  readonly ref: string
  readonly state: ParentOutcome
  readonly output: Data
  readonly error: RunError | undefined
}

/** A dependency of a job in a flow, and its outcome as the job knows it. */
export interface DependencyRow {
  readonly seq: number
  /** Empty where nothing is left that says it. */
  readonly ref: string
  readonly told: ParentOutcome
}

/** A job of a flow, without its payloads. */
export interface FlowJobRow {
  readonly row: JobRow
  readonly place: FlowPlace
  /** The jobs from the cursor on, as far as there was room. */
  readonly parents: readonly DependencyRow[]
}

/** A flow as a whole, in a list. */
export interface FlowRow extends JobKey {
  /** The lane of its first job that is kept. */
  readonly laneId: number
  /** The jobs that are kept, by state. */
  readonly counts: Counts
  /** When the last of them ended; 0 while one of them has yet to. */
  readonly finishedAt: number
}

/** A kind's count before the first failure of an hour. */
export interface FailureHour {
  /** When the hour began. */
  readonly at: number
  readonly before: number
}

/** Failures of a kind. */
export interface FailureRow {
  readonly laneId: number
  readonly fingerprint: number
  readonly error: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** The last hours in which a run failed so, oldest first. */
  readonly hours: readonly FailureHour[]
  /** The one that failed last; undefined where its row is gone. */
  readonly job: JobKey | undefined
  /** The message of the run that failed; undefined if it is gone. */
  readonly message: string | undefined
}

/** The token bucket of a key, which was not full: how long before it would be, at that time of the wall clock. */
export interface BucketRow {
  readonly queueId: number
  readonly key: string
  readonly missingMs: number
  readonly missingAt: number
}

/** A worker's session that has been told as attached, and not as gone. */
export interface PresentRow {
  readonly id: number
  readonly uuid: string
  readonly worker: string
  readonly remote: boolean
  readonly draining: boolean
  /** Identifies its process on its machine; empty if unknown. */
  readonly process: string
}

/** A key in a queue that keeps an order, with the backlogs that jobs of it are parked behind. */
export interface TurnQuery {
  readonly queueId: number
  readonly key: string
  readonly backlogIds: readonly number[]
}

/** The job that has its key's turn (`taken`); else the first by arrival of those that are parked, if there is one. */
export interface TurnRow {
  readonly row: JobRow | undefined
  readonly taken: boolean
}

/** All that the tables are built from. */
export interface Loaded {
  readonly node: number
  readonly nextSeq: number
  readonly nextEvent: number
  readonly nextSession: number
  /** No lane or queue has had them, deleted ones included. */
  readonly nextLane: number
  readonly nextQueue: number
  /** Nothing of any queue starts. */
  readonly paused: boolean
  readonly queues: readonly QueueRow[]
  readonly pauseEnds: readonly PauseEndRow[]
  readonly backlogs: readonly KeyBacklogRow[]
  readonly buckets: readonly BucketRow[]
  readonly lanes: readonly LaneRow[]
  readonly active: readonly ActiveRow[]
  readonly present: readonly PresentRow[]
  readonly definitions: readonly DefinitionRow[]
  readonly exports: readonly ExportCursor[]
  /** Schedules that wait for a job which has ended. */
  readonly freed: readonly string[]
  /** True if there are outcomes to propagate to children, or edges to remove. */
  readonly flowWork: boolean
  /** The last minute of which a queue's totals were noted. */
  readonly minutes: readonly { readonly queueId: number; readonly at: number }[]
  /** Queues with none are left out. */
  readonly kept: readonly KeptCounts[]
}

export interface EndsPage {
  readonly ends: readonly JobEnd[]
  /**
   * The events that were looked at, both among them; undefined where there are none. The last is that before the next end, or its
   * turn's last: what goes by turns must not wait for events that say nothing.
   */
  readonly first: number | undefined
  readonly last: number | undefined
}

/** The defaults in force for a name, and the row before which jobs have yet to take them; 0 if none have. */
export interface DefinitionRow {
  readonly name: string
  readonly definition: Definition
  readonly settling: number
}

/** The first place after a job in its lane's order. */
export interface LaneCursor {
  readonly priority: number
  readonly runAt: number
  readonly seq: number
}

export interface KeyHolder {
  readonly name: string
  readonly key: string
  readonly seq: number
  readonly node: number
  readonly enqueuedAt: number
}

export interface IdempotentHolder extends KeyHolder {
  /** The last of the jobs, `seq` the first, of which one must live for the key to hold; undefined while its time runs. */
  readonly until: number | undefined
}

export interface NameAndKey {
  readonly name: string
  readonly key: string
}

export interface Deadlines {
  readonly dueAt: number
  readonly expiresAt: number
  readonly fireAt: number
}

/** An entry in the inbox of a store: a job that somebody has put there without the engine. */
export interface InboxRow extends InboxPlace {
  /** Milliseconds since 1970, by the clock of the store. */
  readonly at: number
  readonly name: string
  /** JSON; null for none. */
  readonly data: string | null
  /** The options of `enqueue`, as JSON. */
  readonly options: string
  /** The reason why the entry becomes no job, if the store knows one. Data and options are not read then. */
  readonly unfit?: Unfit
}
