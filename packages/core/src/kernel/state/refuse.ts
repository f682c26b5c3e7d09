/** The refusals that decisions share. */

import { Refused } from '../../decision.ts'
import { formatId, type JobKey } from '../../id.ts'
import type { HeldKey } from '../../keyCommands.ts'
import { LIMITS } from '../../limits.ts'
import type { Job } from '../records/job.ts'

export function notFound(id: JobKey): Refused {
  const jobId = formatId(id)
  return new Refused({ code: 'JOB_NOT_FOUND', message: `there is no job ${jobId}`, details: { jobId } })
}

export function noHolder(of: HeldKey | undefined): Refused {
  const { kind, name, key } = of ?? { kind: 'unique', name: '', key: '' }
  const message = `no job '${name}' has the ${kind} key '${key}'`
  return new Refused({ code: 'JOB_NOT_FOUND', message, details: { jobId: '' } })
}

export function active(id: JobKey, what: string): Refused {
  const jobId = formatId(id)
  return new Refused({ code: 'JOB_ACTIVE', message: `job ${jobId} is running: ${what}`, details: { jobId } })
}

/** Refuses a change of a job whose handler has come further than the change. */
export function begun(id: JobKey, what: string): Refused {
  const jobId = formatId(id)
  return new Refused({
    code: 'JOB_ACTIVE',
    message: `job ${jobId} has begun, and continues later: ${what}`,
    details: { jobId },
  })
}

export function finished(id: JobKey, state: string, what: string): Refused {
  const jobId = formatId(id)
  return new Refused({ code: 'JOB_FINISHED', message: `job ${jobId} is ${state}: ${what}`, details: { jobId } })
}

export function blocked(id: JobKey, what: string): Refused {
  const jobId = formatId(id)
  return new Refused({ code: 'JOB_BLOCKED', message: `job ${jobId} waits for other jobs: ${what}`, details: { jobId } })
}

export function scheduled(id: JobKey, isAsleep: boolean): Refused {
  const jobId = formatId(id)
  const message = isAsleep
    ? `job ${jobId} sleeps, and has not failed: use runNow to end its earliest sleep`
    : `job ${jobId} waits for its time, and no attempt of it has failed: use runNow to start it now`
  return new Refused({ code: 'JOB_SCHEDULED', message, details: { jobId } })
}

export function messageAwaited(job: Pick<Job, keyof JobKey | 'extras'>): Refused {
  const jobId = formatId(job)
  const names = (job.extras?.steps?.waiting?.waits ?? []).map(({ message }) => `'${message}'`).join(', ')
  const message = `job ${jobId} waits for a message without a timeout, and for no time: send it ${names}`
  return new Refused({ code: 'JOB_SCHEDULED', message, details: { jobId } })
}

export function joinRefused(option: string, message: string): Refused {
  return new Refused({ code: 'OPTION_RANGE', message, details: { option, limit: LIMITS.joinsPerJob } })
}

export function parentFailed(id: JobKey): Refused {
  const jobId = formatId(id)
  const message = `a job that ${jobId} waits for has failed, was cancelled or deleted: retry that one, and this one comes back with it`
  return new Refused({ code: 'PARENT_FAILED', message, details: { jobId } })
}

export function workerNotFound(workerId: string): Refused {
  return new Refused({
    code: 'WORKER_NOT_FOUND',
    message: `no worker '${workerId}' is attached: workers() names all`,
    details: { workerId },
  })
}

export function uniqueConflict(key: string, holder: JobKey): Refused {
  const jobId = formatId(holder)
  return new Refused({ code: 'UNIQUE_CONFLICT', message: `the unique key '${key}' is held by live job ${jobId}`, details: { jobId } })
}

/** Refuses two jobs of one call with the same key. Neither exists, so the refusal names no job. */
export function conflictInCall(key: string): Refused {
  const message = `two jobs of the call have the unique key '${key}', and with onConflict 'error' none is created: give each its own key, or use onConflict 'skip'`
  return new Refused({ code: 'UNIQUE_CONFLICT', message, details: { jobId: '' } })
}

export function queueFull(queue: string, maxLength: number): Refused {
  const message = `queue '${queue}' takes ${maxLength} jobs that are yet to start, and has no room: try again later, or raise its maxLength`
  return new Refused({ code: 'QUEUE_FULL', message, details: { queue, maxLength } })
}

