/** Reads what a turn needs of flows, and what a job may ask of the jobs that it waited for. */
import { isFinal, type StateCode } from '@millrace/core'
import { DELETED, type DependencyCounter, type FlowDueRow, type ParentOutcome, type ParentRow, type Store } from '@millrace/core/kernel'
import { IS_TAKEN_BACK } from '../flowModes.ts'
import type { Prepare } from '../query.ts'
import { extrasFrom } from '../tables/job.ts'
import { errorFrom, type RawError } from './runError.ts'

type RawDue = [
  parent: number,
  mode: FlowDueRow['mode'],
  state: StateCode | null,
  ended: ParentOutcome | null,
  child: number | null,
  told: ParentOutcome,
  pending: number | null,
  failed: number,
  gate: DependencyCounter['state'],
]

export function prepareFlowDue(prepare: Prepare, indexBack: string): Store['flowDue'] {
  const due = (hint: string, condition: string) =>
    prepare<RawDue>(
      `SELECT flow_due.parent, flow_due.mode, job.state, flow_end.state, edge.child, edge.told, gate.pending, gate.failed, gate.state
FROM flow_due ${hint} LEFT JOIN job ON job.seq = flow_due.parent LEFT JOIN flow_end ON flow_end.seq = flow_due.parent
LEFT JOIN flow_edge AS edge ON edge.parent = flow_due.parent AND edge.child > flow_due.after LEFT JOIN flow_gate AS gate ON gate.seq = edge.child
${condition} ORDER BY flow_due.parent, edge.child LIMIT ?`,
    )
  const back = due(indexBack, `WHERE flow_due.${IS_TAKEN_BACK}`)
  const all = due('', '')
  return (limit) => {
    const taken = back.all(limit)
    return (taken.length > 0 ? taken : all.all(limit)).map(dueFrom)
  }
}

function dueFrom([parent, mode, state, ended, seq, told, pending, failed, gate]: RawDue): FlowDueRow {
  return {
    parent,
    mode,
    state: state === null ? (ended ?? DELETED) : isFinal(state) ? state : 0,
    child:
      seq === null
        ? undefined
        : { seq, reported: told, counter: pending === null ? undefined : { seq, parent, pending, failed, state: gate } },
  }
}

export function prepareFlowLeft(prepare: Prepare): Store['flowLeft'] {
  const left = prepare<[child: number, parent: number | null]>(
    `SELECT flow_gone.child, edge.parent FROM flow_gone LEFT JOIN flow_edge AS edge ON edge.child = flow_gone.child
ORDER BY flow_gone.child, edge.place LIMIT ?`,
  )
  return (limit) => left.all(limit).map(([child, parent]) => ({ child, parent: parent ?? undefined }))
}

/** Returns columns of the last failed run of a job, whose number an SQL expression has. */
function lastErrorOf(seq: string, columns: readonly string[]): readonly string[] {
  return columns.map(
    (column) => `(SELECT ${column} FROM attempt WHERE attempt.seq = ${seq} AND error_name <> '' ORDER BY run DESC LIMIT 1)`,
  )
}

const KEPT_ERROR = ['error_name', 'error_message', 'error_code', 'error_cause'] as const
const [NAME, MESSAGE, CODE, CAUSE] = KEPT_ERROR.map((column) => `coalesce(ended.${column}, ${lastErrorOf('edge.parent', [column])})`)

/** The columns of `flow_end` that have the error of a job. */
export const END_ERROR = KEPT_ERROR.join(', ')
/** Their values from a row `wanted` of a job that is there still. */
export const END_ERROR_VALUES = lastErrorOf('wanted.seq', KEPT_ERROR).join(', ')

/** The columns of `RawParent`, from the tables of `PARENT_TABLES`. */
export const PARENT_COLUMNS = `edge.place, edge.parent, job.state, job.extras, coalesce(job.output, ended.output), ended.state, ended.ref,
${NAME}, ${MESSAGE}, NULL, ${CODE}, ${CAUSE}`
export const PARENT_TABLES = 'LEFT JOIN job ON job.seq = edge.parent LEFT JOIN flow_end AS ended ON ended.seq = edge.parent'

export type RawParent = [
  place: number,
  seq: number,
  state: StateCode | null,
  extras: string | null,
  output: ParentRow['output'],
  ended: ParentOutcome | null,
  ref: string | null,
  // A parent that has not failed has no error.
  ...error: RawError | [null, ...unknown[]],
]

export function parentFrom([place, seq, state, extras, output, ended, ref, ...error]: RawParent): ParentRow {
  return {
    place,
    seq,
    ref: ref ?? extrasFrom(extras)?.flow?.ref ?? '',
    state: state ?? ended ?? DELETED,
    output,
    error: error[0] === null ? undefined : errorFrom(error as RawError),
  }
}
