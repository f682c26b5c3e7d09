/** `cancelMany`, `updateMany` and their like work slice by slice, so that no turn is long. */
import {
  type CancelManyCommand,
  isError,
  type JobKey,
  LIMITS,
  type ManyFilter,
  type ManyOptions,
  type ManyResult,
  type SkipReason,
  type Slice,
  type UpdateManyCommand,
  validateMany,
} from '@millrace/core'
import type { Mailbox } from './mailbox.ts'
import { assertReadable } from './offered.ts'
import type { PayloadCodec } from './payloadCodec.ts'

type Simple = 'retryMany' | 'deleteMany' | 'runNowMany'
type ManyOperation = Simple | 'cancelMany' | 'updateMany'
type What = { readonly op: Simple } | Pick<CancelManyCommand, 'op' | 'reason' | 'by'> | Pick<UpdateManyCommand, 'op' | 'changes'>

/** Runs a bulk call. An error between two slices has `done`, the result of the slices before it. */
export async function runMany(
  calls: Pick<Mailbox, 'call'>,
  what: What,
  wanted: ManyFilter,
  options: ManyOptions | undefined,
  codec?: PayloadCodec,
): Promise<ManyResult> {
  const { filter, search, ids, unknown, limit, dryRun } = validateMany(what.op, wanted, options)
  assertReadable(filter, codec)
  const meant = { ...what, filter, ...(search !== undefined && { search }) }
  const sum = new Sum()
  if (unknown > 0) sum.skipped.notFound = unknown
  const ask = async (part: { readonly ids?: readonly JobKey[]; readonly before?: number }): Promise<Slice> => {
    const left = Math.min(limit - sum.changed, LIMITS.sliceRows)
    try {
      return sum.add(await calls.call<ManyOperation>({ ...meant, limit: left, dryRun, ...part }))
    } catch (error) {
      if (isError(error) && sum.changed > 0) Object.assign(error, { done: sum.result })
      throw error
    }
  }
  if (ids === undefined) {
    let { next } = await ask({})
    while (next !== null && sum.changed < limit) next = (await ask({ before: next })).next
  } else {
    for (let at = 0; at < ids.length && sum.changed < limit; at += LIMITS.idsPerSlice) {
      await ask({ ids: ids.slice(at, at + LIMITS.idsPerSlice) })
    }
  }
  return sum.result
}

class Sum {
  matched = 0
  changed = 0
  readonly skipped: Partial<Record<SkipReason, number>> = {}

  add(slice: Slice): Slice {
    this.matched += slice.matched
    this.changed += slice.changed
    for (const [reason, count] of Object.entries(slice.skipped) as [SkipReason, number][]) {
      this.skipped[reason] = (this.skipped[reason] ?? 0) + count
    }
    return slice
  }

  get result(): ManyResult {
    const { matched, changed, skipped } = this
    return { matched, changed, skipped: { ...skipped } }
  }
}
