/**
 * A lease is the time that a silent worker keeps a job: the job's `heartbeatTimeout`, from its session's last renewal, or from
 * the hand-out if that is later. Leases are held only in memory, on the monotonic clock. Sessions of the engine's own process
 * have none: they are lost when their connection ends.
 */
import { leaseMs } from '../../lease.ts'
import type { Job } from '../records/job.ts'
import type { Session } from '../records/session.ts'
import type { Tables } from '../state/tables.ts'

export function leaseEndMono({ renewedMono }: Session, { grantedMono, policy }: Job): number {
  return Math.max(renewedMono, grantedMono) + leaseMs(policy.heartbeatTimeout)
}

/** Begins the lease of a session's job. */
export function beginLease(tables: Tables, session: Session, job: Job): void {
  const endMono = leaseEndMono(session, job)
  if (endMono < session.leaseMono) tables.setLease(session, endMono)
}
