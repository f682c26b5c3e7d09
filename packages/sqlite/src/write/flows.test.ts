// Flows in the file: what a turn notes of them, what the next one reads, and that nobody else's rows change.
import { BLOCKED, COMPLETED, FAILED } from '@millrace/core'
import { CANCEL, COUNTER_OPEN, COUNTER_PENDING, DELETED, DUE_MODES, dueMode, NOTIFY, REVERT } from '@millrace/core/kernel'
import { beforeEach, expect, test } from 'vitest'
import { type Crowd, openCrowd } from '../testing/crowd.ts'

let crowd: Crowd

beforeEach(() => {
  crowd = openCrowd()
})

/** One that the children wait for. */
function addFlow(children: number) {
  const { turns, store, commit } = crowd
  const place = { first: turns.nextSeq, onFailure: 'fail', parents: 0, children: true } as const
  const parent = turns.insert({ extras: { flow: { ...place, ref: 'p' } } })
  const kids = Array.from({ length: children }, (_, index) =>
    turns.insert({ state: BLOCKED, extras: { flow: { ...place, ref: `c${index}`, parents: 1, children: false } } }),
  )
  for (const { seq } of kids) {
    turns.effects.flows.counters.push({ seq, parent: parent.seq, pending: 1, failed: 0, state: COUNTER_PENDING })
    turns.effects.flows.edges.push({ parent: parent.seq, child: seq, place: 1 })
  }
  commit()
  return { parent, kids, turns, store, commit }
}

const byParent = <Row extends { readonly parent: number }>(rows: readonly Row[], parent: number) =>
  rows.filter((row) => row.parent === parent)

test('children are read behind those that were told, with their gates; told they are no more', () => {
  const { parent, kids, turns, store, commit } = addFlow(3)
  turns.effects.flows.note(parent, NOTIFY)
  expect(commit().come).toEqual(expect.arrayContaining([expect.stringMatching(/^flow_due/)]))
  expect(store.load().flowWork).toBe(true)
  const due = byParent(store.flowDue(10), parent.seq)
  expect(due.map(({ child }) => child?.seq)).toEqual(kids.map(({ seq }) => seq))
  expect(due[0]).toEqual({
    parent: parent.seq,
    mode: NOTIFY,
    state: 0,
    child: {
      seq: kids[0]?.seq,
      reported: 0,
      counter: { seq: kids[0]?.seq, parent: parent.seq, pending: 1, failed: 0, state: COUNTER_PENDING },
    },
  })
  const [first] = kids
  const gate = store.dependencies([first?.seq as number])[0] as never
  Object.assign(gate, { pending: 0, state: COUNTER_OPEN })
  turns.effects.flows.changed.add(gate)
  turns.effects.flows.reported.push({ parent: parent.seq, child: first?.seq as number, state: COMPLETED })
  turns.effects.flows.progress.push({ parent: parent.seq, next: { after: first?.seq as number, mode: NOTIFY } })
  const { gone } = commit()
  expect(gone.filter((row) => row.startsWith('flow')).toSorted()).toEqual([
    'flow_due undefined',
    'flow_edge undefined',
    `flow_gate ${first?.seq}`,
  ])
  expect(byParent(store.flowDue(10), parent.seq).map(({ child }) => child?.seq)).toEqual(kids.slice(1).map(({ seq }) => seq))
  expect(store.dependencies(kids.map(({ seq }) => seq))).toMatchObject([
    { parent: parent.seq, pending: 0, state: COUNTER_OPEN },
    { pending: 1 },
    { pending: 1 },
  ])
  turns.effects.flows.progress.push({ parent: parent.seq, next: undefined })
  commit()
  expect(byParent(store.flowDue(10), parent.seq)).toEqual([])
})

