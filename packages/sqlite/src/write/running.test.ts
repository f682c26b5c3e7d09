// Which jobs run, as opening the file finds them: from what was noted, and the journal since.
import { ACTIVE, LIMITS, WAITING } from '@millrace/core'
import { afterEach, expect, test } from 'vitest'
import { openCrowd } from '../testing/crowd.ts'
import { rowsOf } from '../testing/files.ts'

const { eventsPerSnapshot } = LIMITS
const set = (events: number) => Object.assign(LIMITS, { eventsPerSnapshot: events })
afterEach(() => void set(eventsPerSnapshot))

test.each([1, 2, 7, 1_000])('with a note every %i events', (events) => {
  set(events)
  const { turns, store, db } = openCrowd()
  const session = turns.session()
  const known = new Set(store.load().active.map(({ seq }) => seq))
  for (let round = 0; round < 30; round++) {
    const jobs = [turns.insert(), turns.insert(), turns.insert()] as const
    for (const job of jobs) turns.start(job, session)
    if (round % 3 === 0) turns.commit()
    turns.complete(jobs[0])
    if (round % 2 === 0) turns.move(jobs[1], WAITING)
    turns.commit()
    for (const { seq, state } of jobs) if (state === ACTIVE) known.add(seq)
    expect(new Set(store.load().active.map(({ seq }) => seq))).toEqual(known)
  }
  const [{ event }] = rowsOf(db, 'running') as [{ event: number }]
  expect(turns.nextEvent - 1 - event).toBeLessThan(events + 7)
})

test('the journal forgets nothing that is not noted', () => {
  const { turns, store, db } = openCrowd()
  const job = turns.insert()
  turns.start(job, turns.session())
  turns.commit()
  const running = store.load().active.map(({ seq }) => seq)
  expect(running).toContain(job.seq)
  turns.effects.forgetEventsBefore = turns.nextEvent - 1
  turns.commit()
  expect(rowsOf(db, 'journal')).toEqual([])
  expect(store.load().active.map(({ seq }) => seq)).toEqual(running)
})
