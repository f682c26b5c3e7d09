/** How long a silent worker keeps a job. */
import { LIMITS } from './limits.ts'

/** Returns milliseconds. A job that nothing keeps alive (`heartbeatTimeout` 0) still has the usual lease, because its worker may die. */
export function leaseMs(heartbeatTimeout: number): number {
  return heartbeatTimeout === 0 ? LIMITS.leaseMs : heartbeatTimeout
}
