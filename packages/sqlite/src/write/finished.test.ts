// Which jobs have finished, by batch: what retention is offered, and what it leaves.
import { CANCELLED, COMPLETED, FAILED, LIMITS, WAITING } from '@millrace/core'
import { DIRTY_DELETE, type Job, type Prunable } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { setLimits } from '../../../core/src/testing/smallLimits.ts'
import { openCrowd } from '../testing/crowd.ts'
import { rowsOf } from '../testing/files.ts'
import type { Turns } from '../testing/jobs.ts'
import { prunableOf } from '../testing/prunable.ts'

const FAR = 2 ** 50

/** A turn of its own. */
function finish(turns: Turns, count: number, { name = 'x', state = COMPLETED, data = '1' } = {}): Job[] {
  const session = turns.session()
  const jobs = Array.from({ length: count }, () => turns.insert({ lane: turns.lane(name, 'shop'), data }))
  for (const job of jobs) {
    turns.start(job, session)
    if (state === COMPLETED) turns.complete(job)
    else {
      job.finishedAt = turns.at
      turns.move(job, state as typeof FAILED)
    }
  }
  turns.commit()
  return jobs
}

/** In a turn that also finishes a job of another queue. */
function prune(turns: Turns, found: Prunable | undefined, lane: Job['lane']): void {
  const other = turns.insert({ lane: turns.lane('other', 'elsewhere') })
  turns.start(other, turns.session())
  turns.complete(other)
  for (const { seq, state, extras } of found?.rows ?? []) {
    turns.effects.count(lane, state, -1)
    turns.effects.pruned.push({ seq, lane, extras })
  }
  turns.effects.pruneTokens.push(found?.token)
  turns.commit()
}

const seqsOf = (found: Prunable | undefined) => found?.rows.map(({ seq }) => seq)
const numbers = (jobs: readonly Job[]) => jobs.map(({ seq }) => seq)

test('jobs of a queue come in the order in which they finished, across its lanes', () => {
  const { store, turns } = openCrowd()
  const [a] = finish(turns, 1, { name: 'y' }) as [Job]
  const [b, c] = finish(turns, 2) as [Job, Job]
  const [d] = finish(turns, 1, { name: 'y' }) as [Job]
  finish(turns, 1, { state: FAILED })
  const { id } = a.lane.queue
  expect(seqsOf(prunableOf(store, id, COMPLETED, FAR, 10))).toEqual(numbers([a, b, c, d]))
  expect(seqsOf(prunableOf(store, id, COMPLETED, d.finishedAt, 10))).toEqual(numbers([a, b, c]))
  expect(seqsOf(prunableOf(store, id, COMPLETED, FAR, 2))).toEqual(numbers([a, b]))
  expect(prunableOf(store, id, CANCELLED, FAR, 3)).toBeUndefined()
  expect(prunableOf(store, id, COMPLETED, a.finishedAt, 3)).toBeUndefined()
})

test('what is pruned is gone with its batches; of a batch that is cut, the rest stays', () => {
  const { store, turns, db } = openCrowd()
  const jobs = [...finish(turns, 3), ...finish(turns, 60)]
  const [first] = jobs as [Job]
  const { lane } = first
  const before = rowsOf(db, 'finished').length
  prune(turns, prunableOf(store, lane.queue.id, COMPLETED, FAR, 5), lane)
  expect(seqsOf(prunableOf(store, lane.queue.id, COMPLETED, FAR, 99))).toEqual(numbers(jobs.slice(5)))
  // Two of the batches are gone, or cut; one of the other queue has come.
  expect(rowsOf(db, 'finished')).toHaveLength(before - 1 + 1)
  prune(turns, prunableOf(store, lane.queue.id, COMPLETED, FAR, 99), lane)
  expect(prunableOf(store, lane.queue.id, COMPLETED, FAR, 99)).toBeUndefined()
  expect(store.jobs(numbers(jobs))).toEqual([])
  expect(rowsOf(db, 'finished')).toHaveLength(before - 2 + 2)
})

test('a job that was brought back, or deleted, is passed over', () => {
  const { store, turns } = openCrowd()
  const jobs = finish(turns, 20, { state: FAILED })
  const [back, again, deleted] = jobs as [Job, Job, Job]
  back.finishedAt = 0
  turns.move(back, WAITING)
  again.finishedAt = 0
  turns.move(again, WAITING)
  turns.effects.count(deleted.lane, FAILED, -1)
  turns.effects.touch(deleted, DIRTY_DELETE)
  turns.commit()
  again.finishedAt = turns.at
  turns.move(again, FAILED)
  turns.commit()
  const { lane } = back
  expect(seqsOf(prunableOf(store, lane.queue.id, FAILED, FAR, 99))).toEqual(numbers([...jobs.slice(3), again]))
})

test('a batch of which nothing is left is forgotten, and does not hide the next', () => {
  const { store, turns } = openCrowd()
  const gone = finish(turns, 3)
  const [next] = finish(turns, 1) as [Job]
  for (const job of gone) {
    turns.effects.count(job.lane, COMPLETED, -1)
    turns.effects.touch(job, DIRTY_DELETE)
  }
  turns.commit()
  expect(seqsOf(prunableOf(store, next.lane.queue.id, COMPLETED, next.finishedAt, 9))).toEqual([])
  prune(turns, prunableOf(store, next.lane.queue.id, COMPLETED, next.finishedAt, 9), next.lane)
  expect(prunableOf(store, next.lane.queue.id, COMPLETED, next.finishedAt, 9)).toBeUndefined()
  expect(seqsOf(prunableOf(store, next.lane.queue.id, COMPLETED, FAR, 9))).toEqual([next.seq])
})

test('a job that finished twice within a millisecond is offered once', () => {
  const { store, turns } = openCrowd()
  const [job] = finish(turns, 1, { state: FAILED }) as [Job]
  job.finishedAt = 0
  turns.at--
  turns.move(job, WAITING)
  turns.commit()
  turns.at--
  job.finishedAt = turns.at
  turns.move(job, FAILED)
  turns.commit()
  expect(seqsOf(prunableOf(store, job.lane.queue.id, FAILED, FAR, 9))).toEqual([job.seq])
})

test('a slice of large payloads is shorter, of one at least', () => {
  expect(LIMITS.sliceBytes).toBe(64 * 2 ** 20)
  setLimits({ sliceBytes: 64_000 })
  const { store, turns } = openCrowd()
  const jobs = finish(turns, 5, { data: 'x'.repeat(30_000) })
  const { lane } = jobs[0] as Job
  const found = prunableOf(store, lane.queue.id, COMPLETED, FAR, 9)
  expect(seqsOf(found)).toEqual(numbers(jobs.slice(0, 2)))
  prune(turns, found, lane)
  expect(seqsOf(prunableOf(store, lane.queue.id, COMPLETED, FAR, 9))).toEqual(numbers(jobs.slice(2, 4)))
})

test('tags and keys go with a pruned job, and no others', () => {
  const { store, turns, db } = openCrowd()
  const job = turns.insert({ lane: turns.lane('x', 'shop'), extras: { tags: ['red', 'blue'] } })
  turns.start(job, turns.session())
  turns.complete(job)
  turns.commit()
  const before = rowsOf(db, 'tag').length
  prune(turns, prunableOf(store, job.lane.queue.id, COMPLETED, FAR, 9), job.lane)
  expect(rowsOf(db, 'tag')).toHaveLength(before - 2)
})