test('a parent that changes while its children are told has all of them told anew', () => {
  const { parent, kids, turns, store, commit } = addFlow(3)
  const bystander = addFlow(3)
  const [first, second] = kids.map(({ seq }) => seq) as [number, number]
  const [other] = bystander.kids.map(({ seq }) => seq) as [number]
  const due = ({ seq }: { readonly seq: number }) => byParent(store.flowDue(20), seq).map(({ child }) => child?.seq)
  for (const each of [parent, bystander.parent]) turns.effects.flows.note(each, NOTIFY)
  commit()
  turns.effects.flows.progress.push({ parent: bystander.parent.seq, next: { after: other, mode: NOTIFY } })
  for (const [after, mode] of [
    [first, NOTIFY],
    [second, REVERT],
    [first, NOTIFY],
  ] as const) {
    turns.effects.flows.progress.push({ parent: parent.seq, next: { after, mode: NOTIFY } })
    commit()
    expect(due(parent)).toEqual(kids.slice(kids.findIndex(({ seq }) => seq === after) + 1).map(({ seq }) => seq))
    turns.effects.flows.note(parent, mode)
    commit()
    expect(due(parent)).toEqual(kids.map(({ seq }) => seq))
  }
  expect(due(bystander.parent)).toEqual(bystander.kids.slice(1).map(({ seq }) => seq))
})

test('what is taken back is told alone, and first; a plain end does not undo what was asked for a tree', () => {
  const { parent, turns, store, commit } = addFlow(1)
  const modes = () => byParent(store.flowDue(10), parent.seq).map(({ mode }) => mode)
  for (const [mode, then] of [
    [NOTIFY, NOTIFY],
    [CANCEL, CANCEL],
    [NOTIFY, CANCEL],
  ] as const) {
    turns.effects.flows.note(parent, mode)
    commit()
    expect(modes()).toEqual([then])
  }
  expect(store.flowDue(10).length).toBeGreaterThan(1)
  turns.effects.flows.progress.push({ parent: parent.seq, next: { after: 0, mode: REVERT } })
  commit()
  expect(store.flowDue(10).map((row) => row.parent)).toEqual([parent.seq])
})

test.each(DUE_MODES.flatMap((before) => DUE_MODES.map((mode) => [before, mode] as const)))('mode %i, and then %i', (before, mode) => {
  const { parent, turns, store, commit } = addFlow(1)
  for (const each of [before, mode]) {
    turns.effects.flows.note(parent, each)
    commit()
  }
  expect(byParent(store.flowDue(10), parent.seq).map((row) => row.mode)).toEqual([dueMode(before, mode)])
})

test('what a job has put out outlives its row, until nobody waits for it any more', () => {
  const { parent, kids, turns, store, commit } = addFlow(2)
  turns.start(parent, turns.session())
  turns.complete(parent, '"out"')
  // Of a run before, which was snoozed: no error of the parent's.
  turns.effects.runs.push({ seq: parent.seq, run: 1, attempt: 1, startedAt: 1, endedAt: 2, worker: 'w', error: undefined })
  commit()
  const [first, second] = kids.map(({ seq }) => seq) as [number, number]
  expect(store.parents(first, 0, 10, 100).rows).toMatchObject([
    { place: 1, seq: parent.seq, ref: 'p', state: COMPLETED, output: '"out"', error: undefined },
  ])
  turns.effects.flows.ends.push({ seq: parent.seq, ref: 'p', state: 0, keep: 'row', output: null })
  turns.effects.pruned.push({ seq: parent.seq, lane: parent.lane, extras: parent.extras })
  commit()
  expect(store.parents(second, 0, 10, 100).rows).toMatchObject([{ ref: 'p', state: COMPLETED, output: '"out"', error: undefined }])
  for (const child of [first, second]) {
    turns.effects.flows.gone.push(child)
    commit()
    expect(store.flowLeft(10)).toContainEqual({ child, parent: parent.seq })
    turns.effects.flows.dropped.push({ parent: parent.seq, child })
    turns.effects.flows.dropping.push(child)
    const { gone } = commit()
    expect(gone).toContain('flow_edge undefined')
    // The last one takes it with it.
    expect(gone.includes(`flow_end ${parent.seq}`)).toBe(child === second)
    expect(store.flowLeft(10).filter((row) => row.child === child)).toEqual([])
  }
})

