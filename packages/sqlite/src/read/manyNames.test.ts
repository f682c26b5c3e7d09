// Lists of a file with more names than a list reads the counters of: pages of each filter, in each order, have just the jobs that it fits.
import { ACTIVE, CANCELLED, COMPLETED, FAILED, type ListFilter, SCHEDULED, type StateCode, WAITING } from '@millrace/core'
import { DIRTY_PLACE, type Job, type ListQuery } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { type Crowd, openCrowd } from '../testing/crowd.ts'
import { listed, UNBOUNDED } from '../testing/lists.ts'

const STATES = [SCHEDULED, WAITING, ACTIVE, COMPLETED, FAILED, CANCELLED] as const
/** Over the 256 lanes whose counters a list reads: names of one queue, and queues of one name. */
const MANY = 270

/** Brings a job of the last turn into a state. */
function bring({ turns }: Crowd, job: Job, state: StateCode): void {
  if (state === ACTIVE || state === COMPLETED) turns.start(job, turns.session())
  if (state === COMPLETED) turns.complete(job)
  if (state !== FAILED && state !== CANCELLED) return
  job.finishedAt = turns.at
  turns.move(job, state)
}

function manyNames(): Crowd {
  const crowd = openCrowd()
  const { turns } = crowd
  const places = [
    ...Array.from({ length: MANY }, (_, index) => [`n${index}`, 'many']),
    ...['n0', 'n1', 'other'].map((name) => [name, 'few']),
    ...Array.from({ length: MANY }, (_, index) => ['shared', `q${index}`]),
  ] as const
  for (let round = 0; round < 4; round++) {
    const jobs = places.map(([name, queue], index) => {
      const state = STATES[(index + round) % STATES.length] as StateCode
      const job = turns.insert({ lane: turns.lane(name, queue), ...(state === SCHEDULED && { runAt: turns.at + 1_000 + index }) })
      return { job, state }
    })
    turns.commit()
    for (const { job, state } of jobs) bring(crowd, job, state)
    turns.commit()
  }
  return crowd
}

type Row = [seq: number, state: StateCode, name: string, queue: string]

const PLACES: readonly ListFilter[] = [
  {},
  { queue: 'many' },
  { queue: 'few' },
  { name: 'n1' },
  { name: 'shared' },
  { queue: 'many', name: 'n1' },
  { queue: 'q5', name: 'shared' },
  { queue: 'nowhere' },
  { name: 'nobody' },
]
/** The orders of a state: newest first, oldest first, and by time. */
const ordersOf = (state: StateCode | undefined): readonly Partial<ListQuery>[] => [
  {},
  { ascending: true },
  ...(state === SCHEDULED ? [{ order: 'due' } as const] : []),
  ...(state === COMPLETED || state === FAILED || state === CANCELLED ? [{ order: 'finished' } as const] : []),
]

const QUERIES = PLACES.flatMap((place) =>
  [undefined, ...STATES].flatMap((state) =>
    ordersOf(state).map((order) => ({ filter: { ...place, ...(state !== undefined && { state }) }, ...order })),
  ),
)

/** Reads a list page by page. */
function pagesOf({ store }: Crowd, query: (typeof QUERIES)[number]): number[] {
  const found: number[] = []
  for (let place: Partial<ListQuery> | undefined = {}; place !== undefined; ) {
    const { rows, next, nextAt } = store.list({ ...query, limit: 97, ...place }, UNBOUNDED)
    found.push(...rows.map(({ seq }) => seq))
    place = next === null ? undefined : { before: next, ...(nextAt !== undefined && { beforeAt: nextAt }) }
  }
  return found
}

const ascending = (seqs: readonly number[]) => seqs.toSorted((a, b) => a - b)

test('each filter finds its jobs, in each order', () => {
  const crowd = manyNames()
  const rows = crowd.db
    .prepare(
      'SELECT job.seq, job.state, lane.name, queue.name FROM job JOIN lane ON lane.id = job.lane JOIN queue ON queue.id = lane.queue',
    )
    .raw()
    .all() as Row[]
  const seqsOf = ({ state, name, queue }: ListFilter) =>
    rows.filter((row) => (state ?? row[1]) === row[1] && (name ?? row[2]) === row[2] && (queue ?? row[3]) === row[3]).map(([seq]) => seq)
  for (const place of [{ queue: 'many' }, { name: 'shared' }])
    for (const state of STATES) expect(seqsOf({ ...place, state }).length).toBeGreaterThan(40)
  for (const query of QUERIES) {
    const found = pagesOf(crowd, query)
    const fits = ascending(seqsOf(query.filter))
    expect(ascending(found), JSON.stringify(query)).toEqual(fits)
    if (!('order' in query)) expect(found, JSON.stringify(query)).toEqual('ascending' in query ? fits : fits.toReversed())
  }
})

test('a job that has ended in two queues, one after the other, is only in the last', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  const [before, after] = [turns.lane('late', 'before'), turns.lane('late', 'after')]
  const [job, bystander] = [turns.insert({ lane: before }), turns.insert({ lane: before })]
  turns.commit()
  for (const each of [job, bystander]) bring(crowd, each, CANCELLED)
  turns.commit()
  job.finishedAt = 0
  turns.move(job, WAITING)
  turns.commit()
  // Brought back, it takes the queue that its definition names by now.
  turns.effects.countJob(job, -1)
  job.lane = after
  turns.effects.countJob(job, 1)
  turns.effects.touch(job, DIRTY_PLACE)
  turns.commit()
  bring(crowd, job, CANCELLED)
  turns.commit()
  for (const order of [undefined, 'finished'] as const) {
    const seqsIn = (queue: string) => listed(store, { filter: { queue, state: CANCELLED }, ...(order && { order }) }).map(({ seq }) => seq)
    expect([seqsIn('before'), seqsIn('after')]).toEqual([[bystander.seq], [job.seq]])
  }
})
