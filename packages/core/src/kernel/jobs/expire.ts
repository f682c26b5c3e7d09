/** Expires a job that did not start within its ttl. */

import { leaveLine } from '../queues/line.ts'
import type { TurnContext } from '../turn.ts'
import { finishExpired } from './end.ts'
import type { Job } from './job.ts'

export function expireJob(turn: TurnContext, job: Job): void {
  leaveLine(turn, job)
  finishExpired(turn, job)
}
