/** A page of the list of flows: the one reading of it, whichever thread it happens on. */
import { LIMITS } from '../../limits.ts'
import type { CommandOf } from '../../operations.ts'
import type { FlowSummaryView, FlowsPage } from '../../replies.ts'
import { flowStateOf } from '../records/flowState.ts'
import { namedCounts } from '../records/lane.ts'
import type { FlowRow } from '../records/rows.ts'
import type { ScanBound } from '../state/lists.ts'
import type { Questions } from '../state/store.ts'
import type { LanesNamed } from './flowPage.ts'

/** @param lanes asked once the page is read, of none but the lanes in it */
export function readFlows(
  store: Pick<Questions, 'listFlows'>,
  { op: _, limit, ...query }: CommandOf<'listFlows'>,
  bound: ScanBound,
  lanes: LanesNamed,
): FlowsPage {
  const { rows, next } = store.listFlows({ ...query, limit: Math.min(limit, LIMITS.pageJobs) }, bound)
  return { flows: rows.map((row) => summaryOf(row, lanes)), next }
}

function summaryOf({ laneId, counts, ...same }: FlowRow, lanes: LanesNamed): FlowSummaryView {
  const { queue, name } = lanes(laneId)
  return { ...same, name, queue, state: flowStateOf(counts), states: namedCounts(counts) }
}
