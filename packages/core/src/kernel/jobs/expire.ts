/** Expires a job that did not start within its ttl. */

import { leaveLine } from '../queues/line.ts'
import type { TurnContext } from '../turn.ts'
import type { Job } from './job.ts'
import * as transition from './transitions.ts'

export function expireJob(turn: TurnContext, job: Job): void {
  leaveLine(turn, job)
  transition.expire(turn, job)
}
