// Few jobs that match, among many that do not: they are found without a look at the others.
import { FAILED, SCHEDULED } from '@millrace/core'
import type { ScanBound } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import type { Database, Statement } from '../driver.ts'
import { connectReader } from '../open/connect.ts'
import { openTestStore } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'
import { prepareList } from './list.ts'

/** Enough for a page and its end. */
const FEW_ROWS: ScanBound = { rows: 10, late: () => false }
const RETRYING = { state: SCHEDULED, retrying: true } as const

function manyScheduled() {
  const store = openTestStore({ file: ':memory:' })
  const turns = new Turns(store)
  for (let each = 0; each < 3_000; each++) turns.insert({ runAt: turns.at + 60_000 })
  const fail = () => {
    const job = turns.insert()
    turns.start(job, turns.session())
    job.runAt = turns.at + 90_000
    turns.move(job, SCHEDULED)
    return job.seq
  }
  return { store, turns, fail }
}

test.each([undefined, 'due'] as const)('jobs that wait for another attempt, among those that are due before them; order: %s', (order) => {
  const { store, turns, fail } = manyScheduled()
  const some = [fail(), fail()]
  turns.insert({ lane: turns.lane('other'), runAt: turns.at + 99_000 })
  turns.commit()
  const ask = (filter: object) => {
    const query = { filter: { ...RETRYING, ...filter }, limit: 5, ...(order !== undefined && { order }) }
    const { rows, next } = store.list(query, FEW_ROWS)
    return [rows.map(({ seq }) => seq).toSorted((a, b) => a - b), next]
  }
  expect(ask({})).toEqual([some, null])
  expect(ask({ name: 'work' })).toEqual([some, null])
  expect(ask({ name: 'other' })).toEqual([[], null])
})

test('where no job waits for another attempt, or all do, the counters say so', () => {
  const { store, turns } = manyScheduled()
  turns.commit()
  const none = { rows: 1, late: () => true }
  expect(store.list({ filter: RETRYING, limit: 5, order: 'due' }, none)).toEqual({ rows: [], next: null })
  const other = openTestStore({ file: ':memory:' })
  const failing = new Turns(other)
  const job = failing.insert()
  failing.start(job, failing.session())
  job.runAt += 9
  failing.move(job, SCHEDULED)
  failing.commit()
  expect(other.list({ filter: { state: SCHEDULED, retrying: false }, limit: 5, order: 'due' }, none)).toEqual({ rows: [], next: null })
})

/** Counts the calls of statements whose text has a part. */
function counted(db: Database, part: string): { readonly db: Database; readonly calls: () => number } {
  let calls = 0
  const watched = (statement: Statement): Statement =>
    new Proxy(statement, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => {
          if (name === 'all') calls++
          const answer = value.apply(target, values)
          return answer === target ? watched(target) : answer
        }
      },
    })
  const proxy = new Proxy(db, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'prepare') return value.bind(target)
      return (sql: string) => (sql.includes(part) ? watched(target.prepare(sql)) : target.prepare(sql))
    },
  })
  return { db: proxy, calls: () => calls }
}

test('failed jobs in the order of their ends: names without any are not asked, however many there are', () => {
  const store = openTestStore()
  const turns = new Turns(store)
  for (let each = 0; each < 2_000; each++) turns.insert({ lane: turns.lane(`name-${each}`) })
  const job = turns.insert({ lane: turns.lane('name-7') })
  job.finishedAt = turns.at
  turns.move(job, FAILED)
  turns.commit()
  const reader = connectReader(store.file, 1_000)
  const { db, calls } = counted(reader, 'finished_at DESC')
  const { rows } = prepareList(db)({ filter: { state: FAILED }, order: 'finished', limit: 5 }, FEW_ROWS)
  reader.close()
  expect(rows.map(({ seq }) => seq)).toEqual([job.seq])
  expect(calls()).toBeLessThan(5)
})
