/** Reads what a turn needs of flows, and what a job may ask of the jobs that it waited for. */
import type { DependencyCounter, FlowDueRow, FlowLeftRow, ParentRow } from '@millrace/core/kernel'
import { dueFrom, IS_TAKEN_BACK, parentFrom, type RawDue, type RawParent } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { CHILD_BYTES, CHILD_JOB_ROW } from '../tables/job.ts'
import { type Bounded, fittingOf, readInOrder, type Sized } from './bounded.ts'

export function prepareFlowDue(connection: Connection): (limit: number) => FlowDueRow[] {
  const due = (
    condition: string,
  ) => `SELECT flow_due.parent, flow_due.mode, job.state, flow_end.state, edge.child, edge.told, gate.pending, gate.failed, gate.state
FROM flow_due LEFT JOIN job ON job.seq = flow_due.parent LEFT JOIN flow_end ON flow_end.seq = flow_due.parent
LEFT JOIN flow_edge AS edge ON edge.parent = flow_due.parent AND edge.child > flow_due.after LEFT JOIN flow_gate AS gate ON gate.seq = edge.child
${condition} ORDER BY flow_due.parent, edge.child LIMIT $1`
  return (limit) => {
    const taken = connection.all<RawDue>(due(`WHERE flow_due.${IS_TAKEN_BACK}`), limit)
    return (taken.length > 0 ? taken : connection.all<RawDue>(due(''), limit)).map(dueFrom)
  }
}

export function prepareGates(connection: Connection): (seqs: readonly number[]) => DependencyCounter[] {
  const sql = `SELECT gate.seq, gate.pending, gate.failed, gate.state,
  (SELECT parent FROM flow_edge WHERE child = gate.seq ORDER BY place LIMIT 1)
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (seq, place) JOIN flow_gate AS gate ON gate.seq = asked.seq ORDER BY asked.place`
  return (seqs) =>
    connection
      .all<[number, number, number, DependencyCounter['state'], number]>(sql, seqs)
      .map(([seq, pending, failed, state, parent]) => ({ seq, pending, failed, state, parent }))
}

export function prepareFlowLeft(connection: Connection): (limit: number) => FlowLeftRow[] {
  const sql = `SELECT flow_gone.child, edge.parent FROM flow_gone LEFT JOIN flow_edge AS edge ON edge.child = flow_gone.child
ORDER BY flow_gone.child, edge.place LIMIT $1`
  return (limit) => connection.all<[number, number | null]>(sql, limit).map(([child, parent]) => ({ child, parent: parent ?? undefined }))
}

export type ReadChildren = (seqs: readonly number[], bytes: number) => Bounded

/** Reads children without their outputs: only completed jobs have one, and those never change again. */
export function prepareChildren(connection: Connection): ReadChildren {
  const sql = `SELECT job.seq, ${CHILD_BYTES} FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (seq, place)
JOIN job ON job.seq = asked.seq ORDER BY asked.place`
  return (seqs, bytesMax) => {
    const found = connection.all<Sized>(sql, seqs)
    const fitting = fittingOf(found, found.length, bytesMax)
    return { rows: readInOrder(connection, fitting, CHILD_JOB_ROW), complete: fitting.length === found.length }
  }
}

export type ReadParents = (
  seq: number,
  after: number,
  limit: number,
  bytes: number,
) => { readonly rows: ParentRow[]; readonly complete: boolean }

type SizedParent = [...RawParent, bytes: Uint8Array | null]

export function prepareParents(connection: Connection): ReadParents {
  const sizes = `SELECT edge.place, coalesce(octet_length(job.output), octet_length(job.output_bytes), octet_length(ended.output), octet_length(ended.output_bytes), 0)
FROM flow_edge AS edge LEFT JOIN job ON job.seq = edge.parent LEFT JOIN flow_end AS ended ON ended.seq = edge.parent
WHERE edge.child = $1 AND edge.place > $2 ORDER BY edge.place LIMIT $3`
  const lastError = (column: string) =>
    `coalesce(ended.${column}, (SELECT ${column} FROM attempt WHERE attempt.seq = edge.parent AND error_name <> '' ORDER BY run DESC LIMIT 1))`
  const rows = `SELECT edge.place, edge.parent, job.state, job.extras, coalesce(job.output, ended.output), ended.state, ended.ref,
${lastError('error_name')}, ${lastError('error_message')}, NULL, ${lastError('error_code')}, ${lastError('error_cause')},
coalesce(job.output_bytes, ended.output_bytes)
FROM flow_edge AS edge LEFT JOIN job ON job.seq = edge.parent LEFT JOIN flow_end AS ended ON ended.seq = edge.parent
WHERE edge.child = $1 AND edge.place = ANY ($2::bigint[]) ORDER BY edge.place`
  return (seq, after, limit, bytesMax) => {
    const found = connection.all<Sized>(sizes, seq, after, limit + 1)
    const fitting = fittingOf(found, limit, bytesMax)
    const parents = fitting.length === 0 ? [] : connection.all<SizedParent>(rows, seq, fitting)
    return { rows: parents.map(withBytes), complete: fitting.length === found.length }
  }
}

function withBytes(row: SizedParent): ParentRow {
  const raw = row.slice(0, -1) as unknown as RawParent
  raw[4] ??= row.at(-1) as Uint8Array | null
  return parentFrom(raw)
}
