/** Writes what a turn does to flows. It runs before the rows of deleted jobs go, so that it can read from them what they leave behind. */
import type { DependencyCounter, Effects, FlowEdge, FlowEffects, FlowEnd } from '@millrace/core/kernel'
import { dueModeOf, END_ERROR, END_ERROR_VALUES } from '@millrace/sql'
import { type BatchedStatement, prepareBatched } from '../batchedStatement.ts'
import { type ByRow, prepareByRow } from '../by-row.ts'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareFlows(db: Database): (effects: Effects) => void {
  const create = prepareCreate(db)
  const tell = prepareTell(db)
  const outlive = prepareOutlive(db)
  const drop = prepareDrop(db)
  return ({ flowEffects }) => {
    if (flowEffects === undefined) return
    create(flowEffects)
    tell(flowEffects)
    outlive(flowEffects)
    drop(flowEffects)
  }
}

type WriteFlows = (flows: FlowEffects) => void

function prepareCreate(db: Database): WriteFlows {
  const gate = prepareBatched<DependencyCounter>(db, {
    sql: (values) => `INSERT INTO flow_gate (seq, pending, failed, state) VALUES ${values}`,
    shared: 0,
    width: 4,
    bind: ({ seq, pending, failed, state }, values, place) => {
      values[place] = seq
      values[place + 1] = pending
      values[place + 2] = failed
      values[place + 3] = state
    },
  })
  const edge: BatchedStatement<FlowEdge> = prepareBatched<FlowEdge>(db, {
    sql: (values) => `INSERT INTO flow_edge (parent, child, place, told)
SELECT new.column1, new.column2, new.column3, 0 FROM (VALUES ${values}) AS new`,
    shared: 0,
    width: 3,
    bind: ({ parent, child, place: number }, values, place) => {
      values[place] = parent
      values[place + 1] = child
      values[place + 2] = number
    },
  })
  return ({ counters, edges }) => {
    if (counters.length > 0) expectChanges('insert gates', gate.run(counters, []), counters.length)
    if (edges.length > 0) expectChanges('insert edges', edge.run(edges, []), edges.length)
  }
}

function prepareTell(db: Database): WriteFlows {
  const gate = db.prepare('UPDATE flow_gate SET pending = ?, failed = ?, state = ? WHERE seq = ?')
  const edge = db.prepare('UPDATE flow_edge SET told = ? WHERE parent = ? AND child = ?')
  const done = db.prepare('DELETE FROM flow_due WHERE parent = ?')
  const advance = db.prepare('UPDATE flow_due SET after = ?, mode = ? WHERE parent = ?')
  const due = db.prepare(
    `INSERT INTO flow_due (parent, after, mode) VALUES (?, 0, ?)
ON CONFLICT (parent) DO UPDATE SET after = 0, mode = ${dueModeOf('mode', 'excluded.mode')}`,
  )
  return ({ changed, reported, progress, due: added }) => {
    for (const { seq, pending, failed, state } of changed) expectChanges('set a gate', gate.run(pending, failed, state, seq).changes, 1)
    for (const { parent, child, state } of reported) expectChanges('tell a child', edge.run(state, parent, child).changes, 1)
    for (const { parent, next } of progress)
      expectChanges('note a parent', (next === undefined ? done.run(parent) : advance.run(next.after, next.mode, parent)).changes, 1)
    for (const [parent, mode] of added) due.run(parent, mode)
  }
}

/** Writes what stays of a job; nothing stays if no other job waits for it. */
function prepareOutlive(db: Database): WriteFlows {
  const awaited = 'EXISTS (SELECT 1 FROM flow_edge WHERE flow_edge.parent = wanted.seq)'
  const columns = `INSERT INTO flow_end (seq, ref, state, output, ${END_ERROR})`
  const row = db.prepare(
    `WITH shared (seq, ref) AS (SELECT ?, ?)
${columns} SELECT wanted.seq, ref, job.state, job.output, ${END_ERROR_VALUES} FROM shared AS wanted CROSS JOIN job ON job.seq = wanted.seq WHERE ${awaited}`,
  )
  const record = db.prepare(
    `WITH shared (seq, ref, state, output) AS (SELECT ?, ?, ?, ?) ${columns} SELECT seq, ref, state, output, ${END_ERROR_VALUES} FROM shared AS wanted WHERE ${awaited}`,
  )
  const state = db.prepare(
    `WITH shared (seq, ref, state) AS (SELECT ?, ?, ?) ${columns} SELECT seq, ref, state, NULL, NULL, NULL, NULL, NULL FROM shared AS wanted WHERE ${awaited}`,
  )
  const write: Readonly<Record<FlowEnd['keep'], (end: FlowEnd) => unknown>> = {
    row: (end) => row.run(end.seq, end.ref),
    record: (end) => record.run(end.seq, end.ref, end.state, end.output),
    state: (end) => state.run(end.seq, end.ref, end.state),
  }
  return ({ ends }) => {
    for (const end of ends) write[end.keep](end)
  }
}

function prepareDrop(db: Database): WriteFlows {
  const gate: ByRow = prepareByRow(db, (rows) => `DELETE FROM flow_gate WHERE ${rows}`, 0)
  const gone = db.prepare('INSERT INTO flow_gone (child) VALUES (?)')
  const edge = db.prepare('DELETE FROM flow_edge WHERE parent = ? AND child = ?')
  const end = db.prepare(
    'DELETE FROM flow_end WHERE seq = ? AND NOT EXISTS (SELECT 1 FROM flow_edge WHERE flow_edge.parent = flow_end.seq)',
  )
  const done = db.prepare(
    'DELETE FROM flow_gone WHERE child = ? AND NOT EXISTS (SELECT 1 FROM flow_edge WHERE flow_edge.child = flow_gone.child)',
  )
  return ({ gone: leaving, dropped, dropping }) => {
    if (leaving.length > 0) gate.run(leaving, [])
    for (const child of leaving) gone.run(child)
    for (const { parent, child } of dropped) expectChanges('drop an edge', edge.run(parent, child).changes, 1)
    for (const { parent } of dropped) end.run(parent)
    for (const child of dropping) done.run(child)
  }
}
