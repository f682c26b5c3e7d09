// Schedules: what a turn says of them is in the file, and no other row is touched.
import { COMPLETED } from '@millrace/core'
import type { Schedule } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { openCrowd } from '../testing/crowd.ts'
import { changedRows, lookInto, snapshot } from '../testing/files.ts'
import { PLAIN, scheduleOf } from '../testing/schedules.ts'

const FULL: Partial<Schedule> = {
  spec: { every: 90_000, startAt: 5, endAt: 2 ** 50, jitter: 7, overlap: 'queue', catchUp: 'all' },
  job: { name: 'n', data: new Uint8Array([0, 255]), queue: 'q', timeout: Number.POSITIVE_INFINITY, tags: ['é'], meta: '{"a":1}' },
  anchor: 5,
  nextAt: 95_000,
  fireAt: 95_003,
  lastAt: 90_005,
  held: true,
  paused: true,
  behind: 3,
  fired: 9,
  skipped: 2,
  last: { seq: 4, node: 2 ** 40, enqueuedAt: 90_010 },
  createdAt: 4,
  updatedAt: 6,
}

test('a schedule is put, moved and deleted; bystanders stay as they are', () => {
  const { store, turns } = openCrowd()
  const db = lookInto(store.file)
  const before = snapshot(db)
  const full = scheduleOf('full', FULL)
  turns.effects.schedule(full, 'put')
  turns.effects.schedule(full, 'move')
  turns.effects.schedule(scheduleOf('empty'), 'put')
  turns.commit()
  const plain = ({ job, ...rest }: Schedule) => ({
    ...rest,
    job: { ...job, data: job.data instanceof Uint8Array ? [...job.data] : job.data },
  })
  const read = store.schedules(['full', 'empty', 'none'])
  expect(read.map(plain)).toEqual([scheduleOf('full', FULL), scheduleOf('empty')].map(plain))
  const { gone, come } = changedRows(before, snapshot(db))
  expect([gone, come.map((row) => row.split(' ')[0])]).toEqual([[], ['schedule', 'schedule']])

  const moved = { ...full, nextAt: 99_000, fireAt: 99_001, fired: 10, held: false, paused: false, last: undefined, lastAt: 0, behind: 0 }
  const middle = snapshot(db)
  // What does not move with a tick is not written.
  turns.effects.schedule({ ...moved, job: { name: 'other', data: null } }, 'move')
  turns.commit()
  expect(store.schedules(['full']).map(plain)).toEqual([plain(moved)])
  expect(changedRows(middle, snapshot(db)).come).toHaveLength(1)

  turns.effects.schedule(moved, 'delete')
  const anew = scheduleOf('full')
  turns.effects.schedule(anew, 'put')
  turns.effects.schedule(scheduleOf('empty'), 'delete')
  turns.commit()
  expect(store.schedules(['full', 'empty'])).toEqual([anew])
})

test('a schedule that moves and is not there stops the turn', () => {
  const { turns } = openCrowd()
  turns.effects.schedule(scheduleOf('none'), 'move')
  expect(() => turns.commit()).toThrow('move a schedule')
})

test('one slice holds so many bytes of payloads at most, and one schedule at least', () => {
  const { store, turns } = openCrowd()
  for (let index = 0; index < 20; index++) {
    const job = { name: 'n', data: new Uint8Array(2 ** 20) }
    turns.effects.schedule(scheduleOf(`s${index}`, { nextAt: 1, fireAt: 1, job }), 'put')
  }
  turns.commit()
  expect(store.dueSchedules(5, 100)).toHaveLength(16)
})

test('those that wait for a job that has ended, or is no more, are told when the tables are built', () => {
  const { store, turns } = openCrowd()
  const [live, over] = [turns.insert(), turns.insert()]
  const session = turns.session()
  turns.start(over, session)
  turns.complete(over)
  expect(over.state).toBe(COMPLETED)
  const keyOf = ({ seq, node, enqueuedAt }: typeof live) => ({ seq, node, enqueuedAt })
  const waits = (id: string, last: Schedule['last']) =>
    turns.effects.schedule(scheduleOf(id, { held: true, nextAt: 1, fireAt: 1, last }), 'put')
  waits('live', keyOf(live))
  waits('over', keyOf(over))
  waits('gone', { seq: 99_999, node: 1, enqueuedAt: 1 })
  turns.effects.schedule(scheduleOf('free', { nextAt: 1, fireAt: 1, last: keyOf(over) }), 'put')
  turns.commit()
  expect([...store.load().freed].sort()).toEqual(['gone', 'over'])
})

test('a row that somebody has broken is read, as one of which no calendar makes sense', () => {
  const { store, turns } = openCrowd()
  turns.effects.schedule(scheduleOf('broken'), 'put')
  turns.commit()
  lookInto(store.file).prepare("UPDATE schedule SET spec = '{', options = '{' WHERE id = 'broken'").run()
  expect(store.schedules(['broken'])).toMatchObject([{ spec: { cron: '', ...PLAIN }, job: { name: 'report', data: '{"n":1}' } }])
})
