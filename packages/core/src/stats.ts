/** Statistics: the replies to `stats` and `workers`. */
import type { Defaults, Vitals } from './commands.ts'
import type { State } from './lifecycle.ts'
import type { QueueOrder } from './options/work.ts'
import type { QueueSettings } from './queueSettings.ts'

export type StateCounts = Readonly<Record<State, number>>

/** Since the file was created. */
export interface Totals {
  readonly enqueued: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
}

/** The numbers of one queue. */
export interface QueueStats extends StateCounts {
  /** The scheduled jobs that wait for another attempt. */
  readonly retrying: number
  readonly paused: boolean
  /**
   * The time since the oldest waiting job became due, held back by its key or not; 0 if none waits. It looks at the 64 names with the most
   * waiting jobs. Among the 10,000 keys known longest, it looks at the 64 that hold back the most. An answer about many queues looks at fewer.
   */
  readonly oldestWaitingMs: number
}

/** The end of a timed pause of a job name or a key. */
export interface PauseEndView {
  readonly job?: string
  readonly key?: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** A queue as `queues` tells it. */
export interface QueueView {
  readonly name: string
  readonly settings: QueueSettings
  readonly paused: boolean
  /** Job names of it that are paused. */
  readonly pausedJobs: readonly string[]
  /** Concurrency keys that are paused. */
  readonly pausedKeys: readonly string[]
  /** When the pause of the whole queue ends, in milliseconds since 1970; undefined if it has no end, or there is none. */
  readonly pausedUntil?: number
  /** When pauses of names and keys end, the next first: at most as many as are listed above; undefined for none. */
  readonly pauseEnds?: readonly PauseEndView[]
  /** Paused names and keys beyond those that are listed here; undefined for none. */
  readonly pausedLeftOut?: number
  readonly states: StateCounts
  /** The scheduled jobs that wait for another attempt. */
  readonly retrying: number
  readonly totals: Totals
  readonly oldestWaitingMs: number
  /** The jobs that run in all queues that name its `sharedLimit`; undefined if it has none. */
  readonly sharedActive?: number
  /** The token bucket of its `rateLimit`: the tokens that are available, and when the next one comes; 0 if the bucket is full. */
  readonly rate?: { readonly tokens: number; readonly nextAt: number }
}

/** `Times` says what there is of each timing: histograms too, unless `stats` was asked for percentiles alone. */
export interface Stats<Times extends Percentiles = Timing> {
  /** The last event that these numbers include: `events({ after: seq })` continues from here. 0 before the first. */
  readonly seq: number
  /** The number of the file, which is part of every job id: 1 to 67,108,863. */
  readonly node: number
  /** True if `pauseAll` holds back all queues, beside the pauses of each. */
  readonly paused: boolean
  readonly states: StateCounts
  /** The scheduled jobs that wait for another attempt: `states.scheduled` counts them too. */
  readonly retrying: number
  readonly totals: Totals
  /** The queues with the most jobs that have not ended: at most 1,000. `queues.list` returns all. */
  readonly queues: Readonly<Record<string, QueueStats>>
  /** The number of queues that are not among them; undefined if there are none. */
  readonly queuesLeftOut?: number
  /** Names with waiting jobs that no attached worker serves, the most jobs first; 100 at most. */
  readonly unserved: readonly { readonly queue: string; readonly name: string; readonly waiting: number }[]
  /** The number of names that `unserved` leaves out; undefined if there are none. */
  readonly unservedLeftOut?: number
  /** Job names that fail often, the most permanently failed jobs first; 100 at most. */
  readonly failing: readonly FailingName[]
  /** The number of names that `failing` leaves out; undefined if there are none. */
  readonly failingLeftOut?: number
  /** The defaults in force for enqueues by plain name, disputed ones first: at most 1,000 names. */
  readonly definitions: readonly DefinitionStats[]
  /** Job names that have run lately, the busiest first; 1,000 at most. */
  readonly names: readonly NameStats<Times>[]
  readonly workers: number
  readonly writer: WriterStats
  /** Undefined from a store that says nothing about its room. */
  readonly store?: StoreStats
  /** Undefined from an engine that has no process of its own. */
  readonly owner?: OwnerStats
}

/** The process that owns the store: its writer thread commits every job. */
export interface OwnerStats {
  readonly host: string
  readonly pid: number
  /** A number that grows each time an engine takes the store. */
  readonly epoch: number
}

/** The room that an engine's data takes, and the room that is left. */
export interface StoreStats {
  /** The name of the file, without its folder; undefined for a database in memory. */
  readonly file?: string
  /** The size of the database, in its file or in memory, with its free pages. The file is shorter until its log is folded in. */
  readonly bytes: number
  /** The part of `bytes` that holds nothing, and that new jobs take first. */
  readonly freeBytes: number
  /** The same as in `WriterStats`. */
  readonly walBytes: number
  /** The room that the disk of the file has left for this user; undefined for a database in memory, or if the system does not say it. */
  readonly diskFreeBytes?: number
  /** The time of the oldest event that is kept, in milliseconds since 1970; undefined if there is none. */
  readonly oldestEventAt?: number
}

/** The defaults of a job name, and the worker that set them. */
export interface DefinitionStats {
  readonly name: string
  readonly defaults: Defaults
  /** The worker that set them. */
  readonly worker: string
  readonly host: string
  /** Milliseconds since 1970. */
  readonly saidAt: number
  /** Workers that are there and say other defaults, which are not in force; 10 at most. */
  readonly disputedBy: readonly string[]
}

/**
 * A job name that fails: at least 10 and 5 % of its runs failed in 15 minutes, or its last 3 runs did. It is over after 10 minutes without
 * a failed run, or after an hour if no run has completed since. It counts from the time when the engine was opened.
 */
export interface FailingName {
  readonly queue: string
  readonly name: string
  /** Runs that ended in the last 15 minutes. */
  readonly runs: number
  /** Failed runs of the last 15 minutes. */
  readonly failed: number
  /** Jobs that failed permanently in the last 15 minutes. */
  readonly failedJobs: number
  /** Failed runs since the last one that completed. */
  readonly streak: number
  /**
   * When it began to fail, in milliseconds since 1970: the first of its last runs in a row, or the run that made the failed ones too many. If it
   * fails again within 15 minutes, it has not stopped.
   */
  readonly firstAt: number
  /** When a run failed last, in milliseconds since 1970. */
  readonly lastAt: number
}

/** Timings of the jobs of a name in a queue since the engine was opened. */
export interface NameStats<Times extends Percentiles = Timing> {
  readonly queue: string
  readonly name: string
  /** Hand-outs. */
  readonly started: number
  readonly completed: number
  /** Runs that failed, those that are tried again included. */
  readonly failed: number
  /**
   * Runs that ended because their worker stopped, as at a deploy, or was lost. A lost run uses an attempt, so `failed` counts it too, unless the
   * job was being cancelled.
   */
  readonly interrupted: number
  /** Time from a job's due time to its hand-out. */
  readonly waitMs: Times
  /** Time from a run's hand-out to its end, whether it completed or failed. */
  readonly runMs: Times
}

/** Percentiles of what was lately, and a histogram of all since the name is kept. */
export interface Timing extends Percentiles {
  /** The sum of all, each in whole milliseconds. */
  readonly sum: number
  /**
   * How many took more than `TIMING_BOUNDS_MS[i - 1]` and up to `TIMING_BOUNDS_MS[i]` milliseconds; behind the last bound those that took
   * longer. Zeros at the end are left out.
   */
  readonly buckets: readonly number[]
}

/** 1 ms, and doubling to 2^22 ms: 70 minutes. */
export const TIMING_BOUNDS_MS: readonly number[] = Array.from({ length: 23 }, (_, doublings) => 2 ** doublings)

/** Percentiles of the last 1,024 to 2,048 values, within 6 %; all 0 if there was none. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface WriterStats {
  readonly turns: number
  /** Commands per turn, of the last 256 turns that wrote. */
  readonly turnSizeP50: number
  readonly turnSizeP99: number
  readonly commitMsP50: number
  readonly commitMsP99: number
  /** Times the tables were thrown away and loaded again. */
  readonly reloads: number
  /** Turns that wrote nothing, or whose outcome is unknown. */
  readonly failedTurns: number
  /** Commands that have arrived and wait for the next turn. */
  readonly mailboxDepth: number
  /** The size of the write-ahead log on disk; 0 for a database in memory. */
  readonly walBytes: number
  /** The size of the events that the journal keeps. */
  readonly journalBytes: number
  /** New work is refused: the disk is full, or the write-ahead log has grown behind a slow reader. */
  readonly draining: boolean
}

