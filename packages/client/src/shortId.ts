/** Finds a job by its short id, such as 7c60-01275d, which lists show: few rows can have it, and each is looked up. */
import { formatId, type JobKey, type ListFilter, rowOfShortId, SHORT_ROWS, shortId } from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

/** The maximum number of rows to look up: enough for 268 million jobs. */
const LOOKS_MAX = 64

/** Returns the key of the job that matches the filter and has this short id; undefined if there is none, or if the text is no short id. */
export async function keyOfShortId(calls: Pick<Mailbox, 'call'>, text: string, filter?: ListFilter): Promise<JobKey | undefined> {
  const row = rowOfShortId(text)
  if (row === undefined) return undefined
  const upTo = async (before: number | undefined, of: ListFilter = {}): Promise<JobKey | undefined> => {
    const from = before === undefined ? {} : { before }
    return (await calls.call<'list'>({ op: 'list', filter: of, limit: 1, payloadBytes: 0, ...from })).jobs[0]
  }
  const newest = (await upTo(undefined))?.seq ?? -1
  let seq = row + SHORT_ROWS * Math.floor((newest - row) / SHORT_ROWS)
  for (let looks = 0; seq >= 0 && looks < LOOKS_MAX; looks++, seq -= SHORT_ROWS) {
    // A look reads one row. With the filter, it would search downwards for a job that matches.
    const key = await upTo(seq + 1)
    if (key?.seq !== seq || shortId(formatId(key)) !== text.toLowerCase()) continue
    if (filter === undefined || (await upTo(seq + 1, filter))?.seq === seq) return key
  }
  return undefined
}
