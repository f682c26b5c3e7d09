/** Builds the tables from what the store holds: at start-up, and after a commit that failed. The one way in. */
import type { Now } from '../clock.ts'
import { LIMITS } from '../limits.ts'
import type { Store } from '../store.ts'
import { Tables } from './tables.ts'

/**
 * @param alive uuids of the sessions whose process is this one, or that still have their lease: their jobs stay active until
 * they attach again. All others' are abandoned, and recovered by the first turn.
 */
export function loadTables(store: Store, alive: ReadonlySet<string>, now: Now): Tables {
  const loaded = store.load()
  const tables = new Tables(loaded, store.deadlines())
  for (const row of loaded.active) {
    const job = tables.fromRow(row)
    job.data = undefined
    job.worker = row.worker
    job.logLines = row.logLines
    tables.jobs.set(job.seq, job)
    if (!alive.has(row.sessionUuid)) {
      tables.abandoned.push(job)
      continue
    }
    const jobs = tables.unattached.get(row.sessionUuid)
    if (jobs === undefined) tables.unattached.set(row.sessionUuid, new Set([job]))
    else jobs.add(job)
    const { timeout, heartbeatTimeout } = job.policy
    if (job.cancelRequested) {
      job.abort = 'cancel'
      tables.setDeadline(job, now.mono + LIMITS.reattachGraceMs)
    } else {
      // The monotonic clock may be another one by now: what is left of the deadline by the wall clock, and one heartbeat at least.
      // A run without a deadline has one until its session has come back for it.
      const leftMs = timeout === Number.POSITIVE_INFINITY ? 0 : Math.min(job.startedAt + timeout - now.wall, timeout)
      tables.setDeadline(job, now.mono + Math.max(leftMs, heartbeatTimeout, LIMITS.reattachGraceMs))
    }
  }
  return tables
}
