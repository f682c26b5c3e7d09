/** Tests the inbox of a store: an entry leaves it in the turn that creates its job or refuses it. */

import { describe, expect, test } from 'vitest'
import type { CheckedForward, InboxEntry, NewJob } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import { sourcedNode } from '../../id.ts'
import { World } from '../../testing/world.ts'

const NUMBER = 4711
const AT = Date.UTC(2029, 11, 31)

/** @param jobs by the number of their entries; a string is the reason why there is none */
function taking(jobs: Readonly<Record<number, Partial<NewJob> | string>>): CheckedForward {
  const each = Object.entries(jobs).map(([id, job]) => ({ id: Number(id), job }))
  return {
    op: 'forward',
    source: 'inbox',
    number: 1,
    first: 1,
    entries: each.map(({ job }) => ({ at: AT, jobs: typeof job === 'string' ? [] : [{ name: 'a', data: null, ...job }] })),
    inbox: each.map(
      ({ id, job }): InboxEntry => ({
        id,
        node: sourcedNode(id, NUMBER),
        ...(typeof job === 'string' && { unfit: { code: 'OPTION_TYPE', message: job } }),
      }),
    ),
  }
}

const rowsOf = ({ store }: World) => [...store.rows.values()].map(({ node, enqueuedAt, data }) => [node, enqueuedAt, data])

describe('the inbox of a store', () => {
  test('jobs from the inbox have the ids of their entries, and the entries are removed', () => {
    const world = new World()
    const bystander = world.row(world.enqueue('by', { data: '"by"' }))
    const { inbox } = world.turn(taking({ 7: { data: '1' }, 5: { data: '2' } }))
    expect(rowsOf(world).slice(1)).toEqual([
      [sourcedNode(5, NUMBER), AT, '2'],
      [sourcedNode(7, NUMBER), AT, '1'],
    ])
    expect(inbox).toEqual({ taken: [5, 7], refused: [] })
    expect(world.row(bystander)).toEqual(bystander)
  })

  test('an entry that is not a job, or that a unique key refuses, is removed with the reason', () => {
    const world = new World()
    world.enqueue('a', { unique: { key: 'k', onConflict: 'skip' } })
    const { inbox } = world.turn(taking({ 1: 'wrong', 2: { unique: { key: 'k', onConflict: 'error' } }, 3: { data: '3' } }))
    expect(inbox?.taken).toEqual([1, 2, 3])
    expect(inbox?.refused).toEqual([
      { id: 1, code: 'OPTION_TYPE', message: 'wrong' },
      { id: 2, code: 'UNIQUE_CONFLICT', message: expect.any(String) },
    ])
    expect(rowsOf(world).map(([, , data]) => data)).toEqual([null, '3'])
  })

  test('an entry that an idempotency key matches to an earlier job creates none, and is removed', () => {
    const world = new World()
    const { seq, node, enqueuedAt } = world.enqueue('a', { idempotencyKey: 'k' })
    const { inbox, replies } = world.turn(taking({ 1: { idempotencyKey: 'k' } }))
    expect(inbox).toEqual({ taken: [1], refused: [] })
    expect(replies).toEqual([{ mark: 1, merged: [{ place: 1, job: { seq, node, enqueuedAt } }] }])
    expect(rowsOf(world)).toHaveLength(1)
  })

  test('an entry whose queue is full stays, and later entries do not wait for it', () => {
    const world = new World()
    world.turn({ op: 'configure', queue: 'small', changes: { maxLength: 1 } })
    const { inbox } = world.turn(taking({ 1: { queue: 'small' }, 2: { queue: 'small' }, 3: { data: '3' } }))
    expect(inbox).toEqual({ taken: [1, 3], refused: [] })
    expect(rowsOf(world).map(([node]) => node)).toEqual([sourcedNode(1, NUMBER), sourcedNode(3, NUMBER)])
  })

  test('a turn that finds room for no entry writes nothing', () => {
    const world = new World()
    world.turn({ op: 'configure', queue: 'small', changes: { maxLength: 1 } })
    world.turn(taking({ 1: { queue: 'small' } }))
    const { inbox, events } = world.turn(taking({ 2: { queue: 'small' } }))
    expect([inbox, events]).toEqual([undefined, []])
  })

  test('all entries stay in the inbox while new jobs are refused', () => {
    const world = new World()
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    const { inbox, replies } = world.turn(taking({ 1: {}, 2: 'wrong' }))
    expect(replies[0]).toBeInstanceOf(Refused)
    expect(inbox).toBeUndefined()
  })
})
