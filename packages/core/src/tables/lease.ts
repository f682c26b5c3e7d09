/**
 * How long a silent worker keeps a job: from its session's last renewal, or from the hand-out where that is later, as long as the
 * job's `heartbeatTimeout`. Held in memory alone, on the monotonic clock. Sessions of the engine's own process have none: they are
 * lost when their connection ends.
 */
import type { Job } from '../job.ts'
import { LIMITS } from '../limits.ts'
import type { Session } from './session.ts'
import type { Tables } from './tables.ts'

/** Milliseconds. A job that nothing keeps alive (`heartbeatTimeout` 0) has the usual lease all the same: its worker may die. */
export function leaseMs(heartbeatTimeout: number): number {
  return heartbeatTimeout === 0 ? LIMITS.leaseMs : heartbeatTimeout
}

export function leaseEndMono({ renewedMono }: Session, { grantedMono, policy }: Job): number {
  return Math.max(renewedMono, grantedMono) + leaseMs(policy.heartbeatTimeout)
}

/** The session has a job, and with it its lease. */
export function beginLease(tables: Tables, session: Session, job: Job): void {
  const endMono = leaseEndMono(session, job)
  if (endMono < session.leaseMono) tables.setLease(session, endMono)
}
