// Producers' journals: their offsets, and the jobs that have ids of theirs.
import { COMPLETED, isJobEvent, sourcedNode } from '@millrace/core'
import { expect, test } from 'vitest'
import { openCrowd } from '../testing/crowd.ts'
import { changedRows, lookInto, snapshot } from '../testing/files.ts'

const NUMBER = 4711

test('an offset is there after its turn, moves forward alone, and touches no other', () => {
  const { store, turns } = openCrowd()
  const db = lookInto(store.file)
  expect(store.offsets(['bystander', 'new'])).toEqual([{ source: 'bystander', offset: 5 }])
  const before = snapshot(db)
  turns.effects.sourceOffsets.push({ source: 'new', offset: 2 }, { source: 'new', offset: 7 })
  turns.commit()
  expect(store.offsets(['new'])).toEqual([{ source: 'new', offset: 7 }])
  const { gone, come } = changedRows(before, snapshot(db))
  expect(gone.filter((row) => row.startsWith('source'))).toEqual([])
  expect(come.filter((row) => row.startsWith('source'))).toHaveLength(1)
  turns.effects.sourceOffsets.push({ source: 'new', offset: 3 })
  turns.commit()
  expect(store.offsets(['new', 'bystander', 'unknown'])).toEqual([
    { source: 'new', offset: 7 },
    { source: 'bystander', offset: 5 },
  ])
})

test('jobs are found by what their ids say, in every state, until their rows go', () => {
  const { store, turns } = openCrowd()
  const lane = turns.lane('work')
  const origin = (place: number) => ({ node: sourcedNode(place, NUMBER), enqueuedAt: turns.at - 90_000 })
  const [first, second] = [turns.insert({ lane, origin: origin(1) }), turns.insert({ lane, origin: origin(2 ** 27 - 1) })]
  turns.commit()
  const found = () => store.sourced([first.node, second.node, sourcedNode(3, NUMBER)]).map(({ seq, enqueuedAt }) => [seq, enqueuedAt])
  const both = [first, second].map(({ seq, enqueuedAt }) => [seq, enqueuedAt])
  expect(found()).toEqual(both)
  turns.start(first, turns.session())
  turns.complete(first)
  turns.commit()
  expect(found()).toEqual(both)
  expect(store.jobs([first.seq])[0]).toMatchObject({ state: COMPLETED, node: first.node })
  expect(store.events(0, 1_000).filter((event) => isJobEvent(event) && event.jobSeq === second.seq)).toMatchObject([
    { type: 'enqueued', node: second.node, enqueuedAt: second.enqueuedAt },
  ])
  turns.effects.count(lane, COMPLETED, -1)
  turns.effects.pruned.push({ seq: first.seq, lane, extras: undefined })
  turns.commit()
  expect(found()).toEqual(both.slice(1))
})

test('the jobs of the file itself are in no index for it', () => {
  const { store } = openCrowd()
  expect(store.sourced([store.node])).toEqual([])
})
