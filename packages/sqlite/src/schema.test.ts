// The file's CHECKs against the lifecycle of @millrace/core: what the code may do the file takes, what it may not the file refuses.

import { ACTIVE, isFinal, LIFECYCLE, STATES, type StateCode } from '@millrace/core'
import { IS_TAKEN_BACK } from '@millrace/sql'
import { expect, test } from 'vitest'
import { SCHEMA } from './schema.ts'
import { openCrowd } from './testing/crowd.ts'

test('the schema names the states as the lifecycle does', () => {
  expect(SCHEMA).toContain(STATES.map((state, code) => `${code} ${state}`).join(', '))
  const columns = openCrowd().db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all('lane')
  expect(columns.slice(3, 10)).toEqual([...STATES])
})

test('the index of what is taken back has the modes that the kernel takes back', () => {
  expect(SCHEMA).toContain(`flow_due (parent) WHERE ${IS_TAKEN_BACK};`)
})

test('every state that a transition leads to can be stored, and only with what belongs to it', () => {
  const { db } = openCrowd()
  const reachable = new Set<StateCode>(Object.values(LIFECYCLE).flatMap(({ to }): readonly StateCode[] => to))
  expect([...reachable].toSorted()).toEqual(STATES.map((_, code) => code))
  const store = (state: number, finishedAt: number | null, session: number | null) =>
    db
      .prepare('UPDATE job SET state = ?, finished_at = ?, session = ?, started_at = ?, run = 1 WHERE seq = 1')
      .run(state, finishedAt, session, session)
  for (const state of reachable) {
    expect(() => store(state, isFinal(state) ? 5 : null, 1)).not.toThrow()
    expect(() => store(state, isFinal(state) ? null : 5, 1)).toThrow('CHECK')
    if (state === ACTIVE) expect(() => store(state, null, null)).toThrow('CHECK')
  }
  expect(() => store(7, 5, 1)).toThrow('CHECK')
  expect(() => store(-1, null, 1)).toThrow('CHECK')
})

test('a value of the wrong kind is refused', () => {
  const { db } = openCrowd()
  expect(() => db.exec("UPDATE job SET run_at = 'soon' WHERE seq = 1")).toThrow('cannot store TEXT value')
  expect(() => db.exec('UPDATE job SET run_at = 1.5 WHERE seq = 1')).toThrow('cannot store REAL value')
  expect(() => db.exec('UPDATE job SET uncounted = 9 WHERE seq = 1')).toThrow('CHECK')
})

test('text stays text and bytes stay bytes', () => {
  const { store, turns } = openCrowd()
  const payloads = ['1', '1.0', 'null', '""', '"\\u0000\\ud800"', '"é😀"', new Uint8Array([0, 49, 255]), new Uint8Array(0), null]
  const jobs = payloads.map((data) => turns.insert({ data }))
  turns.commit()
  const found = store.jobs(jobs.map(({ seq }) => seq)).map(({ data }) => (data instanceof Uint8Array ? new Uint8Array(data) : data))
  expect(found).toEqual(payloads)
})
