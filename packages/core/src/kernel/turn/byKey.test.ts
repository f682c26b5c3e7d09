/** Tests commands that name their job by a key, and keys that are released. */

import { describe, expect, test } from 'vitest'
import type { JobKey } from '../../id.ts'
import type { HeldKey, KeyedCall } from '../../keyCommands.ts'
import type { Command } from '../../operations.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'

const U: HeldKey = { kind: 'unique', name: 'a', key: 'k' }
const I: HeldKey = { kind: 'idempotency', name: 'a', key: 'i' }
const unique = { unique: { key: 'k', onConflict: 'skip' } } as const
const by = (of: HeldKey, call: KeyedCall, changes?: object): Command => ({ op: 'byKey', of, call, ...(changes && { changes }) }) as Command

/** A job with both keys, delayed, beside others that have the same keys under other names or as the other kind. */
function keyed(): { world: World; id: JobKey; others: () => string } {
  const world = new World()
  const id = world.enqueue('a', { ...unique, idempotencyKey: 'i', delay: 5_000, tags: ['t'] })
  const others = [
    world.enqueue('b', { ...unique, idempotencyKey: 'i', delay: 5_000 }),
    world.enqueue('a', { unique: { key: 'i', onConflict: 'skip' }, idempotencyKey: 'k', delay: 5_000 }),
  ]
  return { world, id, others: () => JSON.stringify(others.map((each) => world.row(each))) }
}

describe.each([U, I])('a command that names its job by the $kind key', (of) => {
  test('a command by a key does the same as by the id, and changes no job with that key under another name or kind', () => {
    for (const [call, state] of [
      ['cancel', 'cancelled'],
      ['runNow', 'waiting'],
      ['update', 'scheduled'],
    ] as const) {
      const { world, id, others } = keyed()
      const before = others()
      const { replies } = world.turn(by(of, call, call === 'update' ? { priority: 3, data: '"new"' } : undefined))
      expect(replies).toEqual([call === 'cancel' ? 'cancelled' : true])
      expect(world.stateOf(id)).toBe(state)
      if (call === 'update') expect(world.row(id)).toMatchObject({ priority: 3, data: '"new"' })
      expect(others()).toBe(before)
    }
  })

  test('a job that this turn has deleted is not found by its key, and neither is a key that no job has', () => {
    const { world, id } = keyed()
    const { replies } = world.turn(by(of, 'delete'), by(of, 'cancel'), by({ ...of, name: 'c' }, 'cancel'))
    expect([replies[0], codeOf(replies[1]), codeOf(replies[2])]).toEqual([true, 'JOB_NOT_FOUND', 'JOB_NOT_FOUND'])
    expect(world.stateOf(id)).toBe('gone')
  })

  test('a key that is released is free for the next call of the same turn, and its job continues without it', () => {
    const { world, id, others } = keyed()
    const before = others()
    const again = enqueueing({ name: 'a', ...(of.kind === 'unique' ? unique : { idempotencyKey: 'i' }), delay: 5_000 })
    const { replies } = world.turn(again, by(of, 'release'), by(of, 'release'), again, by(of, 'runNow'))
    expect(replies.slice(0, 4)).toMatchObject([[{ seq: id.seq, created: false }], true, false, [{ created: true }]])
    expect(world.stateOf(id)).toBe('scheduled')
    const [{ seq }] = replies[3] as unknown as [JobKey]
    expect([world.stateOf({ seq }), others()]).toEqual(['waiting', before])
    const { [of.kind === 'unique' ? 'uniqueKey' : 'idempotencyKey']: lost, ...kept } = world.row(id).extras ?? {}
    expect([lost, kept.tags]).toEqual([undefined, ['t']])
    // The end of the first job does not free the key of the second.
    world.cancel(id)
    expect(world.turn(again).replies).toMatchObject([[{ seq, created: false }]])
  })
})

test('a job that has ended is found by its idempotency key, and not by its unique key', () => {
  const { world, id } = keyed()
  world.cancel(id)
  const { replies } = world.turn(by(U, 'retry'), by(I, 'retry'))
  expect([codeOf(replies[0]), replies[1]]).toEqual(['JOB_NOT_FOUND', true])
  expect(world.stateOf(id)).toBe('waiting')
})

test('an idempotency key of a deleted job can be released', () => {
  const { world, id } = keyed()
  world.delete(id)
  const again = enqueueing({ name: 'a', idempotencyKey: 'i' })
  expect(world.turn(again).replies).toMatchObject([[{ seq: id.seq, created: false }]])
  expect(world.turn(by(I, 'release')).replies).toEqual([true])
  expect(world.turn(again).replies).toMatchObject([[{ created: true }]])
})

test('a job whose unique key was released is retried without it, and deleteMany still forgets the idempotency keys of calls that the key had answered', () => {
  const { world, id } = keyed()
  const repeat = enqueueing({ name: 'a', ...unique, idempotencyKey: 'other' })
  world.turn(repeat)
  world.run(by(U, 'release'))
  const second = world.enqueue('a', unique)
  world.run({ op: 'cancel', id }, { op: 'retry', id })
  expect([world.stateOf(id), world.stateOf(second)]).toEqual(['waiting', 'waiting'])
  const { seq, node, enqueuedAt } = world.row(id)
  world.run({ op: 'deleteMany', filter: {}, ids: [{ seq, node, enqueuedAt }], limit: 1, dryRun: false })
  expect(world.turn(enqueueing({ name: 'a', idempotencyKey: 'other' })).replies).toMatchObject([[{ created: true }]])
})
