/** The engine's interface to its store: reads set by set, and one write per turn. It is synchronous; `@millrace/sqlite` implements it. */
import type { FailedPlace } from '../../commands.ts'
import type { JournalEvent } from '../../events.ts'
import type { FlowCursor } from '../../flowCommands.ts'
import { type JobKey, NODE_LIMIT, PLACE_LIMIT, sourcedNode } from '../../id.ts'
import type { Data } from '../../job.ts'
import type { FailuresOrder, HistoryStep } from '../../observeCommands.ts'
import type { PayloadName } from '../../options/payload.ts'
import type { AttemptView, NumberedLine } from '../../replies.ts'
import type { JournalExtent } from '../../retention.ts'
import type { RunError } from '../../runError.ts'
import type { StoreStats } from '../../stats.ts'
import type { KeptMessage, StepResult } from '../../steps.ts'
import type { DependencyCounter } from '../records/flowState.ts'
import type { Counts } from '../records/lane.ts'
import type {
  Deadlines,
  EndsPage,
  FailureRow,
  FlowDueRow,
  FlowJobRow,
  FlowLeftRow,
  IdempotentHolder,
  JobRow,
  KeptQuery,
  KeyHolder,
  LaneCursor,
  Loaded,
  NameAndKey,
  ParentRow,
  Prunable,
  TurnQuery,
  TurnRow,
} from '../records/rows.ts'
import type { Schedule } from '../records/ticks.ts'
import type { Effects } from './effects.ts'
import type { HistorySpan, MinuteRow, QueueMinutes } from './history.ts'
import type { FlowRows, FlowsQuery, ListQuery, ListRows, Matching, ScanBound } from './lists.ts'
import type { SourceOffset, StepMark } from './turnRows.ts'

/** The numbers that go with a turn into its transaction. */
export interface TurnHeader {
  /** Wall time of the turn. */
  readonly at: number
  readonly nextSeq: number
  readonly nextEvent: number
  readonly nextSession: number
  /** The time of the turn, on the clock of `Queue.fullMono`. */
  readonly mono: number
  /** The jobs that run once the turn is written. */
  readonly running: () => readonly number[]
}

