/** The filter of events: the address has it, and the server applies it. */
import { queryText } from '../../api/client.ts'
import { TYPES } from '../../live/eventTypes.ts'

export interface Filter {
  readonly types: string | undefined
  readonly queue: string | undefined
  readonly name: string | undefined
  readonly jobId: string | undefined
}

/** The last events that are there at the beginning, so that the list is not empty. */
const BEFORE = 200
/** A filter passes few of them. */
const BEFORE_FILTERED = 2_000

export function filterOf({ type, queue, name, job }: Readonly<Record<string, string>>): Filter {
  return { types: type !== undefined && TYPES.includes(type) ? type : undefined, queue: given(queue), name: given(name), jobId: given(job) }
}

function given(value: string | undefined): string | undefined {
  return value?.trim() || undefined
}

/** @param seq the last event of the engine; undefined if it is not known */
export function beginningOf(filter: Filter, seq: number | undefined): number | 'now' {
  if (seq === undefined) return 'now'
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return Math.max(0, seq - (isFiltered ? BEFORE_FILTERED : BEFORE))
}

export function urlOf(filter: Filter, after: number | 'now'): string {
  return `/v1/events${queryText({ after, ...filter }, 0)}`
}
