/** Lists and bulk calls, as they ask a store for jobs. */
import type { ListCommand } from '../../commands.ts'
import type { ListFlowsCommand } from '../../flowCommands.ts'
import type { ListFilter } from '../../options/filter.ts'
import type { FlowRow, JobRow } from '../records/rows.ts'

/** A bulk call's filter as the tables know it. */
export interface Matching {
  /** Undefined: all. */
  readonly laneIds: readonly number[] | undefined
  /** Queue and name are not judged again: the lanes say them. */
  readonly filter: ListFilter
  /** A string that the jobs contain. */
  readonly text?: string | undefined
  /** Few enough are in the state, which has an index, for that to be read whole. */
  readonly indexed: boolean
}

/** A page of a list, as it is asked for. */
export type ListQuery = Omit<ListCommand, 'op'>

/** The bounds of a page that looks at one job after the other. */
export interface ScanBound {
  readonly rows: number
  /** True if the page has taken too long, after so many jobs: a page looks at a few of them however slow the machine is. */
  readonly late: (scanned: number) => boolean
}

export interface ListRows {
  readonly rows: JobRow[]
  /** The place to go on from; null where there are none left. */
  readonly next: number | null
  /** With `next`, the place in an order by time. */
  readonly nextAt?: number
  /** How many places of the list were passed, if jobs were looked at one after the other. */
  readonly scanned?: number
}

/** A page of flows, as it is asked for. */
export type FlowsQuery = Omit<ListFlowsCommand, 'op'>

export interface FlowRows {
  readonly rows: FlowRow[]
  /** The row before which the next page looks; null where there are no more flows. */
  readonly next: number | null
}
