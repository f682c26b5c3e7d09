/** Reads what a turn needs of flows, and what a job may ask of the jobs that it waited for. */
import type { DependencyCounter, FlowDueRow, FlowLeftRow, JobRow, ParentRow } from '@millrace/core/kernel'
import {
  dueFrom,
  IS_TAKEN_BACK,
  parentFrom,
  payloadBytes,
  type RawDue,
  type RawParent,
  type RawRow,
  ROW_COLUMNS_WITHOUT_DATA,
  rowFrom,
} from '@millrace/sql'
import type { Database } from '../driver.ts'
import type { Bounded } from './bounded.ts'

export function prepareFlowDue(db: Database): (limit: number) => FlowDueRow[] {
  const prepare = (hint: string, condition: string) =>
    db
      .prepare(
        `SELECT flow_due.parent, flow_due.mode, job.state, flow_end.state, edge.child, edge.told, gate.pending, gate.failed, gate.state
FROM flow_due ${hint} LEFT JOIN job ON job.seq = flow_due.parent LEFT JOIN flow_end ON flow_end.seq = flow_due.parent
LEFT JOIN flow_edge AS edge ON edge.parent = flow_due.parent AND edge.child > flow_due.after LEFT JOIN flow_gate AS gate ON gate.seq = edge.child
${condition} ORDER BY flow_due.parent, edge.child LIMIT ?`,
      )
      .raw()
  const back = prepare('INDEXED BY flow_due_back', `WHERE flow_due.${IS_TAKEN_BACK}`)
  const all = prepare('', '')
  return (limit) => {
    const taken = back.all(limit) as RawDue[]
    return (taken.length > 0 ? taken : (all.all(limit) as RawDue[])).map(dueFrom)
  }
}

export function prepareGates(db: Database): (seqs: readonly number[]) => DependencyCounter[] {
  const statement = db.prepare(
    `SELECT gate.seq, pending, failed, state,
(SELECT parent FROM flow_edge INDEXED BY flow_edge_child WHERE child = gate.seq ORDER BY place LIMIT 1) AS parent
FROM json_each(?) AS wanted CROSS JOIN flow_gate AS gate ON gate.seq = wanted.value`,
  )
  return (seqs) => statement.all(JSON.stringify(seqs)) as DependencyCounter[]
}

export function prepareFlowLeft(db: Database): (limit: number) => FlowLeftRow[] {
  const statement = db
    .prepare(
      `SELECT flow_gone.child, edge.parent FROM flow_gone LEFT JOIN flow_edge AS edge ON edge.child = flow_gone.child
ORDER BY flow_gone.child, edge.place LIMIT ?`,
    )
    .raw()
  return (limit) => (statement.all(limit) as [number, number | null][]).map(([child, parent]) => ({ child, parent: parent ?? undefined }))
}

export type ReadChildren = (seqs: readonly number[], bytes: number) => Bounded

/** Reads children without their outputs: only completed jobs have one, and those never change again. */
export function prepareChildren(db: Database): ReadChildren {
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

export type ReadParents = (
  seq: number,
  after: number,
  limit: number,
  bytes: number,
) => { readonly rows: ParentRow[]; readonly complete: boolean }

export function prepareParents(db: Database): ReadParents {
  const lastError = (column: string) =>
    `coalesce(ended.${column}, (SELECT ${column} FROM attempt WHERE attempt.seq = edge.parent AND error_name <> '' ORDER BY run DESC LIMIT 1))`
  const statement = db
    .prepare(
      `SELECT edge.place, edge.parent, job.state, job.extras, coalesce(job.output, ended.output), ended.state, ended.ref,
${lastError('error_name')}, ${lastError('error_message')}, NULL, ${lastError('error_code')}, ${lastError('error_cause')}
FROM flow_edge AS edge INDEXED BY flow_edge_child LEFT JOIN job ON job.seq = edge.parent LEFT JOIN flow_end AS ended ON ended.seq = edge.parent
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