/** The reads of turns: one set-based read for each kind. */
export interface TurnReads {
  /** With `payloadBytes`, payloads are cut to that many bytes each, and the rows say how many there are. */
  jobs(seqs: readonly number[], payloadBytes?: number): JobRow[]
  /** Idempotency keys that have not run out at `at`, and those whose job, or a job of whose flow, lives. */
  idempotent(keys: readonly NameAndKey[], at: number): IdempotentHolder[]
  /** When an idempotency key is to be looked at first, because it has run out; 0 where there is none. */
  keyExpiry(): number
  unique(keys: readonly NameAndKey[]): KeyHolder[]
  /** Jobs of producers' journals, by their `node`; payloads as of `jobs`. */
  sourced(nodes: readonly number[], payloadBytes?: number): JobRow[]
  /** Returns the offset of each of these journals that is known. */
  offsets(sources: readonly string[]): SourceOffset[]
  /** The next waiting jobs of a lane in its order, at most `jobs` and about `bytes` of payload (at least one job). */
  window(
    laneId: number,
    after: LaneCursor | undefined,
    jobs: number,
    bytes: number,
  ): { readonly rows: JobRow[]; readonly complete: boolean }
  /** The next parked jobs of a backlog in their order, in the same way. */
  parked(
    backlogId: number,
    after: LaneCursor | undefined,
    jobs: number,
    bytes: number,
  ): { readonly rows: JobRow[]; readonly complete: boolean }
  /** Returns the jobs whose turn it is, of the first of these keys, up to about so many bytes of payload; at least one. */
  turns(keys: readonly TurnQuery[], bytes: number): TurnRow[]
  /**
   * Scheduled and waiting jobs of a queue that drops its oldest, by arrival and without payload: at most `limit`, and about `bytes` of what
   * else they carry; at least one where there is one. What was written before the queue was told so is not among them.
   */
  arrivals(queueId: number, limit: number, bytes: number): { readonly rows: JobRow[]; readonly complete: boolean }
  /** Scheduled jobs that are due at `at`, earliest first. */
  due(at: number, limit: number): JobRow[]
  /** Jobs not started by their `expiresAt` at `at`. */
  expired(at: number, limit: number): JobRow[]
  /** Failed jobs of the given lanes behind a place, oldest failure first; at least one where there is one. */
  failed(laneIds: readonly number[], after: FailedPlace, limit: number): JobRow[]
  /**
   * Jobs that a filter matches, from rows before one, newest first: at most `limit`, fewer where they are large or where many others
   * stand between. `next` is the place to go on from, null where there are none left.
   */
  matching(filter: Matching, before: number, limit: number): { readonly rows: JobRow[]; readonly next: number | null }
  /**
   * Finished jobs that have been kept long enough, oldest first in each queue and state: at most `limit` in all, fewer where they are
   * large. An answer may have no rows where many have been brought back since; where there are no more, there is no answer.
   */
  prunable(kept: readonly KeptQuery[], limit: number): Prunable[]
  /** Returns results of a job's durable calls behind a number: at most `limit`, and about `bytes` of their values; at least one if there is one. */
  steps(seq: number, after: number, limit: number, bytes: number): { readonly results: StepResult[]; readonly complete: boolean }
  /** Returns the first failed step of a job, or the result of that name; undefined if there is none. */
  step(seq: number, name?: string): StepMark | undefined
  /** Returns the oldest messages that a job keeps, of that name or of all: at most `limit`, and about `bytes` of their values; at least one. */
  messages(seq: number, name: string | undefined, limit: number, bytes: number): KeptMessage[]
  /** Returns the counters of those jobs that wait for others. */
  dependencies(seqs: readonly number[]): DependencyCounter[]
  /** Returns outcomes to propagate, reverted ones first, by parent, then by child: at most `limit` rows. */
  flowDue(limit: number): FlowDueRow[]
  /** Jobs in this order without payload and output, at most about `bytes` of what else they carry; at least one where there is one. */
  children(seqs: readonly number[], bytes: number): { readonly rows: JobRow[]; readonly complete: boolean }
  /** Edges of jobs whose rows are gone, by child; at most `limit`. */
  flowLeft(limit: number): FlowLeftRow[]
  /** The earliest due time, the earliest `expiresAt` and the earliest time at which a schedule fires, of all; 0 where there is none. */
  deadlines(): Deadlines
  schedules(ids: readonly string[]): Schedule[]
  /** Schedules that fire at `at` or before, earliest first, and those of one time in any order; none that is paused or waits for a job to end. */
  dueSchedules(at: number, limit: number): Schedule[]
  /** Returns what the journal holds, and where its events of before `at` end. */
  journal(at: number): JournalExtent
}

/** A read of a turn, with its arguments. */
export type Question = {
  readonly [Kind in keyof TurnReads]: { readonly kind: Kind; readonly args: Parameters<TurnReads[Kind]> }
}[keyof TurnReads]

/** The part of a store that turns need: what to load into memory, reads set by set, one write. */
export interface TurnStore extends TurnReads {
  load(): Loaded
  /** Answers each question in its place: one round trip, where the store is in another process. */
  read(questions: readonly Question[]): readonly unknown[]
  /** One transaction. Throws StoreFailure. */
  write(effects: Effects, header: TurnHeader): void
  /** Closes the connection and opens it anew, after a commit whose outcome is unknown. */
  reopen(): void
  close(): void
}

/** At most `limit` lines behind a number, or, if `newest`, before it: then the newest first. */
export interface LogsQuery {
  readonly after: number
  readonly limit: number
  readonly newest: boolean
}

