// Exports: how far each has come, and what retention may take meanwhile.
import { COMPLETED } from '@millrace/core'
import { expect, test } from 'vitest'
import { openCrowd } from '../testing/crowd.ts'
import { changedRows, lookInto, snapshot } from '../testing/files.ts'
import { prunableOf } from '../testing/prunable.ts'

test('a cursor is there after its turn, moves, goes, and touches no other', () => {
  const { store, turns } = openCrowd()
  const db = lookInto(store.file)
  expect(store.load().exports).toEqual([{ name: 'bystander', cursor: 3 }])
  const before = snapshot(db)
  turns.effects.exports.push({ name: 'archive', cursor: 0 }, { name: 'archive', cursor: 7 })
  turns.commit()
  expect(store.load().exports).toEqual([
    { name: 'archive', cursor: 7 },
    { name: 'bystander', cursor: 3 },
  ])
  const { gone, come } = changedRows(before, snapshot(db))
  expect([gone, come].map((rows) => rows.filter((row) => row.startsWith('export')).length)).toEqual([0, 1])
  // Deleted, and made anew by the same turn.
  turns.effects.exportsGone.push('archive')
  turns.effects.exports.push({ name: 'archive', cursor: 2 })
  turns.commit()
  expect(store.load().exports).toContainEqual({ name: 'archive', cursor: 2 })
  turns.effects.exportsGone.push('archive')
  turns.commit()
  expect(store.load().exports).toEqual([{ name: 'bystander', cursor: 3 }])
})

test('what ended after an event is not offered to retention, and what ended before is', () => {
  const { store, turns } = openCrowd()
  const lane = turns.lane('exported')
  const finish = () => {
    const job = turns.insert({ lane })
    turns.start(job, turns.session())
    turns.complete(job)
    turns.commit()
    return { seq: job.seq, lastEvent: store.load().nextEvent - 1 }
  }
  const [first, second] = [finish(), finish()]
  const offered = (lastEvent?: number) =>
    prunableOf(store, lane.queue.id, COMPLETED, Number.MAX_SAFE_INTEGER, 99, lastEvent)?.rows.flatMap(({ seq, laneId }) =>
      laneId === lane.id ? seq : [],
    )
  expect(offered(first.lastEvent - 1) ?? []).toEqual([])
  expect(offered(first.lastEvent)).toEqual([first.seq])
  expect(offered(second.lastEvent - 1)).toEqual([first.seq])
  expect(offered(second.lastEvent)).toEqual([first.seq, second.seq])
  expect(offered()).toEqual([first.seq, second.seq])
})
