/** Metrics from `stats`, for a bounded number of queues and names, those with the most first. */
import {
  type NameStats,
  type QueueStats,
  STATES,
  type Stats,
  type StoreStats,
  TIMING_BOUNDS_MS,
  type Timing,
  type WriterStats,
} from '@millrace/core'
import { BOUNDS } from '../limits.ts'
import type { Overview } from '../overview.ts'
import { type Cumulative, Exposition } from './exposition.ts'

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

export function openMetrics(
  { paused, totals, queues, queuesLeftOut = 0, names, unserved, workers, writer, store }: Stats,
  overview: Overview,
): string {
  const out = new Exposition()
  overviewFamilies(out, overview)
  const busiest = Object.entries(queues).toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))
  const told = busiest.slice(0, BOUNDS.metricsQueues)
  const toldNames = names.slice(0, BOUNDS.metricsNames)

  for (const [what, count] of Object.entries(totals)) {
    out.family({ name: `millrace_jobs_${what}`, type: 'counter', help: `Jobs ${what} since the file was created.` })(count)
  }
  queueFamilies(out, told)
  nameFamilies(out, toldNames)
  const waiting = out.family({
    name: 'millrace_unserved_jobs',
    type: 'gauge',
    help: 'Waiting jobs of names that no attached worker serves.',
  })
  for (const { queue, name, waiting: count } of unserved) waiting(count, { queue, name })
  out.family({ name: 'millrace_paused', type: 'gauge', help: '1 if no job of any queue starts.' })(paused ? 1 : 0)
  out.family({ name: 'millrace_workers', type: 'gauge', help: 'Attached workers.' })(workers)
  writerFamilies(out, writer)
  if (store !== undefined) storeFamilies(out, store)
  const omitted = out.family({
    name: 'millrace_metrics_omitted',
    type: 'gauge',
    help: 'Queues and names beyond the most that are listed here.',
  })
  omitted(busiest.length - told.length + queuesLeftOut, { kind: 'queue' })
  omitted(names.length - toldNames.length, { kind: 'name' })
  return out.text()
}

function overviewFamilies(out: Exposition, { version, uptimeMs, schedules: { enabled, paused } }: Overview): void {
  if (version !== undefined)
    out.family({ name: 'millrace_build', type: 'info', help: 'The version of the program that serves the API.' })(1, { version })
  out.family({ name: 'millrace_uptime_seconds', type: 'gauge', unit: 'seconds', help: 'Time since the API was built.' })(uptimeMs / 1_000)
  const schedules = out.family({ name: 'millrace_schedules', type: 'gauge', help: 'Schedules, at most 2,000 of them.' })
  schedules(enabled, { state: 'enabled' })
  schedules(paused, { state: 'paused' })
}

type Queues = readonly (readonly [name: string, stats: QueueStats])[]

function sizeOf({ waiting, scheduled, active, blocked }: QueueStats): number {
  return waiting + scheduled + active + blocked
}

function queueFamilies(out: Exposition, queues: Queues): void {
  const jobs = out.family({ name: 'millrace_jobs', type: 'gauge', help: 'Jobs that are kept, by queue and state.' })
  for (const [queue, stats] of queues) for (const state of STATES) jobs(stats[state], { queue, state })
  const retrying = out.family({ name: 'millrace_jobs_retrying', type: 'gauge', help: 'Scheduled jobs that wait for another attempt.' })
  for (const [queue, stats] of queues) retrying(stats.retrying, { queue })
  const paused = out.family({ name: 'millrace_queue_paused', type: 'gauge', help: '1 if the queue is paused.' })
  for (const [queue, stats] of queues) paused(stats.paused ? 1 : 0, { queue })
  const oldest = out.family({
    name: 'millrace_queue_oldest_waiting_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Time since the oldest waiting job became due.',
  })
  for (const [queue, stats] of queues) oldest(stats.oldestWaitingMs / 1_000, { queue })
}

