/** Tests a limit that several queues share: it is exact over all of them, and the queues take turns. */

import { expect, test } from 'vitest'
import type { NewJob, RunKey } from '../../commands.ts'
import { ACTIVE } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { attaching, enqueueing, type Granted, World } from '../../testing/world.ts'

const configure = (queue: string, changes: QueueChanges): Command => ({ op: 'configure', queue, changes })
const sharing = (queue: string, limit: number, name = 'smtp') => configure(queue, { sharedLimit: { name, limit } })
const complete = ({ seq, run }: RunKey): Command => ({ op: 'complete', seq, run, output: null })
const jobs = (queue: string, count: number, job: Partial<NewJob> = {}) =>
  Array.from({ length: count }, () => ({ name: 'a', queue, ...job }))
const queuesOf = (grants: readonly Granted[]) => grants.map(({ queue }) => queue)
const running = (world: World) => [...world.store.rows.values()].filter(({ state }) => state === ACTIVE)

/** A worker of everything, with jobs of three queues, of which two share a limit. */
function worldOf(limit: number, count = 4): World {
  const world = new World()
  world.run(sharing('mail', limit), sharing('news', limit), enqueueing(...jobs('mail', count), ...jobs('news', count), ...jobs('other', 2)))
  return world
}

test('never more jobs run in all queues of a shared limit than it allows, and other queues continue', () => {
  const world = worldOf(3)
  expect(queuesOf(world.run(attaching('s', ['a'])).grants).sort()).toEqual(['mail', 'mail', 'news', 'other', 'other'])
})

test('a place under a shared limit is taken as soon as a job ends, and the queues take turns', () => {
  const world = worldOf(1)
  let { grants } = world.run(attaching('s', ['a']))
  const order: string[] = []
  while (grants.some(({ queue }) => queue !== 'other')) {
    const grant = grants.find(({ queue }) => queue !== 'other') as Granted
    order.push(grant.queue)
    grants = world.run(complete(grant)).grants.slice()
  }
  expect(order).toEqual(['mail', 'news', 'mail', 'news', 'mail', 'news', 'mail', 'news'])
})

test('workers that serve one queue each take turns under a shared limit', () => {
  const world = worldOf(1)
  world.run(attaching('m', ['a'], { queues: ['mail'] }))
  world.run(attaching('n', ['a'], { queues: ['news'] }))
  const order: string[] = []
  for (let [row] = running(world); row !== undefined; [row] = running(world)) {
    order.push(world.tables.laneOf(row.laneId).queue.name)
    world.run(complete(row))
  }
  expect(order).toEqual(['mail', 'news', 'mail', 'news', 'mail', 'news', 'mail', 'news'])
})

test('a queue that states a smaller shared limit leaves places to the others', () => {
  const world = new World()
  world.run(sharing('bulk', 1), sharing('urgent', 3), enqueueing(...jobs('bulk', 3)))
  expect(queuesOf(world.run(attaching('s', ['a'])).grants)).toEqual(['bulk'])
  expect(queuesOf(world.run(enqueueing(...jobs('urgent', 3))).grants)).toEqual(['urgent', 'urgent'])
  const [bulk] = running(world)
  expect(queuesOf(world.run(complete(bulk as RunKey)).grants)).toEqual(['urgent'])
})

test('waiting jobs start when their shared limit is raised or removed, or when a queue leaves it', () => {
  for (const [change, expected] of [
    [sharing('mail', 2), ['mail']],
    [sharing('news', 2), ['news']],
    [sharing('mail', 1, 'another'), ['news']],
    [configure('mail', { sharedLimit: null }), ['mail', 'mail', 'mail', 'news']],
  ] as const) {
    const world = worldOf(1)
    expect(queuesOf(world.run(attaching('s', ['a'])).grants)).toEqual(['mail', 'other', 'other'])
    expect(queuesOf(world.run(change).grants).sort()).toEqual(expected)
  }
})

test('a lower shared limit ends no run, and a queue that joins it counts with its running jobs', () => {
  const world = new World()
  world.run(enqueueing(...jobs('mail', 3)), attaching('s', ['a']))
  world.run(sharing('mail', 2), sharing('news', 2), enqueueing(...jobs('news', 1)))
  expect(running(world)).toHaveLength(3)
  expect(queuesOf(world.run(complete({ seq: 1, run: 1 })).grants)).toEqual([])
  expect(queuesOf(world.run(complete({ seq: 2, run: 1 })).grants)).toEqual(['news'])
})

test('running jobs count in their shared limit over a restart', () => {
  const world = worldOf(2)
  world.run(attaching('s', ['a'], { queues: ['mail', 'news'] }))
  world.reload('s')
  expect(queuesOf(world.run(attaching('t', ['a'], { queues: ['mail', 'news'] })).grants)).toEqual([])
  const held = running(world).map(({ seq, run }) => ({ seq, run }))
  world.run(attaching('s', ['a'], { queues: ['mail', 'news'] }, held))
  expect(world.run(complete(held[0] as RunKey)).grants).toHaveLength(1)
})

test('a deleted queue leaves its shared limit, and a new queue of its name has none', () => {
  const world = new World()
  world.run(sharing('mail', 1), sharing('news', 1))
  world.run({ op: 'deleteQueue', queue: 'mail' })
  world.run(enqueueing(...jobs('mail', 3), ...jobs('news', 2)))
  expect(queuesOf(world.run(attaching('s', ['a'])).grants).sort()).toEqual(['mail', 'mail', 'mail', 'news'])
  expect(world.tables.queues.get('mail')?.settings).toEqual({})
})

test('a paused queue starts no job when a place under its shared limit becomes free', () => {
  const world = worldOf(1)
  world.pause('news')
  const { grants } = world.run(attaching('s', ['a']))
  expect(queuesOf(grants)).toEqual(['mail', 'other', 'other'])
  expect(queuesOf(world.run(complete(grants[0] as Granted)).grants)).toEqual(['mail'])
})
