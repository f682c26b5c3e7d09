/** Answers of an engine where all is well, for tests that make one thing wrong. */
import type { Columns, FailingName, Failure, JobAnswer, QueueAnswer, QueuesHistory, Schedule, StatsAnswer, Worker } from '../api/answers.ts'
import type { Inputs } from '../screens/overview/problems/problem.ts'

export const NOW = Date.UTC(2025, 10, 23, 3, 12, 30)
const HOUR_MS = 3_600_000

export const before = (ms: number): string => new Date(NOW - ms).toISOString()

const NO_JOBS = { scheduled: 0, waiting: 0, active: 0, blocked: 0, completed: 0, failed: 0, cancelled: 0 }

export function queueStats(counts: Partial<StatsAnswer['queues'][string]> = {}): StatsAnswer['queues'][string] {
  return { ...NO_JOBS, retrying: 0, paused: false, oldestWaitingMs: 0, ...counts }
}

export function statsOf(changes: Partial<StatsAnswer> = {}): StatsAnswer {
  const stats = {
    paused: false,
    states: NO_JOBS,
    retrying: 0,
    totals: { enqueued: 9, completed: 9, failed: 0, cancelled: 0 },
    queues: {},
    definitions: [],
    unserved: [],
    failing: [],
    names: [],
    workers: 1,
    writer: writerOf(),
    schedules: { enabled: 0, paused: 0, failing: 0, complete: true },
    uptimeMs: 1_000,
    ...changes,
  }
  return stats as unknown as StatsAnswer
}

export function writerOf(changes: Partial<StatsAnswer['writer']> = {}): StatsAnswer['writer'] {
  const zero = { turns: 0, turnSizeP50: 0, turnSizeP99: 0, commitMsP50: 0, commitMsP99: 0, reloads: 0, failedTurns: 0 }
  return { ...zero, mailboxDepth: 0, walBytes: 0, journalBytes: 0, draining: false, ...changes }
}

export function nameOf(queue: string, name: string, waitP50: number): StatsAnswer['names'][number] {
  const timing = (p50: number) => ({ p50, p95: p50 * 3, p99: p50 * 5, sum: 0, buckets: [] })
  return { queue, name, started: 10, completed: 10, failed: 0, interrupted: 0, waitMs: timing(waitP50), runMs: timing(20) }
}

/** A name of which 22 % of the runs have failed for two hours and a half. */
export function failingOf(changes: Partial<FailingName> = {}): FailingName {
  const counts = { runs: 300, failed: 66, failedJobs: 66, streak: 1 }
  return { queue: 'billing', name: 'charge', ...counts, firstAt: NOW - 2.5 * HOUR_MS, lastAt: NOW - 2_000, ...changes }
}

export function failureOf(changes: Partial<Failure> = {}): Failure {
  const always = { fingerprint: '084e2abb', queue: 'billing', name: 'charge', error: 'PaymentDeclined', count: 253 }
  return { ...always, firstAt: before(24 * HOUR_MS), lastAt: before(2_000), message: 'card ending 67055 declined', ...changes }
}

export function workerOf(changes: Partial<Worker> = {}): Worker {
  const always = { id: 'worker-fra-1', host: 'fra', pid: 7, names: ['charge'], queues: null, minConcurrency: 1, maxConcurrency: 16 }
  const session = { order: 'fair', kind: 'remote', paused: false } as const
  return {
    ...always,
    ...session,
    runningJobs: 3,
    runningWeight: 3,
    zombies: 0,
    draining: false,
    away: false,
    lastSeenAt: before(1_000),
    ...changes,
  }
}

export function queueOf(name: string, settings: QueueAnswer['settings']): QueueAnswer {
  const totals = { enqueued: 0, completed: 0, failed: 0, cancelled: 0 }
  return { name, settings, paused: false, pausedJobs: [], pausedKeys: [], states: NO_JOBS, retrying: 0, totals, oldestWaitingMs: 0 }
}

export function scheduleOf(changes: Partial<Schedule> = {}): Schedule {
  const policies = { overlap: 'skip', catchUp: 'latest' } as const
  const always = { id: 'nightly', job: 'report', jitter: 0, ...policies, options: {}, paused: false, nextRuns: [] }
  return { ...always, runs: 1, skipped: 0, createdAt: before(HOUR_MS), updatedAt: before(HOUR_MS), ...changes }
}

/** An hour of columns, by minutes. */
export function columnsOf(value: (minute: number) => Partial<Record<keyof Columns, number>>): Columns {
  const column = (name: keyof Columns) => Array.from({ length: 60 }, (_, minute) => value(minute)[name] ?? 0)
  return { enqueued: column('enqueued'), completed: column('completed'), failed: column('failed'), cancelled: column('cancelled') }
}

export function historyOf(queues: Readonly<Record<string, Columns>>, total: Columns = columnsOf(() => ({}))): QueuesHistory {
  return { from: new Date(Math.floor(NOW / 60_000) * 60_000 - 59 * 60_000).toISOString(), step: 'minute', total, queues }
}

export function inputsOf(changes: Partial<Inputs> = {}): Inputs {
  const nothing = { failures: [], workers: [], queues: [], schedules: [], crowdedSince: undefined }
  return { stats: statsOf(), ...nothing, now: NOW, zone: 'utc', ...changes }
}

/** A job as the API answers it. */
export function jobOf(changes: Partial<JobAnswer> = {}): JobAnswer {
  const job = {
    id: '01a20941-7c60-7000-8000-0127d5b9b95e',
    name: 'charge',
    queue: 'billing',
    state: 'waiting',
    attempt: 0,
    run: 0,
    maxAttempts: 3,
    timeout: 300_000,
    heartbeatTimeout: 120_000,
    backoff: { type: 'exponential', delay: 2_000, jitter: 0.2, maxDelay: 3_600_000 },
    maxAge: null,
    priority: 0,
    weight: 1,
    enqueuedAt: before(60_000),
    runAt: before(60_000),
    cancelRequested: false,
    lostRuns: 0,
    tags: [],
    meta: {},
    attempts: [],
    ...changes,
  }
  return job as unknown as JobAnswer
}