/**
 * The place where handlers run: the event loop of the engine's own process, a pool of threads or of child processes, another process, or a
 * program with a client of another make, such as one in Python.
 */
export const WORKER_KINDS = ['inline', 'threads', 'processes', 'remote', 'foreign'] as const
export type WorkerKind = (typeof WORKER_KINDS)[number]

/** A worker as `workers` tells it. */
export interface AttachedWorker extends Vitals {
  /** A number of its own, which grows from worker to worker. */
  readonly session: number
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly names: readonly string[]
  readonly queues: readonly string[] | null
  /** The order in which it serves `queues`. */
  readonly order: QueueOrder
  readonly minConcurrency: number
  readonly maxConcurrency: number
  readonly runningJobs: number
  readonly runningWeight: number
  /** The earliest deadline of its running jobs, in milliseconds since 1970; undefined if none has one. */
  readonly nextDeadlineAt?: number
  /** Runs that ignored their abort for the whole grace, and may still be going on. */
  readonly zombies: number
  readonly draining: boolean
  /** It takes no jobs until it resumes; running jobs continue. */
  readonly paused: boolean
  /** Its connection is lost, or it is silent: it gets no jobs until it is heard again, and keeps its own for their leases. */
  readonly away: boolean
  /** Milliseconds since 1970 by the engine's clock: anew after each break; 0 where it has yet to come back to an engine that was opened since. */
  readonly attachedAt: number
  /**
   * When the engine last heard that it lives: its last renewal, at least every 15 s. One in the engine's own process has no way to be
   * silent: now, for as long as it is attached. 0 as above.
   */
  readonly lastSeenAt: number
  readonly kind: WorkerKind
  /** The version of Millrace that its process runs; of a client of another make the name and version that it gives. Undefined if unknown. */
  readonly version?: string
}
