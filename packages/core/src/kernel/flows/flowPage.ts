/** A page of a flow: the one reading of it, whichever thread it happens on. */

import type { FlowCursor } from '../../flowCommands.ts'
import type { JobKey } from '../../id.ts'
import { CANCELLED, COMPLETED, FAILED, STATES } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { CommandOf } from '../../operations.ts'
import type { DependencyView, FlowJobView, FlowPage } from '../../replies.ts'
import { DELETED, type ParentOutcome, parentKeyOf } from '../records/flowState.ts'
import { namedCounts } from '../records/lane.ts'
import type { FlowJobRow, JobRow } from '../records/rows.ts'
import type { Questions, TurnStore } from '../state/store.ts'

const BEGINNING: FlowCursor = { seq: 0, place: 0 }

type FlowStore = Pick<TurnStore, 'children'> & Pick<Questions, 'flowJobs'>
export type LanesNamed = (laneId: number) => { readonly queue: string; readonly name: string }

/** @param lanes asked once the page is read, of none but the lanes in it */
export function readFlow(store: FlowStore, { id, limit, from }: CommandOf<'getFlow'>, lanes: LanesNamed): FlowPage | null {
  const first = firstOf(store, id)
  if (first === undefined) return null
  const { rows, next, counts } = store.flowJobs(first.seq, from ?? BEGINNING, Math.min(limit, LIMITS.pageJobs), LIMITS.edgesPerPage)
  return { first, jobs: rows.map((job) => jobOf(job, lanes)), next, states: namedCounts(counts) }
}

/** Finds the flow of a job that is gone: it may be the first job of a flow that has others. */
function firstOf(store: FlowStore, id: JobKey): JobKey | undefined {
  const own = store.children([id.seq], 0).rows[0]
  const row = own ?? store.flowJobs(id.seq, BEGINNING, 1, 0).rows[0]?.row
  const place = row !== undefined && isOfCommit(row, id) ? row.extras?.flow : undefined
  return place && { ...id, seq: place.first }
}

/** A flow's jobs are created in one commit: their ids differ in the row alone. */
function isOfCommit({ node, enqueuedAt }: JobRow, id: JobKey): boolean {
  return node === id.node && enqueuedAt === id.enqueuedAt
}

function jobOf({ row, place, parents }: FlowJobRow, lanes: LanesNamed): FlowJobView {
  const { queue, name } = lanes(row.laneId)
  return {
    seq: row.seq,
    ref: place.ref,
    name,
    queue,
    state: STATES[row.state],
    attempt: row.run - row.uncounted,
    runAt: row.runAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    onParentFailure: place.onFailure,
    parents: place.parents,
    dependsOn: parents.map(({ seq, ref, told }): DependencyView => {
      const key = place.joined === undefined ? undefined : parentKeyOf(row, place, seq)
      return { seq, ref, told: toldOf(told), ...key }
    }),
  }
}

function toldOf(told: ParentOutcome): DependencyView['told'] {
  switch (told) {
    case COMPLETED:
    case FAILED:
    case CANCELLED:
      return STATES[told]
    case DELETED:
      return 'deleted'
    default:
      return null
  }
}
