/** Checks the ids of jobs and the names of files that callers pass. */
import {
  type ByKeyCommand,
  type CommandOf,
  describe,
  heldKeyOption,
  type JobKey,
  JobNotFoundError,
  type JobOfKey,
  type JobRef,
  type KeyedCall,
  OptionTypeError,
  parseId,
  type ReplyOf,
  shortened,
} from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

export function keyOf(id: string): JobKey {
  const key = parseId(textOf(id))
  if (key === undefined) throw new JobNotFoundError(`there is no job ${shortened(id)}: that is no id of a job`, { jobId: id })
  return key
}

export function textOf(value: string, option = 'id'): string {
  if (typeof value === 'string' && value.length > 0) return value
  if (value === '') throw new OptionTypeError(option, `${option} is empty: give a string of at least one character`)
  const hint = typeof (value as { id?: unknown } | null)?.id === 'string' ? ': pass its id, as in handle.id' : ''
  throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}${hint}`)
}

/** Returns the error of a job that is not there, or of a key that no job holds. */
export function noJob(job: JobRef): JobNotFoundError {
  if (!isOfKey(job)) return new JobNotFoundError(`there is no job ${shortened(job)}`, { jobId: job })
  return new JobNotFoundError(`no job ${shortened(job.name)} holds that key`)
}

/** True if a job is named by a key. A handle in place of an id is a mistake, which `textOf` explains. */
export function isOfKey(job: JobRef): job is JobOfKey {
  return typeof job === 'object' && job !== null && !('id' in job)
}

type OnOne = Exclude<KeyedCall, 'release'>

/** Sends a command about one job, which is named by its id or by a key. */
export function callAbout<Op extends OnOne>(
  calls: Pick<Mailbox, 'call'>,
  call: Op,
  job: JobRef,
  also: Pick<ByKeyCommand, 'changes' | 'from' | 'reason' | 'by'> = {},
): Promise<ReplyOf[Op]> {
  if (isOfKey(job)) return calls.call<'byKey'>({ op: 'byKey', of: heldKeyOption(job), call, ...also }) as Promise<ReplyOf[Op]>
  return calls.call<Op>({ op: call, id: keyOf(job), ...also } as CommandOf<Op>)
}
