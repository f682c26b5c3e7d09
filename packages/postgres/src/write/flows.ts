/** Writes what a turn does to flows. It runs before the rows of deleted jobs go, so that it can read from them what they leave behind. */
import type { DependencyCounter, Effects, FlowEdge, FlowEffects, FlowEnd } from '@millrace/core/kernel'
import { dueModeOf, END_ERROR, END_ERROR_VALUES } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import { type Batch, columns } from './batch.ts'

const INSERT_GATES =
  'INSERT INTO flow_gate (seq, pending, failed, state) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])'
const INSERT_EDGES = 'INSERT INTO flow_edge (parent, child, place, told) SELECT *, 0 FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])'
const SET_GATES = `UPDATE flow_gate SET pending = told.pending, failed = told.failed, state = told.state
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS told (seq, pending, failed, state) WHERE flow_gate.seq = told.seq`
const TELL = `UPDATE flow_edge SET told = said.state FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS said (parent, child, state)
WHERE flow_edge.parent = said.parent AND flow_edge.child = said.child`
const DUE = `INSERT INTO flow_due (parent, after, mode) SELECT parent, 0, mode FROM unnest($1::bigint[], $2::bigint[]) AS added (parent, mode)
ON CONFLICT (parent) DO UPDATE SET after = 0, mode = ${dueModeOf('flow_due.mode', 'excluded.mode')}`

export function writeFlows(batch: Batch, { flowEffects: flows }: Effects): void {
  if (flows === undefined) return
  create(batch, flows)
  tell(batch, flows)
  for (const end of flows.ends) outlive[end.keep](batch, end)
  drop(batch, flows)
}

const gateValues = (gates: readonly DependencyCounter[]) =>
  columns(
    gates,
    ({ seq }) => seq,
    ({ pending }) => pending,
    ({ failed }) => failed,
    ({ state }) => state,
  )

function create(batch: Batch, { counters, edges }: FlowEffects): void {
  if (counters.length > 0) batch.add(INSERT_GATES, ...gateValues(counters))
  const values = columns<FlowEdge>(
    edges,
    ({ parent }) => parent,
    ({ child }) => child,
    ({ place }) => place,
  )
  if (edges.length > 0) batch.add(INSERT_EDGES, ...values)
}

function tell(batch: Batch, { changed, reported, progress, due }: FlowEffects): void {
  if (changed.size > 0) batch.change('set gates', changed.size, SET_GATES, ...gateValues([...changed]))
  // What a child was told last counts.
  const last = [...new Map(reported.map((each) => [`${each.parent} ${each.child}`, each])).values()]
  if (last.length > 0)
    batch.change(
      'tell children',
      last.length,
      TELL,
      ...columns(
        last,
        ({ parent }) => parent,
        ({ child }) => child,
        ({ state }) => state,
      ),
    )
  for (const { parent, next } of progress) {
    if (next === undefined) batch.change('note a parent', 1, 'DELETE FROM flow_due WHERE parent = $1', parent)
    else batch.change('note a parent', 1, 'UPDATE flow_due SET after = $1, mode = $2 WHERE parent = $3', next.after, next.mode, parent)
  }
  if (due.size > 0) batch.add(DUE, [...due.keys()], [...due.values()])
}

const AWAITED = 'EXISTS (SELECT 1 FROM flow_edge WHERE flow_edge.parent = wanted.seq)'
const ENDED = `INSERT INTO flow_end (seq, ref, state, output, output_bytes, ${END_ERROR})`

/** Writes what stays of a job; nothing stays if no other job waits for it. */
const outlive: Readonly<Record<FlowEnd['keep'], (batch: Batch, end: FlowEnd) => void>> = {
  row: (batch, { seq, ref }) =>
    batch.add(
      `${ENDED} SELECT wanted.seq, ref, job.state, job.output, job.output_bytes, ${END_ERROR_VALUES}
FROM (VALUES ($1::bigint, $2::text)) AS wanted (seq, ref) JOIN job ON job.seq = wanted.seq WHERE ${AWAITED}`,
      ...[seq, ref],
    ),
  record: (batch, { seq, ref, state, output }) =>
    batch.add(
      `${ENDED} SELECT seq, ref, $3::smallint, $4::text, $5::bytea, ${END_ERROR_VALUES} FROM (VALUES ($1::bigint, $2::text)) AS wanted (seq, ref) WHERE ${AWAITED}`,
      ...([seq, ref, state, typeof output === 'string' ? output : null, output instanceof Uint8Array ? output : null] satisfies Value[]),
    ),
  state: (batch, { seq, ref, state }) =>
    batch.add(
      `${ENDED} SELECT seq, ref, $3::smallint, NULL, NULL, NULL, NULL, NULL, NULL FROM (VALUES ($1::bigint, $2::text)) AS wanted (seq, ref) WHERE ${AWAITED}`,
      ...[seq, ref, state],
    ),
}

const DROP_EDGES =
  'DELETE FROM flow_edge USING unnest($1::bigint[], $2::bigint[]) AS gone (parent, child) WHERE flow_edge.parent = gone.parent AND flow_edge.child = gone.child'

function drop(batch: Batch, { gone, dropped, dropping }: FlowEffects): void {
  if (gone.length > 0) {
    batch.add('DELETE FROM flow_gate WHERE seq = ANY ($1::bigint[])', gone)
    batch.add('INSERT INTO flow_gone (child) SELECT * FROM unnest($1::bigint[])', gone)
  }
  if (dropped.length > 0) {
    const parents = dropped.map(({ parent }) => parent)
    batch.change(
      'drop edges',
      dropped.length,
      DROP_EDGES,
      parents,
      dropped.map(({ child }) => child),
    )
    batch.add(
      'DELETE FROM flow_end WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM flow_edge WHERE flow_edge.parent = flow_end.seq)',
      parents,
    )
  }
  if (dropping.length > 0)
    batch.add(
      'DELETE FROM flow_gone WHERE child = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM flow_edge WHERE flow_edge.child = flow_gone.child)',
      dropping,
    )
}
