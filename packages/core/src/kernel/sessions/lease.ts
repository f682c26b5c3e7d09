/**
 * A lease is the time that a silent worker keeps a job: the job's `heartbeatTimeout`, from its session's last renewal, or from
 * the hand-out if that is later. Leases are held only in memory, on the monotonic clock. Sessions of the engine's own process
 * have none: they are lost when their connection ends.
 */
import type { Job } from '../../job.ts'
import { LIMITS } from '../../limits.ts'
import type { Tables } from '../tables.ts'
import type { Session } from './session.ts'

/** Returns milliseconds. A job that nothing keeps alive (`heartbeatTimeout` 0) still has the usual lease, because its worker may die. */
export function leaseMs(heartbeatTimeout: number): number {
  return heartbeatTimeout === 0 ? LIMITS.leaseMs : heartbeatTimeout
}

export function leaseEndMono({ renewedMono }: Session, { grantedMono, policy }: Job): number {
  return Math.max(renewedMono, grantedMono) + leaseMs(policy.heartbeatTimeout)
}

/** Begins the lease of a session's job. */
export function beginLease(tables: Tables, session: Session, job: Job): void {
  const endMono = leaseEndMono(session, job)
  if (endMono < session.leaseMono) tables.setLease(session, endMono)
}
