/** Tests who waits for whom: counters, outcomes on their way, what removed parents leave behind, and pages of a flow. Part of the suite. */
import {
  ACTIVE,
  BLOCKED,
  CANCELLED,
  COMPLETED,
  FAILED,
  FLOW_STATES,
  type FlowCursor,
  type JobKey,
  type ListFilter,
  type ManyResult,
} from '@millrace/core'
import { COUNTER_OPEN, COUNTER_PENDING, DELETED, type FlowJobRow, type FlowRows, type FlowsQuery } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { plain, seqsOf, UNBOUNDED } from './image.ts'
import { standBy } from './standBy.ts'
import { ERROR, enqueueing, flowOf, keyOfJob, type StoreTurns } from './storeTurns.ts'

const ALL = Number.MAX_SAFE_INTEGER
const NONE = [0, 0, 0, 0, 0, 0, 0]

/** A worker, and two jobs that run, for which a third waits. */
function diamond(turns: StoreTurns): readonly [number, number, number] {
  turns.attach('w', ['a'])
  return seqsOf(turns.flow([{ ref: 'one' }, { ref: 'two' }, { ref: 'end', parents: [0, 1] }])) as [number, number, number]
}

export function flowsConformance(under: () => StoreTurns): void {
  describe('a job that waits for others', () => {
    test('counts those that have yet to end, and is let through by the last', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const [one, two, end] = diamond(turns)
      expect(turns.store.dependencies([one, end])).toMatchObject([{ seq: end, pending: 2, failed: 0, state: COUNTER_PENDING }])
      expect([one, two]).toContain(turns.store.dependencies([end])[0]?.parent)
      turns.complete({ seq: one })
      expect(turns.store.dependencies([end])).toMatchObject([{ pending: 1, failed: 0, state: COUNTER_PENDING }])
      turns.complete({ seq: two })
      expect(turns.store.dependencies([end])).toMatchObject([{ pending: 0, failed: 0, state: COUNTER_OPEN }])
      expect(turns.store.load().flowWork).toBe(false)
      assertBystanders()
    })

    test('hears of an outcome in a later turn, and that of many of them in slices', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.attach('w', ['a'])
      const [parent, ...children] = seqsOf(turns.flow([{}, { parents: [0] }, { parents: [0] }, { parents: [0] }])) as [
        number,
        number,
        number,
        number,
      ]
      turns.turn({ op: 'complete', seq: parent, run: 1, output: null })
      const due = turns.store.flowDue(10)
      expect(due.map((row) => [row.parent, row.state, row.child?.seq, row.child?.reported, row.child?.counter?.pending])).toEqual(
        children.map((seq) => [parent, COMPLETED, seq, 0, 1]),
      )
      expect(turns.store.flowDue(2)).toEqual(due.slice(0, 2))
      expect(turns.store.load().flowWork).toBe(true)
      turns.run()
      expect([turns.store.flowDue(10), turns.store.load().flowWork]).toEqual([[], false])
      assertBystanders()
    })

    test('waits again where a parent that had failed is brought back', () => {
      const turns = under()
      const [one, , end] = diamond(turns)
      turns.fail({ seq: one }, { retry: false })
      expect(turns.store.dependencies([end])).toMatchObject([{ pending: 1, failed: 1 }])
      turns.run({ op: 'leave', session: 'w' }, { op: 'retry', id: keyOfJob(turns.row({ seq: one })) })
      expect(turns.store.dependencies([end])).toMatchObject([{ pending: 2, failed: 0, state: COUNTER_PENDING }])
    })
  })

  test('children come in the order in which they are asked for, without payloads, as far as there is room', () => {
    const turns = under()
    const jobs = seqsOf(turns.flow([{ job: { data: 'x' } }, { parents: [0] }, { parents: [0] }]))
    const { rows, complete } = turns.store.children([...jobs, 99_999].toReversed(), ALL)
    expect([seqsOf(rows), complete]).toEqual([jobs.toReversed(), true])
    expect(rows.map(({ data, output }) => [data, output])).toEqual(jobs.map(() => [null, null]))
    for (const seq of jobs) turns.update({ seq }, { checkpoint: '"four"' })
    turns.run()
    const checked = jobs.filter((seq) => turns.row({ seq }).checkpoint !== null)
    expect(turns.store.children(checked, 0)).toMatchObject({ rows: [{ seq: checked[0] }], complete: checked.length === 1 })
  })

  describe('parents', () => {
    test('come in their places, with outputs and errors', () => {
      const turns = under()
      const [one, two, end] = diamond(turns)
      turns.complete({ seq: one }, '"1"')
      const parents = (after = 0, limit = 10, bytes = ALL) => turns.store.parents(end, after, limit, bytes)
      expect(parents()).toEqual({
        rows: [
          { place: 1, seq: one, ref: 'one', state: COMPLETED, output: '"1"', error: undefined },
          { place: 2, seq: two, ref: 'two', state: ACTIVE, output: null, error: undefined },
        ],
        complete: true,
      })
      expect(parents(1).rows.map(({ seq }) => seq)).toEqual([two])
      expect([parents(0, 1), parents(0, 10, 0)]).toMatchObject(Array(2).fill({ rows: [{ seq: one }], complete: false }))
      turns.complete({ seq: two }, '"22"')
      expect(parents(0, 10, 3)).toMatchObject({ rows: [{ seq: one }], complete: false })
      expect(turns.store.parents(one, 0, 10, ALL)).toEqual({ rows: [], complete: true })
    })

    test('that are removed leave what their children may ask for', () => {
      const turns = under()
      const bystander = turns.row(turns.enqueue('b'))
      turns.attach('w', ['a'])
      const nodes = [
        { ref: 'one' },
        { ref: 'two' },
        { ref: 'end', parents: [0, 1], onFailure: 'continue' as const, job: { name: 'later' } },
      ]
      const [one, two, end] = seqsOf(turns.flow([...nodes])) as [number, number, number]
      turns.run({ op: 'complete', seq: one, run: 1, output: '"1"' }, { op: 'fail', seq: two, run: 1, error: ERROR, retry: false })
      turns.run({ op: 'pauseAll', paused: true }, { op: 'leave', session: 'w' })
      turns.pass(10)
      turns.prune({ completed: { ageMs: 5, count: 9 }, failed: { ageMs: 5, count: 0 } })
      expect(turns.store.jobs([one, two])).toEqual([])
      const { stack: _, ...error } = ERROR
      expect(turns.store.parents(end, 0, 10, ALL).rows).toEqual([
        { place: 1, seq: one, ref: 'one', state: COMPLETED, output: '"1"', error: undefined },
        { place: 2, seq: two, ref: 'two', state: FAILED, output: null, error },
      ])
      expect(turns.store.flowJobs(one, { seq: one, place: 0 }, 9, 9).rows).toMatchObject([
        { row: { seq: end }, parents: [{ ref: 'one' }, { ref: 'two' }] },
      ])
      // Edges go with the child, in slices, and what the parents have left with the last edge.
      turns.cancel({ seq: end })
      turns.turn({ op: 'delete', id: keyOfJob(turns.row({ seq: end })) })
      expect(turns.store.flowLeft(9)).toEqual([
        { child: end, parent: one },
        { child: end, parent: two },
      ])
      expect(turns.store.flowLeft(1)).toHaveLength(1)
      turns.run()
      expect([turns.store.flowLeft(9), turns.store.parents(end, 0, 10, ALL).rows]).toEqual([[], []])
      expect(turns.row(bystander)).toEqual(bystander)
    })

    test('that are deleted before they end leave no more than that', () => {
      const turns = under()
      const [one, , end] = seqsOf(turns.flow([{ ref: 'one' }, { ref: 'two' }, { parents: [0, 1], onFailure: 'continue' }])) as [
        number,
        number,
        number,
      ]
      turns.delete({ seq: one })
      expect(turns.store.parents(end, 0, 1, ALL).rows).toEqual([
        { place: 1, seq: one, ref: 'one', state: DELETED, output: null, error: undefined },
      ])
      expect(turns.store.dependencies([end])).toMatchObject([{ pending: 1, failed: 1 }])
    })
  })

  test.each([
    [1, 1],
    [2, 3],
    [9, 9],
  ])('a flow comes in pages of %i jobs and %i edges, in order and without payloads', (limit, edges) => {
    const turns = under()
    turns.flow([{}, { parents: [0] }])
    const jobs = seqsOf(turns.flow([{}, { parents: [0] }, { parents: [0, 1] }, { parents: [0, 1, 2] }]))
    turns.enqueue('a')
    const first = jobs[0] as number
    const rows: FlowJobRow[] = []
    for (let from: FlowCursor | null = { seq: first, place: 0 }; from !== null; ) {
      const page = turns.store.flowJobs(first, from, limit, edges)
      expect(page.rows.length).toBeLessThanOrEqual(limit)
      expect(page.rows.flatMap(({ parents }) => parents).length).toBeLessThanOrEqual(edges)
      rows.push(...page.rows)
      from = page.next
    }
    const parentsOf = (seq: number) =>
      rows.filter(({ row }) => row.seq === seq).flatMap(({ parents }) => parents.map((parent) => parent.seq))
    expect(jobs.map((seq) => parentsOf(seq).map((parent) => parent - first))).toEqual([[], [0], [0, 1], [0, 1, 2]])
    expect(new Set(rows.map(({ row }) => row.seq))).toEqual(new Set(jobs))
    for (const { row, place } of rows) expect([row.data, row.output, place.first]).toEqual([null, null, first])
    expect(turns.store.flowJobs(99_999, { seq: 99_999, place: 0 }, 9, 9)).toEqual({ rows: [], next: null, counts: NONE })
  })

  describe('a list of flows', () => {
    const list = (query: Partial<FlowsQuery> = {}, bound = UNBOUNDED) => under().store.listFlows({ limit: 9, ...query }, bound)
    const firstsOf = (page: FlowRows) => seqsOf(page.rows)

    test('has those in which a job waits, newest first, each with its jobs by state', () => {
      const turns = under()
      turns.enqueue('a')
      const [older] = seqsOf(turns.flow([{}, { parents: [0] }])) as [number]
      turns.enqueue('b')
      turns.flow([{}, {}])
      const [newer, second, third] = seqsOf(turns.flow([{ job: { name: 'b', queue: 'q' } }, { parents: [0] }, {}, { parents: [1] }])) as [
        number,
        number,
        number,
      ]
      turns.enqueue('a')
      const { rows, next } = list()
      expect(next).toBeNull()
      expect(rows.map(({ seq, counts, finishedAt }) => [seq, counts, finishedAt])).toEqual([
        [newer, [0, 2, 0, 2, 0, 0, 0], 0],
        [older, [0, 1, 0, 1, 0, 0, 0], 0],
      ])
      const { node, enqueuedAt, laneId } = turns.row({ seq: newer })
      expect(rows[0]).toMatchObject({ node, enqueuedAt, laneId })
      // The name is that of the first job that is kept.
      turns.cancel({ seq: newer })
      turns.delete({ seq: newer })
      expect(list().rows[0]).toMatchObject({ seq: newer, laneId: turns.row({ seq: second }).laneId, counts: [0, 1, 0, 0, 0, 2, 0] })
      for (const seq of [second, second + 2]) turns.delete({ seq })
      expect(firstsOf(list())).toEqual([older])
      expect(turns.store.flowJobs(newer, { seq: newer, place: 0 }, 9, 9)).toMatchObject({
        rows: [{ row: { seq: third } }],
        counts: [0, 1, 0, 0, 0, 0, 0],
      })
    })

    test('is narrowed by state, which is that of all jobs of a flow', () => {
      const turns = under()
      turns.attach('w', ['a'], { minConcurrency: 9, maxConcurrency: 9 })
      const flow = () => seqsOf(turns.flow([{}, { parents: [0], onFailure: 'ignore', job: { name: 'b' } }])) as [number, number]
      const [running, completed, failed, cancelled] = [flow(), flow(), flow(), flow()]
      const cancel = (seq: number) => turns.cancel({ seq })
      turns.fail({ seq: running[0] }, { retry: false })
      turns.complete({ seq: completed[0] })
      turns.fail({ seq: failed[0] }, { retry: false })
      cancel(failed[1])
      turns.complete({ seq: cancelled[0] })
      turns.pass(5)
      cancel(cancelled[1])
      turns.attach('v', ['b'], { minConcurrency: 9, maxConcurrency: 9 })
      turns.complete({ seq: completed[1] })
      expect(FLOW_STATES.map((state) => firstsOf(list({ state })))).toEqual([[running[0]], [completed[0]], [failed[0]], [cancelled[0]]])
      expect(list({ state: 'cancelled' }).rows[0]?.finishedAt).toBe(turns.row({ seq: cancelled[1] }).finishedAt)
      expect(list({ state: 'running' }).rows[0]?.finishedAt).toBe(0)
    })

    test('comes in pages, and a page ends at its bounds', () => {
      const turns = under()
      const firsts = Array.from({ length: 5 }, () => seqsOf(turns.flow([{}, { parents: [0] }]))[0] as number).toReversed()
      const pages = (query: Partial<FlowsQuery>, bound = UNBOUNDED) => {
        const found: (readonly number[])[] = []
        for (let before: number | null | undefined; before !== null; ) {
          const page = list({ ...query, ...(before !== undefined && { before }) }, bound)
          found.push(firstsOf(page))
          before = page.next
        }
        return found
      }
      expect(pages({ limit: 2 })).toEqual([firsts.slice(0, 2), firsts.slice(2, 4), firsts.slice(4)])
      expect(pages({}, { rows: 3, late: () => false })).toEqual([firsts.slice(0, 2), firsts.slice(2, 4), firsts.slice(4)])
      expect(pages({}, { rows: 99, late: () => true })).toEqual(firsts.map((first) => [first]))
      expect(pages({ state: 'failed' }, { rows: 1, late: () => false })).toEqual(Array(5).fill([]))
    })
  })

  test.each([1, 3, 1_000])('the jobs of a flow are found by its id, in looks at %i rows, and those around it are left alone', (rows) => {
    const turns = under()
    const assertBystanders = standBy(turns)
    turns.attach('w', ['a'], { minConcurrency: 9, maxConcurrency: 9 })
    turns.turn(flowOf([{}, {}]), enqueueing({ name: 'b' }), flowOf([{}, { parents: [0] }, { parents: [1] }, {}]), flowOf([{}]))
    const all = turns.rows().filter(({ extras }) => extras?.flow !== undefined)
    const seqs = seqsOf(all.filter(({ extras }) => extras?.flow?.first === all[2]?.seq))
    const [first, second] = all.slice(2).map(keyOfJob) as [JobKey, JobKey]
    turns.turn({ op: 'join', seq: first.seq, run: 1, name: 'j', jobs: [{ name: 'b', data: null }] })
    const listed = (filter: ListFilter, ascending = false) => {
      const found: number[] = []
      for (let before: number | null | undefined; before !== null; ) {
        const query = { filter, limit: 2, ...(ascending && { ascending }), ...(before !== undefined && { before }) }
        const page = turns.store.list(query, { rows, late: () => false })
        found.push(...seqsOf(page.rows))
        before = page.next
      }
      return found
    }
    const many = (filter: ListFilter, dryRun = true) => turns.turn({ op: 'cancelMany', filter, limit: 99, dryRun }).replies[0] as ManyResult
    expect(seqs).toHaveLength(4)
    expect(listed({ flow: first }, true)).toEqual(seqs)
    expect(listed({ flow: first })).toEqual(seqs.toReversed())
    expect(listed({ flow: first, states: [BLOCKED] })).toEqual([seqs[2], seqs[1], seqs[0]])
    expect(listed({ flow: first, tag: 't' })).toEqual([])
    for (const other of [second, { ...first, node: first.node + 1 }, { ...first, enqueuedAt: first.enqueuedAt + 1 }]) {
      expect(listed({ flow: other })).toEqual([])
      expect(many({ flow: other }).matched).toBe(0)
    }
    expect(many({ flow: first }).matched).toBe(4)
    expect(many({ flow: first, state: ACTIVE })).toMatchObject({ matched: 1 })
    const others = JSON.stringify(plain(turns.rows().filter(({ seq }) => !seqs.includes(seq))))
    expect(many({ flow: first }, false)).toMatchObject({ matched: 4, changed: 4 })
    expect(listed({ flow: first, states: [ACTIVE, CANCELLED] }, true)).toEqual(seqs)
    expect(JSON.stringify(plain(turns.rows().filter(({ seq }) => !seqs.includes(seq))))).toBe(others)
    assertBystanders()
  })

  test('a whole tree is cancelled and brought back', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const jobs = turns.flow([{}, { parents: [0] }, { parents: [1] }])
    turns.run({ op: 'cancelTree', id: keyOfJob(jobs[0] as never) })
    expect(turns.store.jobs(seqsOf(jobs)).map(({ state }) => state)).toEqual([CANCELLED, CANCELLED, CANCELLED])
    turns.run({ op: 'retryTree', id: keyOfJob(jobs[0] as never) })
    expect(turns.store.jobs(seqsOf(jobs)).map(({ state }) => state)).toEqual([1, 3, 3])
    expect(turns.store.dependencies(seqsOf(jobs))).toMatchObject([{ pending: 1 }, { pending: 1 }])
    assertBystanders()
  })
}
