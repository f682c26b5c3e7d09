/** Reads what a turn needs of flows, and what a job may ask of the jobs that it waited for. */
import type { DependencyCounter, JobRow, ParentRow, Store } from '@millrace/core/kernel'
import {
  PARENT_COLUMNS,
  PARENT_TABLES,
  parentFrom,
  payloadBytes,
  type RawParent,
  type RawRow,
  ROW_COLUMNS_WITHOUT_DATA,
  rowFrom,
} from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareGates(db: Database): Store['dependencies'] {
  const statement = db.prepare(
    `SELECT gate.seq, pending, failed, state,
(SELECT parent FROM flow_edge INDEXED BY flow_edge_child WHERE child = gate.seq ORDER BY place LIMIT 1) AS parent
FROM json_each(?) AS wanted CROSS JOIN flow_gate AS gate ON gate.seq = wanted.value`,
  )
  return (seqs) => statement.all(JSON.stringify(seqs)) as DependencyCounter[]
}

/** Reads children without their outputs: only completed jobs have one, and those never change again. */
export function prepareChildren(db: Database): Store['children'] {
  const columns = ROW_COLUMNS_WITHOUT_DATA.replace('job.output', 'NULL')
  const statement = db.prepare(`SELECT ${columns} FROM json_each(?) AS wanted CROSS JOIN job ON job.seq = wanted.value`).raw()
  return (seqs, bytesMax) => {
    const rows: JobRow[] = []
    let bytes = 0
    for (const raw of statement.iterate(JSON.stringify(seqs)) as Iterable<RawRow>) {
      bytes += payloadBytes(raw)
      if (rows.length > 0 && bytes > bytesMax) return { rows, complete: false }
      rows.push(rowFrom(raw))
    }
    return { rows, complete: true }
  }
}

export function prepareParents(db: Database): Store['parents'] {
  const statement = db
    .prepare(
      `SELECT ${PARENT_COLUMNS} FROM flow_edge AS edge INDEXED BY flow_edge_child ${PARENT_TABLES}
WHERE edge.child = ? AND edge.place > ? ORDER BY edge.place`,
    )
    .raw()
  return (seq, after, limit, bytesMax) => {
    const rows: ParentRow[] = []
    let bytes = 0
    // Leaving the loop early ends the iterator, and with it the read transaction.
    for (const raw of statement.iterate(seq, after) as Iterable<RawParent>) {
      bytes += raw[4]?.length ?? 0
      if (rows.length > 0 && (rows.length >= limit || bytes > bytesMax)) return { rows, complete: false }
      rows.push(parentFrom(raw))
    }
    return { rows, complete: true }
  }
}
