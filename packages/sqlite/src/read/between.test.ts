// What is searched for as it is written, and what a reader sees where jobs go between its statements.
import { FAILED } from '@millrace/core'
import { DIRTY_DELETE, type Job } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import type { Database, Statement } from '../driver.ts'
import { connectReader } from '../open/connect.ts'
import { openCrowd } from '../testing/crowd.ts'
import { openTestStore } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'
import { listed, UNBOUNDED } from '../testing/lists.ts'
import { prepareList } from './list.ts'

function crowd() {
  const { store, turns } = openCrowd()
  const found = (text: string) => listed(store, { search: text }).map(({ seq }) => seq)
  return { turns, found }
}

test('a sigma is found as it is, where it ends a word and where it does not', () => {
  const { turns, found } = crowd()
  const tagged = turns.insert({ extras: { tags: ['ΟΔΟΣΑΘΗΝΑ'] } })
  turns.commit()
  expect(found('ΟΔΟΣ')).toEqual([tagged.seq])
})

test('a text with a NUL finds that text, and not all that has what stands before it', () => {
  const { turns, found } = crowd()
  turns.insert({ data: '{"a":1}' })
  const tagged = turns.insert({ data: '{"a":"}\\u0000x"}', extras: { tags: ['}\0x'] } })
  turns.commit()
  expect(found('}\0x')).toEqual([tagged.seq])
})

test('letters beyond ASCII are found as they are', () => {
  const { turns, found } = crowd()
  turns.insert({ lane: turns.lane('kelvin') })
  turns.insert({ extras: { tags: ['é'] } })
  turns.commit()
  expect([found('\u212a'), found('É')]).toEqual([[], []])
})

/** Something happens before the rows of what was found are read. */
function interrupted(db: Database, happens: () => void): Database {
  const before = (statement: Statement): Statement =>
    new Proxy(statement, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => {
          if (name === 'all' || name === 'iterate') happens()
          const answer = value.apply(target, values)
          return answer === target ? before(target) : answer
        }
      },
    })
  return new Proxy(db, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'prepare') return value.bind(target)
      return (sql: string) => (sql.includes('json_each(?) AS wanted') ? before(target.prepare(sql)) : target.prepare(sql))
    },
  })
}

function once(turns: Turns, job: () => Job): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    const gone = job()
    turns.effects.count(gone.lane, gone.state, -1)
    turns.effects.touch(gone, DIRTY_DELETE)
    turns.commit()
  }
}

test('a job that goes meanwhile makes no page short, for a short page is the last', () => {
  const store = openTestStore()
  const turns = new Turns(store)
  const jobs = Array.from({ length: 6 }, () => turns.insert())
  for (let each = 0; each < 1_000; each++) turns.insert()
  turns.commit()
  for (const job of jobs) {
    job.finishedAt = turns.at
    turns.move(job, FAILED)
  }
  turns.commit()
  const db = connectReader(store.file, 1_000)
  const deletes = once(turns, () => jobs[5] as Job)
  const { rows } = prepareList(interrupted(db, deletes))({ filter: { state: FAILED }, limit: 3 }, UNBOUNDED)
  db.close()
  expect(rows.length).toBe(3)
  expect(store.jobs([(jobs[5] as Job).seq])).toEqual([])
})

test('nor does it end a search', () => {
  const store = openTestStore()
  const turns = new Turns(store)
  const job = turns.insert({ data: '"needle"' })
  turns.commit()
  const db = connectReader(store.file, 1_000)
  const list = prepareList(
    interrupted(
      db,
      once(turns, () => job),
    ),
  )
  const found = list({ filter: {}, search: 'needle', limit: 10 }, UNBOUNDED)
  db.close()
  expect(found).toMatchObject({ rows: [{ seq: job.seq }], next: null })
  expect(store.jobs([job.seq])).toEqual([])
})
