/** Reads a job by its id, and pages of `list`. */
import { formatCursor, type ListSettings, parseId } from '@millrace/core'
import type { JobType } from '@millrace/worker'
import { textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { type Job, type JobOf, jobOf } from './view.ts'

export interface JobPage {
  readonly jobs: readonly Job[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
  /** True if a search reached its bound before the page was full. There may be more behind `next`. */
  readonly partial?: true
}

export async function readJob<Type extends JobType>(
  calls: Pick<Mailbox, 'call'>,
  id: string,
  codec: PayloadCodec | undefined,
): Promise<JobOf<Type> | undefined> {
  const key = parseId(textOf(id))
  const view = key && (await calls.call<'get'>({ op: 'get', id: key }))
  return view ? (jobOf(view, codec) as JobOf<Type>) : undefined
}

export async function readPage(calls: Pick<Mailbox, 'call'>, settings: ListSettings, codec: PayloadCodec | undefined): Promise<JobPage> {
  const { filter, limit, before, search } = settings
  const { jobs, next } = await calls.call<'list'>({
    op: 'list',
    filter,
    limit,
    ...(before !== undefined && { before }),
    ...(search !== undefined && { search }),
  })
  return {
    jobs: jobs.map((view) => jobOf(view, codec)),
    next: next === null ? undefined : formatCursor(next),
    ...(next !== null && jobs.length < limit && { partial: true as const }),
  }
}
