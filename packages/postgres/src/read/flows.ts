/** Reads what a turn needs of flows, and what a job may ask of the jobs that it waited for. */
import type { DependencyCounter, ParentRow, Store } from '@millrace/core/kernel'
import { PARENT_COLUMNS, PARENT_TABLES, parentFrom, type RawParent } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { CHILD_BYTES, CHILD_JOB_ROW } from '../tables/job.ts'
import { fittingOf, readInOrder, type Sized } from './bounded.ts'

export function prepareGates(connection: Connection): Store['dependencies'] {
  const sql = `SELECT gate.seq, gate.pending, gate.failed, gate.state,
  (SELECT parent FROM flow_edge WHERE child = gate.seq ORDER BY place LIMIT 1)
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (seq, place) JOIN flow_gate AS gate ON gate.seq = asked.seq ORDER BY asked.place`
  return (seqs) =>
    connection
      .all<[number, number, number, DependencyCounter['state'], number]>(sql, seqs)
      .map(([seq, pending, failed, state, parent]) => ({ seq, pending, failed, state, parent }))
}

/** Reads children without their outputs: only completed jobs have one, and those never change again. */
export function prepareChildren(connection: Connection): Store['children'] {
  const sql = `SELECT job.seq, ${CHILD_BYTES} FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (seq, place)
JOIN job ON job.seq = asked.seq ORDER BY asked.place`
  return (seqs, bytesMax) => {
    const found = connection.all<Sized>(sql, seqs)
    const fitting = fittingOf(found, found.length, bytesMax)
    return { rows: readInOrder(connection, fitting, CHILD_JOB_ROW), complete: fitting.length === found.length }
  }
}

type SizedParent = [...RawParent, bytes: Uint8Array | null]

export function prepareParents(connection: Connection): Store['parents'] {
  const sizes = `SELECT edge.place, coalesce(octet_length(job.output), octet_length(job.output_bytes), octet_length(ended.output), octet_length(ended.output_bytes), 0)
FROM flow_edge AS edge ${PARENT_TABLES} WHERE edge.child = $1 AND edge.place > $2 ORDER BY edge.place LIMIT $3`
  const rows = `SELECT ${PARENT_COLUMNS}, coalesce(job.output_bytes, ended.output_bytes) FROM flow_edge AS edge ${PARENT_TABLES}
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
