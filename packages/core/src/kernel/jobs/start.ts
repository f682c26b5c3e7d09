/** Hands a waiting job to a session. This is the one place where a run begins and where `run` grows. */

import { ACTIVE } from '../../lifecycle.ts'
import { broken } from '../records/broken.ts'
import { takeTokens } from '../records/bucket.ts'
import { DIRTY_START, type Job } from '../records/job.ts'
import { keyRateOf } from '../records/keyBacklog.ts'
import type { Session } from '../records/session.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { freeAtStart } from './coalescing.ts'
import { beginLease } from './lease.ts'

export function start(turn: TurnContext, job: Job, session: Session): void {
  const { tables, effects, now } = turn
  const { queue } = job.lane
  const { rateLimit } = queue.settings
  if (rateLimit !== undefined) {
    queue.fullMono = takeTokens(rateLimit, queue.fullMono, now.mono, job.policy.tokens)
    effects.noteQueue(queue)
  }
  if (job.session !== undefined) broken(`job ${job.seq} starts, and a session still has it`)
  tables.take(job)
  if (queue.keys !== undefined) takeKeyToken(turn, job)
  effects.move(job, 'start', ACTIVE, DIRTY_START)
  if (job.extras !== undefined) freeAtStart(turn, job)
  job.run++
  job.startedAt = now.wall
  job.sessionId = session.id
  job.session = session
  job.abort = undefined
  job.passedMono = -1
  job.logLines = 0
  session.jobs.add(job)
  session.weight += job.weight
  job.grantedMono = now.mono
  if (!session.intro.local) beginLease(tables, session, job)
  if (job.policy.timeout !== Number.POSITIVE_INFINITY) tables.setDeadline(job, now.mono + job.policy.timeout)
  effects.event('started', job)
  effects.grants.push(job)
}

function takeKeyToken({ tables, effects, now }: TurnContext, job: Job): void {
  const key = tables.keys.keyOf(job)
  const rate = key && keyRateOf(key)
  if (key === undefined || rate === undefined) return
  tables.keys.buckets.take(key, rate, now.mono, job.policy.tokens)
  effects.noteBucket(key)
}
