/** The options of `queues.page`. */
import { LIMITS } from '../limits.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { nameOption } from './name.ts'

export interface QueuesPageOptions {
  /** The name of the last queue of the page before. */
  readonly after?: string
  /** 1 to 500, default 500. */
  readonly limit?: number
}

export interface QueuesPage {
  readonly after?: string
  readonly limit: number
}

const KNOWN = new Set(['after', 'limit'])

/** @throws OptionTypeError, OptionRangeError */
export function validateQueuesPageOptions(options: unknown = {}): QueuesPage {
  checkKnown('queues.page', options, KNOWN)
  const { after, limit = LIMITS.pageQueues } = options
  return {
    ...(after !== undefined && { after: nameOption('after', after) }),
    limit: integerOption('limit', limit, 1, LIMITS.pageQueues),
  }
}
