/** Reads the log lines of a job, page by page. */
import { type CommandOf, JobNotFoundError, parseId, shortened } from '@millrace/core'
import { textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { keyOfShortId } from './shortId.ts'
import { type JobLog, logOf } from './view.ts'

/** A line with its place among those of its run. */
export interface NumberedLog extends JobLog {
  /** From 0. A line keeps its number when lines before it are no longer kept. */
  readonly number: number
}

/** A page of the log lines of one run. */
export interface JobLogs {
  /** The run; 0 if the job has had none. */
  readonly run: number
  readonly lines: readonly NumberedLog[]
  /** Pass as `after`, with `run`, for the next page; undefined at the end. */
  readonly next: number | undefined
}

export async function readLogs(calls: Pick<Mailbox, 'call'>, id: string, wanted: Omit<CommandOf<'logs'>, 'op' | 'id'>): Promise<JobLogs> {
  const key = parseId(textOf(id)) ?? (await keyOfShortId(calls, id))
  const page = key && (await calls.call<'logs'>({ op: 'logs', id: key, ...wanted }))
  if (!page) throw new JobNotFoundError(`there is no job ${shortened(id)}`, { jobId: id })
  return { run: page.run, lines: page.lines.map(({ number, ...line }) => ({ number, ...logOf(line) })), next: page.next ?? undefined }
}
