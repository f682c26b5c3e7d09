// Failures by their kind.
import { FAILED, fingerprintOf, LIMITS } from '@millrace/core'
import { DIRTY_DELETE, HOUR_MS, hourOf, type Job } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { type Crowd, openCrowd } from '../testing/crowd.ts'
import { rowsOf } from '../testing/files.ts'
import { listed } from '../testing/lists.ts'

function fail({ turns }: Crowd, fingerprint: number, message = 'no', job: Job = turns.insert({ lane: turns.lane('work') })): Job {
  job.finishedAt = turns.at
  turns.move(job, FAILED)
  const error = { name: 'TypeError', message }
  turns.effects.runs.push({ seq: job.seq, run: 1, attempt: 1, startedAt: 1, endedAt: turns.at, worker: 'w', error })
  turns.effects.failures.push({ job, run: 1, error: error.name, fingerprint })
  return job
}

test('one kind is counted, with the last job that failed so; other kinds and lanes are left alone', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  const at = turns.at
  fail(crowd, 42, 'first')
  fail(crowd, 42, 'second')
  turns.commit()
  const before = rowsOf(crowd.db, 'failure').filter(({ fingerprint }) => fingerprint !== 42)
  const last = fail(crowd, 42, 'third')
  turns.commit()
  const { seq, node, enqueuedAt, lane } = last
  expect(store.failures([lane.id], 9, 'last')[0]).toEqual({
    laneId: lane.id,
    fingerprint: 42,
    error: 'TypeError',
    count: 3,
    firstAt: at,
    lastAt: at + 1,
    hours: [{ at: hourOf(at), before: 0 }],
    job: { seq, node, enqueuedAt },
    message: 'third',
  })
  expect(rowsOf(crowd.db, 'failure').filter(({ fingerprint }) => fingerprint !== 42)).toEqual(before)
  expect(store.failures([999], 9, 'last')).toEqual([])
  expect(store.failures(undefined, 1, 'last')).toHaveLength(1)
})

test('once its job is deleted, nothing is left of what it said', () => {
  const crowd = openCrowd()
  const { turns, store, db } = crowd
  const job = fail(crowd, 42, 'ann@example.org is unknown')
  turns.commit()
  turns.effects.touch(job, DIRTY_DELETE)
  turns.effects.count(job.lane, FAILED, -1)
  turns.commit()
  expect(store.failures(undefined, 9, 'last')[0]).toMatchObject({ fingerprint: 42, count: 1, job: undefined, message: undefined })
  expect(JSON.stringify(rowsOf(db, 'failure'))).not.toContain('ann')
})

test('kinds are bounded: those that were not seen for longest go', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  for (let kind = 0; kind < 3; kind++) {
    fail(crowd, kind)
    turns.commit()
  }
  fail(crowd, 0)
  for (let kind = 1_000; kind < 1_000 + LIMITS.failureGroups - 1; kind++) fail(crowd, kind)
  turns.commit()
  const kept = store.failures(undefined, 9_999, 'last').map(({ fingerprint }) => fingerprint)
  expect(kept).toHaveLength(LIMITS.failureGroups)
  expect(kept).toContain(0)
  expect(kept).not.toContain(1)
  expect(kept).not.toContain(2)
})

test('a kind that was not seen for 30 days goes', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  fail(crowd, 42)
  turns.commit()
  turns.effects.forgetFailuresBefore = turns.at - 1
  turns.commit()
  expect(store.failures(undefined, 9, 'last').map(({ fingerprint }) => fingerprint)).toEqual([42])
  turns.effects.forgetFailuresBefore = turns.at - 1
  turns.commit()
  expect(store.failures(undefined, 9, 'last')).toEqual([])
})

test('a kind that is forgotten and seen again still finds its earlier jobs, in lists and in bulk calls', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  const kind = fingerprintOf({ name: 'TypeError', message: 'no' })
  const earlier = fail(crowd, kind)
  turns.commit()
  turns.effects.forgetFailuresBefore = turns.at
  turns.commit()
  fail(crowd, fingerprintOf({ name: 'TypeError', message: 'another' }), 'another')
  const later = fail(crowd, kind)
  turns.commit()
  const both = [later.seq, earlier.seq]
  const filter = { state: FAILED, fingerprint: kind } as const
  expect(listed(store, { filter }).map(({ seq }) => seq)).toEqual(both)
  expect(listed(store, { filter, order: 'finished' }).map(({ seq }) => seq)).toEqual(both)
  const { rows } = store.matching({ laneIds: [earlier.lane.id], filter, text: undefined, indexed: true }, Number.MAX_SAFE_INTEGER, 10)
  expect(rows.map(({ seq }) => seq)).toEqual(both)
})

test('the first failure of an hour notes the count before it; the others of that hour change nothing but the count', () => {
  const crowd = openCrowd()
  const { turns, store, db } = crowd
  const hour = hourOf(turns.at) + HOUR_MS
  const at = (ms: number) => {
    turns.at = ms
    fail(crowd, 42)
    turns.commit()
  }
  const textOf = () => rowsOf(db, 'failure').find(({ fingerprint }) => fingerprint === 42)?.['hours']
  at(hour)
  const noted = textOf()
  at(hour + 5)
  at(hour + HOUR_MS - 1)
  expect(textOf()).toBe(noted)
  at(hour + HOUR_MS)
  // The wall clock goes back: nothing is noted twice.
  at(hour + 7)
  at(hour + HOUR_MS)
  expect(store.failures(undefined, 1, 'count')[0]?.hours).toEqual([
    { at: hour, before: 0 },
    { at: hour + HOUR_MS, before: 3 },
  ])
})

test('hours that cannot be read are left out, and the kind is still there', () => {
  const crowd = openCrowd()
  fail(crowd, 42)
  crowd.turns.commit()
  crowd.db.exec("UPDATE failure SET hours = 'no hours' WHERE fingerprint = 42")
  expect(crowd.store.failures(undefined, 1, 'last')).toMatchObject([{ fingerprint: 42, count: 1, hours: [] }])
})