/** Reads for answers, after the commit. */
export interface Questions extends Pick<TurnStore, 'jobs' | 'sourced' | 'steps' | 'journal' | 'schedules'> {
  /** Each of these in its place, undefined where it is gone: at least one, and no more than about `bytes` of payload. */
  jobsInPlace(seqs: readonly number[], bytes: number): (JobRow | undefined)[]
  /** The runs of each of these jobs that counted, or left an error, with their logs. */
  attempts(rows: readonly JobRow[]): AttemptView[][]
  /** Returns log lines of a run, in the order of the query. */
  logLines(seq: number, run: number, query: LogsQuery): NumberedLine[]
  /** Returns these jobs with their last runs, each the last of what `attempts` returns, in short. */
  withLastRuns(rows: readonly JobRow[]): JobRow[]
  /** The error of the job's last failed run. */
  lastError(seq: number): RunError | undefined
  /** Returns a job's parents behind a place: at most `limit`, and about `bytes` of output; at least one if there is one. */
  parents(seq: number, after: number, limit: number, bytes: number): { readonly rows: ParentRow[]; readonly complete: boolean }
  /**
   * Jobs of the flow that begins with a row, which may be gone, from a place on: at most `limit`, with at most so many that they wait for,
   * all of one moment. `next` is where it goes on, null where there are no more. `counts` are of all jobs of the flow, by state.
   */
  flowJobs(
    first: number,
    from: FlowCursor,
    limit: number,
    edges: number,
  ): { readonly rows: FlowJobRow[]; readonly next: FlowCursor | null; readonly counts: Counts }
  /**
   * Flows with a job that waits, or has waited, for others, newest first, all of one moment. It counts the jobs of one flow after the other,
   * of so many jobs at most and of one flow at least, and of no more flows once it is late.
   */
  listFlows(query: FlowsQuery, bound: ScanBound): FlowRows
  /**
   * Reads a page of the jobs that match, newest first, fewer where they are large. With `search`, they contain that text (`contains`
   * in jobs/contains.ts says where); it looks at so many rows at most, and at no more once it is late.
   */
  list(query: ListQuery, bound: ScanBound): ListRows
  /** Returns one payload of a job; null where there is no such job, or no such payload. */
  payload(seq: number, name: PayloadName): Data
  /** When the longest waiting job of a lane became due, of those that are not parked; 0 where none waits. */
  oldestWaiting(laneId: number): number
  /** The same of those that are parked behind a backlog. */
  oldestParked(backlogId: number): number
  /** A queue's totals before each minute or hour that counted something, from one on, in order. */
  minutes(queueId: number, step: HistoryStep, from: number): MinuteRow[]
  /** Visits queues that counted something in a span, the busiest first: at most `limit`, all of one moment. Returns how many there are. */
  histories(span: HistorySpan, limit: number, visit: (queue: QueueMinutes) => void): number
  /** Returns groups of failures in an order; of these lanes, or of all. */
  failures(laneIds: readonly number[] | undefined, limit: number, order: FailuresOrder): FailureRow[]
  events(after: number, limit: number): JournalEvent[]
  /** The ends of jobs after an event, in order: at most `limit`, and of the next `events` that the journal has alone. */
  ends(after: number, limit: number, events: number): EndsPage
  /** Schedules by the order of their ids, behind `after`; without their jobs' payloads. */
  schedulePage(prefix: string, after: string | undefined, limit: number): Schedule[]
}

/** The room of a store, in bytes. */
export type Room = Pick<StoreStats, 'file' | 'bytes' | 'freeBytes' | 'diskFreeBytes'>

/** The care that a store in a file needs. */
export interface FileCare {
  /** Copies the store to a file. */
  backup(file: string): Promise<{ readonly bytes: number }>
  /** Returns the size of the write-ahead log; 0 if there is none. */
  walBytes(): number
  /** Folds the log into the file and cuts it, where no reader is in the way. */
  foldWal(): void
  /** Pages that hold nothing and are used again, and pages in all. */
  freePages(): { readonly free: number; readonly all: number }
  /** Returns what the database takes and what is left to it. */
  room(): Room
  /** Gives up to so many free pages back, in a transaction of its own; the file is as much shorter once the log is folded in. Throws StoreFailure. */
  shrink(pages: number): void
  /** The number of bytes that must be free before `restoreBallast` succeeds. */
  readonly ballastNeedsBytes: number
  /** Gives back the room that was kept for a full disk, or takes it again; false where it cannot. */
  releaseBallast(): void
  restoreBallast(): boolean
}

export interface Store extends TurnStore, Questions {
  /** Undefined if the store is in no file. */
  readonly care: FileCare | undefined
}

/** Answers questions by the reads of a store that is in this process. */
export function answersOf(reads: TurnReads, questions: readonly Question[]): readonly unknown[] {
  return questions.map(({ kind, args }) => (reads[kind] as (...values: readonly unknown[]) => unknown)(...args))
}

/** The row of the job that an id names: a file's own says it, of a producer's journal it is looked up. */
export function findRow(
  store: Pick<TurnStore, 'jobs' | 'sourced'>,
  { seq, node, enqueuedAt }: JobKey,
  payloadBytes?: number,
): JobRow | undefined {
  const own = store.jobs([seq], payloadBytes)[0]
  if (own !== undefined && own.node === node && own.enqueuedAt === enqueuedAt) return own
  if (node >= NODE_LIMIT || seq >= PLACE_LIMIT) return undefined
  return store.sourced([sourcedNode(seq, node)], payloadBytes).find((row) => row.enqueuedAt === enqueuedAt)
}
