/** The options of `flows.list`. */
import { FLOW_STATES, type FlowState } from '../flow.ts'
import { LIMITS } from '../limits.ts'
import { PAGE_JOBS, parseCursor } from './list.ts'
import { choiceOf, integerBetween, optionsReader } from './read.ts'

/** The options of `flows.list`. */
export interface FlowListOptions {
  /** Only flows in this state. Default: all. */
  readonly state?: FlowState
  /** `next` of the page before. Default: the first page. */
  readonly after?: string
  /** Flows in the page: 1 to 200, default 50. */
  readonly limit?: number
}

export interface FlowListSettings {
  readonly limit: number
  readonly state?: FlowState
  readonly before?: number
}

const read = optionsReader('flows.list', {
  state: choiceOf(FLOW_STATES),
  after: (_option, after) => parseCursor(after, 'newest'),
  limit: integerBetween(1, LIMITS.pageJobs),
})

/** @throws OptionTypeError, OptionRangeError */
export function validateFlowListOptions(options: unknown = {}): FlowListSettings {
  const { state, after, limit = PAGE_JOBS } = read(options)
  return { limit, ...(state !== undefined && { state }), ...after }
}
