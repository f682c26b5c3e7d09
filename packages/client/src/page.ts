/** Reads a job by its id, and pages of `list`. */
import {
  choiceOption,
  formatCursor,
  heldKeyOption,
  JobNotFoundError,
  type JobRef,
  LIMITS,
  type ListSettings,
  PAYLOADS,
  type PayloadMode,
  type PayloadName,
  parseId,
  payloadBytesOf,
  shortened,
  timeOrderOf,
} from '@millrace/core'
import type { JobType } from '@millrace/worker'
import { isOfKey, textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { assertReadable } from './offered.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { keyOfShortId } from './shortId.ts'
import { type Job, type JobOf, jobOf } from './view.ts'

/** One page of jobs, newest first. */
export interface JobPage {
  readonly jobs: readonly Job[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
  /** True if the page ended at the bound of scanned jobs, before it was full. There may be more behind `next`. */
  readonly partial?: true
  /**
   * How many jobs of the list were passed to fill the page, deleted ones included. Absent if an index has found the jobs.
   */
  readonly scanned?: number
}

export async function readJob<Type extends JobType>(
  calls: Pick<Mailbox, 'call'>,
  job: JobRef,
  payload: PayloadMode,
  codec: PayloadCodec | undefined,
): Promise<JobOf<Type> | undefined> {
  const payloadBytes = payloadBytesOf(payload, 'one', codec !== undefined)
  const wanted = payloadBytes === undefined ? {} : { payloadBytes }
  const id = isOfKey(job) ? undefined : (parseId(textOf(job)) ?? (await keyOfShortId(calls, textOf(job))))
  const view = isOfKey(job)
    ? await calls.call<'getByKey'>({ op: 'getByKey', of: heldKeyOption(job), ...wanted })
    : id && (await calls.call<'get'>({ op: 'get', id, ...wanted }))
  return view ? (jobOf(view, codec, { payload, previewBytes: LIMITS.previewOneBytes }) as JobOf<Type>) : undefined
}

/** @throws JobNotFoundError, CodecError */
export async function readPayload(
  calls: Pick<Mailbox, 'call'>,
  id: string,
  name: PayloadName,
  codec: PayloadCodec | undefined,
): Promise<string | Uint8Array | undefined> {
  const only = choiceOption('name', name, PAYLOADS)
  const key = parseId(textOf(id)) ?? (await keyOfShortId(calls, id))
  const view = key && (await calls.call<'get'>({ op: 'get', id: key, only }))
  if (!view) throw new JobNotFoundError(`there is no job ${shortened(id)}`, { jobId: id })
  return codec?.decode(name, view[name]) ?? view[name] ?? undefined
}

export async function readPage(calls: Pick<Mailbox, 'call'>, settings: ListSettings, codec: PayloadCodec | undefined): Promise<JobPage> {
  const { filter, limit, search, order, place, payload, lastRun } = settings
  assertReadable(filter, codec)
  const payloadBytes = payloadBytesOf(payload, 'list', codec !== undefined)
  const byTime = timeOrderOf(order)
  // A short id says the row: no job has to be searched.
  const named = search === undefined || place.before !== undefined ? undefined : await keyOfShortId(calls, search, filter)
  const ordered = { ...place, ...(byTime !== undefined && { order: byTime }), ...(order === 'oldest' && { ascending: true }) }
  const reply = await calls.call<'list'>({
    op: 'list',
    filter,
    ...(named === undefined ? { limit, ...ordered, ...(search !== undefined && { search }) } : { limit: 1, before: named.seq + 1 }),
    ...(payloadBytes !== undefined && { payloadBytes }),
    ...(lastRun && { lastRun }),
  })
  const shown = { payload, previewBytes: LIMITS.previewBytes }
  const jobs = reply.jobs.map((view) => jobOf(view, codec, shown))
  if (named !== undefined) return { jobs, next: undefined }
  const { next, nextAt, scanned } = reply
  return {
    jobs,
    next: next === null ? undefined : formatCursor(next, order, nextAt),
    ...(next !== null && jobs.length < limit && { partial: true as const }),
    ...(scanned !== undefined && { scanned }),
  }
}
