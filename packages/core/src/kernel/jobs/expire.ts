/** Expires a job that did not start within its ttl. */

import type { RunError } from '../../runError.ts'
import { leaveLine } from '../queues/line.ts'
import type { Job } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { leaveDeadLetter } from './deadLetter.ts'
import * as transition from './transitions.ts'

export function expireJob(turn: TurnContext, job: Job): void {
  leaveLine(turn, job)
  transition.expire(turn, job, EXPIRED)
  leaveDeadLetter(turn, job, EXPIRED)
}

const EXPIRED: RunError = { name: 'JobExpiredError', message: 'the job was not started within its ttl' }
