/** The options of `flows.get`, and the places at which its pages end. */
import { OptionTypeError } from '../errors.ts'
import type { FlowCursor } from '../flowCommands.ts'
import { SEQ_LIMIT } from '../id.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'
import { PAGE_JOBS } from './list.ts'
import { integerBetween, optionsReader } from './read.ts'

/** The options of `flows.get`. */
export interface FlowGetOptions {
  /** `next` of the page before. Default: the first page. */
  readonly after?: string
  /** Jobs in the page: 1 to 200, default 50. */
  readonly limit?: number
}

const read = optionsReader('flows.get', { after: flowCursorOption, limit: integerBetween(1, LIMITS.pageJobs) })

/** @throws OptionTypeError, OptionRangeError */
export function validateFlowGetOptions(options: unknown = {}): { readonly limit: number; readonly from?: FlowCursor } {
  const { after: from, limit = PAGE_JOBS } = read(options)
  return { limit, ...(from && { from }) }
}

/** Opaque to callers. */
export function formatFlowCursor({ seq, place }: FlowCursor): string {
  return `f${seq.toString(36)}.${place.toString(36)}`
}

function flowCursorOption(_option: string, after: unknown): FlowCursor {
  const parts = typeof after === 'string' ? /^f([0-9a-z]{1,10})\.([0-9a-z]{1,3})$/.exec(after) : null
  const [seq, place] = [Number.parseInt(parts?.[1] ?? '', 36), Number.parseInt(parts?.[2] ?? '', 36)]
  if (!(seq < SEQ_LIMIT)) throw new OptionTypeError('after', `after must be the 'next' of an earlier page, got ${describe(after)}`)
  return { seq, place }
}
