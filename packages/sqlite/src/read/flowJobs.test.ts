// A flow as it is read: by pages, with what each job waits for, and nothing of its neighbours.
import { BLOCKED, CANCELLED, COMPLETED, FAILED } from '@millrace/core'
import { COUNTER_PENDING, DELETED, type FlowPlace, type Job } from '@millrace/core/kernel'
import { beforeEach, expect, test } from 'vitest'
import { type Crowd, openCrowd } from '../testing/crowd.ts'

let crowd: Crowd

beforeEach(() => {
  crowd = openCrowd()
})

/** Jobs that wait for those at the places that are named, in one commit. */
function addFlow(waitsFor: readonly (readonly number[])[]): Job[] {
  const { turns, commit } = crowd
  const first = turns.nextSeq
  const jobs = waitsFor.map((parents, index) => {
    const children = waitsFor.some((others) => others.includes(index))
    const place: FlowPlace = { first, ref: `n${index}`, parents: parents.length, children, onFailure: 'fail' }
    return turns.insert({ ...(parents.length > 0 && { state: BLOCKED }), data: 'x'.repeat(1_000), extras: { flow: place } })
  })
  for (const [index, parents] of waitsFor.entries()) {
    const child = first + index
    if (parents.length > 0)
      turns.effects.flows.counters.push({
        seq: child,
        parent: first + (parents[0] ?? 0),
        pending: parents.length,
        failed: 0,
        state: COUNTER_PENDING,
      })
    for (const [at, parent] of parents.entries()) turns.effects.flows.edges.push({ parent: first + parent, child, place: at + 1 })
  }
  commit()
  return jobs
}

/** Everything from a row on. */
function rest(first: number, seq = 0) {
  return crowd.store.flowJobs(first, { seq, place: 0 }, 10, 100)
}

test('its jobs come in their order, each with those that it waits for, and none of another flow', () => {
  addFlow([[], [0]])
  const [a, b, c] = addFlow([[], [], [1, 0]]) as [Job, Job, Job]
  addFlow([[], [0]])
  crowd.turns.insert()
  crowd.commit()
  const { rows, next } = rest(a.seq)
  expect(next).toBeNull()
  expect(rows.map(({ row, parents }) => [row.seq, parents])).toEqual([
    [a.seq, []],
    [b.seq, []],
    // As they were named.
    [
      c.seq,
      [
        { seq: b.seq, ref: 'n1', told: 0 },
        { seq: a.seq, ref: 'n0', told: 0 },
      ],
    ],
  ])
  expect(rows[2]?.row).toMatchObject({ state: BLOCKED, data: null, output: null, checkpoint: null })
})

test('a page ends with its jobs, or with those that they wait for, and the next goes on there', () => {
  const [{ seq: first }] = addFlow([[], [], [0, 1], [0, 1, 2], []]) as [Job]
  addFlow([[]])
  /** As `[refs with how many parents are told, job and place to go on from]`. */
  const pageOf = (job: number, place: number, limit: number, edges = 100) => {
    const { rows, next } = crowd.store.flowJobs(first, { seq: first + job, place }, limit, edges)
    return [rows.map((row) => `${row.place.ref} ${row.parents.length}`), next && [next.seq - first, next.place]]
  }
  expect(pageOf(0, 0, 2)).toEqual([
    ['n0 0', 'n1 0'],
    [2, 0],
  ])
  expect(pageOf(2, 0, 2)).toEqual([
    ['n2 2', 'n3 3'],
    [4, 0],
  ])
  expect(pageOf(4, 0, 2)).toEqual([['n4 0'], null])
  expect(pageOf(5, 0, 2)).toEqual([[], null])
  expect(pageOf(0, 0, 5)).toEqual([['n0 0', 'n1 0', 'n2 2', 'n3 3', 'n4 0'], null])
  // One that has no room begins the next page.
  expect(pageOf(0, 0, 5, 4)).toEqual([
    ['n0 0', 'n1 0', 'n2 2'],
    [3, 0],
  ])
  // One that has more than a page is cut.
  expect(pageOf(3, 0, 5, 2)).toEqual([['n3 2'], [3, 2]])
  expect(pageOf(3, 2, 5, 2)).toEqual([['n3 1', 'n4 0'], null])
  expect(pageOf(3, 9, 5)).toEqual([['n3 0', 'n4 0'], null])
  // A place before the flow is its beginning.
  expect(pageOf(-2, 1, 1)).toEqual([['n0 0'], [1, 0]])
  expect(crowd.store.flowJobs(first, { seq: first + 3, place: 2 }, 1, 2).rows[0]?.parents).toEqual([{ seq: first + 2, ref: 'n2', told: 0 }])
})

test('of parents that are gone, the ref and what was told stay', () => {
  const { turns, commit } = crowd
  const [a, b, c] = addFlow([[], [], [0, 1], [2]]) as [Job, Job, Job]
  const { flows } = turns.effects
  flows.ends.push({ seq: a.seq, ref: 'n0', state: COMPLETED, keep: 'state', output: null })
  flows.ends.push({ seq: b.seq, ref: 'n1', state: DELETED, keep: 'state', output: null })
  flows.reported.push({ parent: a.seq, child: c.seq, state: COMPLETED }, { parent: b.seq, child: c.seq, state: DELETED })
  for (const job of [a, b]) turns.effects.pruned.push({ seq: job.seq, lane: job.lane, extras: job.extras })
  commit()
  expect(rest(a.seq)).toMatchObject({
    next: null,
    rows: [
      {
        place: { ref: 'n2' },
        parents: [
          { seq: a.seq, ref: 'n0', told: COMPLETED },
          { seq: b.seq, ref: 'n1', told: DELETED },
        ],
      },
      { place: { ref: 'n3' }, parents: [{ seq: c.seq, ref: 'n2', told: 0 }] },
    ],
  })
})

test('a parent on an earlier page has its ref, and one that somebody has broken none', () => {
  const { db } = crowd
  const [a, , c, d] = addFlow([[], [0], [1], [0, 2]]) as [Job, Job, Job, Job]
  const refs = () => rest(a.seq, c.seq).rows.map(({ parents }) => parents.map(({ ref }) => ref))
  expect(refs()).toEqual([['n1'], ['n0', 'n2']])
  db.prepare("UPDATE job SET extras = '{' WHERE seq = ?").run(a.seq)
  expect(refs()).toEqual([['n1'], ['', 'n2']])
  expect(rest(a.seq, d.seq).rows[0]?.parents[0]).toMatchObject({ seq: a.seq, told: 0 })
})

test.each([FAILED, CANCELLED] as const)('what was told is the final state: %s', (state) => {
  const { turns, commit } = crowd
  const [a, b] = addFlow([[], [0]]) as [Job, Job]
  const [bystander, other] = addFlow([[], [0]]) as [Job, Job]
  turns.effects.flows.reported.push({ parent: a.seq, child: b.seq, state })
  commit()
  expect(rest(a.seq, b.seq).rows[0]?.parents).toEqual([{ seq: a.seq, ref: 'n0', told: state }])
  expect(rest(bystander.seq, other.seq).rows[0]?.parents).toMatchObject([{ told: 0 }])
})