function nameFamilies(out: Exposition, names: readonly NameStats[]): void {
  const counters = {
    started: 'Hand-outs of jobs since the engine was opened.',
    completed: 'Runs that completed.',
    failed: 'Runs that failed, those that are tried again included.',
    interrupted: 'Runs that ended because their worker stopped or was lost. Lost ones are among the failed, too.',
  } as const
  for (const what of ['started', 'completed', 'failed', 'interrupted'] as const) {
    const family = out.family({ name: `millrace_runs_${what}`, type: 'counter', help: counters[what] })
    for (const { queue, name, [what]: count } of names) family(count, { queue, name })
  }
  const times = {
    wait: ['waitMs', 'Time from the moment a job became due to its hand-out.'],
    run: ['runMs', 'Time from the hand-out of a run to its end, completed or failed.'],
  } as const
  for (const [what, [field, help]] of Object.entries(times)) {
    const family = out.histograms({ name: `millrace_job_${what}_seconds`, unit: 'seconds', help })
    for (const { queue, name, [field]: timing } of names) family(cumulative(timing), timing.sum / 1_000, { queue, name })
  }
}

/**
 * Uses each of the engine's own bounds. The engine counts in buckets with these ends, so no duration is on the wrong side of
 * one. The bounds are the same for every name and at all times, which sums and rates of them require.
 */
function cumulative({ buckets }: Timing): readonly Cumulative[] {
  let count = 0
  return [...TIMING_BOUNDS_MS, Number.POSITIVE_INFINITY].map((boundMs, index) => {
    count += buckets[index] ?? 0
    return [boundMs / 1_000, count]
  })
}

function writerFamilies(out: Exposition, writer: WriterStats): void {
  const gauge = (name: string, value: number, help: string, unit?: string) =>
    out.family({ name, type: 'gauge', help, ...(unit !== undefined && { unit }) })(value)
  const counter = (name: string, value: number, help: string) => out.family({ name, type: 'counter', help })(value)
  counter('millrace_writer_turns', writer.turns, 'Turns that the writer has taken.')
  counter('millrace_writer_failed_turns', writer.failedTurns, 'Turns that wrote nothing, or whose outcome is unknown.')
  counter('millrace_writer_reloads', writer.reloads, 'Times that the tables were loaded again.')
  const size = out.family({
    name: 'millrace_writer_turn_commands',
    type: 'summary',
    help: 'Commands per turn, of the last 256 that wrote.',
  })
  size(writer.turnSizeP50, { quantile: '0.5' })
  size(writer.turnSizeP99, { quantile: '0.99' })
  const commit = out.family({
    name: 'millrace_writer_commit_seconds',
    type: 'summary',
    unit: 'seconds',
    help: 'How long commits take, of the last 256 turns that wrote.',
  })
  commit(writer.commitMsP50 / 1_000, { quantile: '0.5' })
  commit(writer.commitMsP99 / 1_000, { quantile: '0.99' })
  gauge('millrace_writer_mailbox_commands', writer.mailboxDepth, 'Commands that wait for the next turn.')
  gauge('millrace_writer_wal_bytes', writer.walBytes, 'Size of the write-ahead log on disk.', 'bytes')
  gauge('millrace_writer_journal_bytes', writer.journalBytes, 'Size of the events that are kept.', 'bytes')
  gauge('millrace_writer_draining', writer.draining ? 1 : 0, '1 if new work is refused.')
}

function storeFamilies(out: Exposition, { bytes, freeBytes, diskFreeBytes }: StoreStats): void {
  const gauge = (name: string, value: number, help: string) => out.family({ name, type: 'gauge', help, unit: 'bytes' })(value)
  gauge('millrace_store_bytes', bytes, 'Size of the database with its free pages.')
  gauge('millrace_store_free_bytes', freeBytes, 'Size of the pages of the database that hold nothing.')
  if (diskFreeBytes !== undefined) gauge('millrace_disk_free_bytes', diskFreeBytes, 'Free space of the disk of the file.')
}