test('the last error of a job outlives its row with its code and causes', () => {
  const { parent, kids, turns, store, commit } = addFlow(1)
  const child = kids[0]?.seq as number
  const error = { name: 'TypeError', message: 'no', code: '502', cause: [{ name: 'Error', message: 'refused', code: 'ECONNREFUSED' }] }
  const run = { seq: parent.seq, attempt: 1, startedAt: 1, endedAt: 2, worker: 'w' }
  turns.effects.runs.push({ ...run, run: 1, error: { name: 'Error', message: 'earlier', code: 'E' } })
  turns.effects.runs.push({ ...run, run: 2, error: { ...error, stack: 'at x' } })
  parent.finishedAt = turns.at
  turns.move(parent, FAILED)
  commit()
  expect(store.parents(child, 0, 10, 100).rows[0]?.error).toEqual(error)
  turns.effects.flows.ends.push({ seq: parent.seq, ref: 'p', state: 0, keep: 'row', output: null })
  turns.effects.pruned.push({ seq: parent.seq, lane: parent.lane, extras: parent.extras })
  commit()
  expect(store.jobs([parent.seq])).toEqual([])
  expect(store.parents(child, 0, 10, 100).rows[0]?.error).toEqual(error)
})

test('an end that nobody waits for is not kept', () => {
  const { turns, commit } = crowd
  turns.effects.flows.ends.push({ seq: 77, ref: 'x', state: FAILED, keep: 'state', output: null })
  turns.effects.flows.ends.push({ seq: 78, ref: 'x', state: DELETED, keep: 'record', output: '1' })
  expect(commit().come.filter((row) => row.startsWith('flow_end'))).toEqual([])
})

test('parents come a page at a time: by number, and by the bytes that they have put out', () => {
  const { turns, store, commit } = crowd
  const session = turns.session()
  const first = turns.nextSeq
  const parents = Array.from({ length: 4 }, () => turns.insert())
  const child = turns.insert({ state: BLOCKED })
  turns.effects.flows.counters.push({ seq: child.seq, parent: parents[0]?.seq as number, pending: 4, failed: 0, state: COUNTER_PENDING })
  for (const [index, { seq }] of parents.entries()) turns.effects.flows.edges.push({ parent: seq, child: child.seq, place: index + 1 })
  commit()
  for (const parent of parents) {
    turns.start(parent, session)
    turns.complete(parent, 'x'.repeat(50))
  }
  commit()
  const page = (after: number, limit: number, bytes: number) => {
    const { rows, complete } = store.parents(child.seq, after, limit, bytes)
    return [rows.map(({ seq }) => seq - first), complete]
  }
  expect(page(0, 10, 1_000)).toEqual([[0, 1, 2, 3], true])
  expect(page(0, 3, 1_000)).toEqual([[0, 1, 2], false])
  expect(page(3, 3, 1_000)).toEqual([[3], true])
  expect(page(0, 10, 100)).toEqual([[0, 1], false])
  expect(page(2, 10, 10)).toEqual([[2], false])
})

test('children are read without payload and output, as far as the room goes', () => {
  const { turns, store, commit } = crowd
  const jobs = Array.from({ length: 3 }, () => turns.insert({ data: 'x'.repeat(1_000) }))
  for (const job of jobs) job.checkpoint = 'y'.repeat(100)
  commit()
  const seqs = jobs.map(({ seq }) => seq)
  expect(store.children(seqs, 1_000)).toMatchObject({ complete: true, rows: seqs.map((seq) => ({ seq, data: null, output: null })) })
  expect(store.children(seqs, 250)).toMatchObject({ complete: false, rows: seqs.slice(0, 2).map((seq) => ({ seq })) })
  expect(store.children(seqs, 1)).toMatchObject({ complete: false, rows: [{ seq: seqs[0] }] })
})
