/** A job that was not started within its ttl. */
import type { Job } from '../job.ts'
import { finishExpired } from './end.ts'
import type { TurnContext } from './turn.ts'

export function expireJob(turn: TurnContext, job: Job): void {
  turn.tables.unline(job)
  finishExpired(turn, job)
}
