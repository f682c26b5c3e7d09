/**
 * Leaves a dead letter for a job that has failed permanently, in the commit of the failure: a job of the same name and data, in the
 * queue that the settings of its own queue name. Nothing refuses it, because the failure cannot wait. It takes no place of another job.
 */
import { formatId } from '../../id.ts'
import { LIMITS } from '../../limits.ts'
import { JOB_TEXT_NAMES, type JobTexts } from '../../options/jobTexts.ts'
import type { RunError } from '../../runError.ts'
import { attemptOf, type Job } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { createDeadLetter } from './enqueue.ts'
import { metaWith } from './meta.ts'

/** A dead letter that fails leaves none, so that queues which name each other do not pass a job on for ever. */
export function leaveDeadLetter(turn: TurnContext, job: Job, { name, message, code }: RunError): void {
  const { queue, name: jobName } = job.lane
  const { deadLetter } = queue.settings
  if (deadLetter === undefined || job.extras?.letter) return
  const error = { name, message: message.slice(0, LIMITS.lastErrorLength), ...(code !== undefined && { code }) }
  const meta = metaWith(job.extras?.meta, 'deadLetter', { id: formatId(job), queue: queue.name, attempt: attemptOf(job), error })
  const { tags, ...extras } = job.extras ?? {}
  // The limits of its own queue count by the concurrency key, and a letter is in another one.
  const kept = JOB_TEXT_NAMES.filter((text) => text !== 'concurrencyKey' && extras[text] !== undefined)
  const texts: JobTexts = Object.fromEntries(kept.map((text) => [text, extras[text]]))
  createDeadLetter(turn, { name: jobName, queue: deadLetter, meta, ...texts, ...(tags && { tags }) }, job)
}