export function tooManyQueues(queue: string, maxQueues: number): Refused {
  const message = `there are ${maxQueues} queues, the most that maxQueues allows, and queue '${queue}' would be one more: delete empty ones with queues.delete(name), use fewer names, or open the engine with a larger maxQueues`
  return new Refused({ code: 'TOO_MANY_QUEUES', message, details: { queue, maxQueues } })
}

export function tooManyNames(job: string, queue: string, maxNames: number): Refused {
  const where = queue === '' ? `the definition of '${job}'` : `'${job}' in queue '${queue}'`
  const message = `there are ${maxNames} job names, the most that a store keeps, and ${where} would be one more: use fewer names, and put what varies into the data or the tags of jobs; names that nothing has used for a day are forgotten when the journal has no event of them any more (retention.journal), or at once with their queue by queues.delete(name)`
  return new Refused({ code: 'TOO_MANY_NAMES', message, details: { job, queue, maxNames } })
}

export function nothingToDrop(queue: string, maxLength: number): Refused {
  const message = `queue '${queue}' takes ${maxLength} jobs that are yet to start, and has not so many for a new one to take their place: those of one call and those that wait for others stay; try again later, send fewer in one call, or raise its maxLength`
  return new Refused({ code: 'QUEUE_FULL', message, details: { queue, maxLength } })
}

export function dropWithoutLength(queue: string): Refused {
  const message = `onFull 'drop-oldest' is for a queue with a maxLength, and queue '${queue}' would have none: give maxLength with it, or onFull: null`
  return new Refused({ code: 'UNSUPPORTED', message, details: { option: 'onFull' } })
}

export function deadLetterOfItself(queue: string): Refused {
  const message = `queue '${queue}' cannot keep its own dead letters: let deadLetter name another queue`
  return new Refused({ code: 'UNSUPPORTED', message, details: { option: 'deadLetter' } })
}

export function queueDraining(queue: string): Refused {
  const message = `queue '${queue}' is being drained and takes no new jobs: try again later, or resume it with queues.resume('${queue}')`
  return new Refused({ code: 'QUEUE_DRAINING', message, details: { queue } })
}

export function queueNotEmpty(queue: string, jobs: number): Refused {
  const message = `queue '${queue}' has ${jobs} jobs, finished ones included: remove them with queues.purge('${queue}'), or let retention take them`
  return new Refused({ code: 'QUEUE_NOT_EMPTY', message, details: { queue, jobs } })
}

export function queueNotFound(queue: string): Refused {
  const message = `there is no queue '${queue}': its first job creates it, and so does queues.configure('${queue}', {})`
  return new Refused({ code: 'QUEUE_NOT_FOUND', message, details: { queue } })
}

export function keyOrderConflict(queue: string, perKeyLimit: number): Refused {
  const message = `keyOrder 'strict' runs the jobs of a key one at a time, and queue '${queue}' would allow ${perKeyLimit} of them: set perKeyLimit and keyTiers to null with it`
  return new Refused({ code: 'UNSUPPORTED', message, details: { option: 'keyOrder' } })
}

export function keyOrderTooLate(queue: string, jobs: number): Refused {
  const message = `keyOrder is changed while the queue has no job that is yet to end, and queue '${queue}' has ${jobs}: let them end, with queues.drain('${queue}'), or name another queue`
  return new Refused({ code: 'QUEUE_NOT_EMPTY', message, details: { queue, jobs } })
}

export function noExport(name: string): Refused {
  return new Refused({ code: 'UNSUPPORTED', message: `there is no export '${name}' any more: it was deleted; to read it anew begins anew` })
}

export function scheduleExists(scheduleId: string): Refused {
  const message = `schedule '${scheduleId}' exists already: use update to change it, upsert to create or change it, or another id`
  return new Refused({ code: 'SCHEDULE_EXISTS', message, details: { scheduleId } })
}

export function scheduleChanged(scheduleId: string): Refused {
  const message = `schedule '${scheduleId}' was changed since it was read: read it again, then repeat the change`
  return new Refused({ code: 'SCHEDULE_CHANGED', message, details: { scheduleId } })
}

export function noSchedule(scheduleId: string): Refused {
  return new Refused({ code: 'SCHEDULE_NOT_FOUND', message: `there is no schedule '${scheduleId}'`, details: { scheduleId } })
}

export function stale(seq: number, run: number): Refused {
  return new Refused({
    code: 'STALE_RUN',
    message: `run ${run} is not the current run of job ${seq}: it was handed to another worker, ended or cancelled`,
  })
}
