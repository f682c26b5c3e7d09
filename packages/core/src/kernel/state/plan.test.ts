/** Tests how many questions a turn asks its store. */

import { expect, test } from 'vitest'
import { FAILED } from '../../lifecycle.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'

const IN_AN_HOUR = 3_600_000

test('plain jobs are enqueued, run and completed without a question to the store', () => {
  const world = new World()
  world.turn(attaching('s', ['mail']))
  const { grants } = world.turn(enqueueing({ name: 'mail' }, { name: 'mail', priority: 3 }))
  expect(world.store.rounds).toEqual([])
  world.turn(...grants.map(({ seq, run }) => ({ op: 'complete', seq, run, output: null }) as const))
  expect(world.store.rounds).toEqual([])
  expect(grants.map((grant) => world.stateOf(grant))).toEqual(['completed', 'completed'])
})

test('the keys of all commands of a turn are one question to the store for each kind of key, and the jobs that hold them are one more', () => {
  const world = new World()
  const first = enqueueing(
    { name: 'mail', unique: { key: 'u', onConflict: 'skip' }, delay: IN_AN_HOUR },
    { name: 'mail', idempotencyKey: 'i', delay: IN_AN_HOUR },
  )
  world.run(first)
  world.reload()
  const { replies } = world.turn(
    enqueueing({ name: 'mail', unique: { key: 'u', onConflict: 'skip' } }),
    enqueueing({ name: 'mail', idempotencyKey: 'i' }, { name: 'mail', idempotencyKey: 'j' }),
  )
  expect(world.store.rounds).toEqual([['unique', 'idempotent'], ['jobs']])
  expect(replies).toMatchObject([
    [{ seq: 1, created: false }],
    [
      { seq: 2, created: false },
      { seq: 3, created: true },
    ],
  ])
})

test('a filter takes three questions to the store: the jobs that match, the holders of their keys, and the jobs of these holders', () => {
  const world = new World()
  const held = { name: 'mail', unique: { key: 'u', onConflict: 'skip' } } as const
  world.turn(attaching('s', ['mail']))
  const { grants } = world.turn(enqueueing(held))
  world.turn(...grants.map(({ seq, run }) => ({ op: 'fail', seq, run, error: { name: 'Error', message: 'no' }, retry: false }) as const))
  world.run({ op: 'leave', session: 's' }, enqueueing({ ...held, delay: IN_AN_HOUR }))
  world.reload()
  world.turn({ op: 'retryMany', filter: { state: FAILED }, limit: 9, dryRun: false })
  expect(world.store.rounds).toEqual([['matching'], ['unique'], ['jobs']])
})
