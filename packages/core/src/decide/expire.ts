/** Expires a job that did not start within its ttl. */
import type { Job } from '../job.ts'
import { finishExpired } from './end.ts'
import { leaveLine } from './line.ts'
import type { TurnContext } from './turn.ts'

export function expireJob(turn: TurnContext, job: Job): void {
  leaveLine(turn, job)
  finishExpired(turn, job)
}
