/** Tests what the tables hold in memory, and how lanes are numbered and grouped. */

import { describe, expect, test } from 'vitest'
import type { RunKey } from '../../commands.ts'
import { WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { MemoryStore } from '../../testing/memoryStore.ts'
import { enqueueing, type Turned, World } from '../../testing/world.ts'

describe('the memory of the tables does not grow with the backlog', () => {
  test('a lane that no worker serves has no window in memory', () => {
    const world = new World()
    world.run(enqueueing(...Array.from({ length: 50 }, () => ({ name: 'a', data: 'x' }))))
    expect([world.tables.jobs.size, world.tables.windowedJobs]).toEqual([0, 0])
    world.attach('s', ['b'])
    expect(world.tables.jobs.size).toBe(0)
    expect(world.tables.lane('default', 'a')?.counts[WAITING]).toBe(50)
  })

  test('a window is emptied when the last worker that serves its lane leaves', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    world.run(enqueueing(...Array.from({ length: 50 }, () => ({ name: 'a', data: 'x' }))))
    expect(world.tables.windowedJobs).toBe(49)
    world.leave('s')
    expect([world.tables.jobs.size, world.tables.windowedJobs]).toEqual([0, 0])
    expect([world.tables.groups.size, world.tables.needRefill.size]).toEqual([0, 0])
  })

  test('all windows together are bounded, however many lanes are served', () => {
    const world = new World({ audited: false })
    const names = Array.from({ length: 80 }, (_, index) => `name${index}`)
    world.attach('s', names, { minConcurrency: 1, maxConcurrency: 1 })
    for (const name of names) world.turn(enqueueing(...Array.from({ length: LIMITS.windowJobs }, () => ({ name }))))
    expect(world.tables.windowedJobs).toBeGreaterThan(LIMITS.windowsJobs - LIMITS.windowJobs)
    expect(world.tables.windowedJobs).toBeLessThanOrEqual(LIMITS.windowsJobs + names.length * 16)
    expect(world.tables.jobs.size).toBe(world.tables.windowedJobs + 1)
  })

  test('the payloads of all windows together are bounded: past the bound each lane has its share, and at least one job', () => {
    const world = new World({ audited: false })
    const names = Array.from({ length: 600 }, (_, index) => `name${index}`)
    const data = 'x'.repeat(LIMITS.windowBytes / 8)
    world.attach('s', names, { minConcurrency: 1, maxConcurrency: 1 })
    const { tables } = world
    const share = LIMITS.windowsBytes / names.length
    for (const name of names) world.turn(enqueueing({ name, data }, { name, data }, { name, data }))
    expect(tables.windowedBytes).toBeGreaterThan(LIMITS.windowsBytes)
    expect(tables.windowedBytes).toBeLessThanOrEqual(LIMITS.windowsBytes + names.length * Math.max(share, data.length))
    const [first, last] = [tables.lane('default', 'name1')?.window.size, tables.lane('default', 'name599')?.window.size]
    expect([first, last]).toEqual([3, 1])
    // What was there before leaves memory as it is taken; all of it runs.
    let done = 0
    for (let running = [...(tables.sessions.get('s')?.jobs ?? [])][0] as RunKey | undefined; running !== undefined && done < 100; done++) {
      running = world.complete(running).grants[0]
    }
    expect(done).toBe(100)
  })

  test('large payloads are read ahead up to a number of bytes, several jobs at a time', () => {
    const store = new (class extends MemoryStore {
      reads = 0
      override window(...query: Parameters<MemoryStore['window']>) {
        this.reads++
        return super.window(...query)
      }
    })()
    const world = new World({ audited: false, store })
    const data = 'x'.repeat(LIMITS.windowBytes / 8)
    for (let job = 0; job < 60; job++) world.turn(enqueueing({ name: 'a', data }))
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    let bytesMax = 0
    let done = 0
    let running: RunKey | undefined = [...(world.tables.sessions.get('s')?.jobs ?? [])][0]
    while (running !== undefined) {
      const turned: Turned = world.complete(running)
      bytesMax = Math.max(bytesMax, world.tables.lane('default', 'a')?.window.bytes ?? 0)
      done++
      running = turned.grants[0]
    }
    expect(done).toBe(60)
    expect(bytesMax).toBeLessThanOrEqual(LIMITS.windowBytes)
    // Some at a time, not one by one.
    expect(store.reads).toBeLessThan(60 / 3)
  })
})

describe('the numbers and groups of lanes', () => {
  test('the numbers of lanes continue after a reload, and lanes of one queue share its number', () => {
    const world = new World()
    world.enqueue('a', { queue: 'q' })
    world.enqueue('b', { queue: 'q' })
    world.enqueue('a', { queue: 'r' })
    world.reload()
    world.enqueue('c', { queue: 'q' })
    world.enqueue('a', { queue: 's' })
    const lanes = [...world.store.lanes.values()].map(({ id, queueId, queue, name }) => [id, queueId, `${queue}/${name}`])
    expect(lanes).toEqual([
      [1, 1, 'q/a'],
      [2, 1, 'q/b'],
      [3, 2, 'r/a'],
      [4, 1, 'q/c'],
      [5, 3, 's/a'],
    ])
  })

  test('sessions that serve the same names share a group, which serves lanes that are created later too', () => {
    const world = new World()
    world.attach('s1', ['a', 'b'])
    world.attach('s2', ['b', 'a'])
    world.attach('s3', ['a'])
    expect(world.tables.groups.size).toBe(2)
    world.enqueue('a', { queue: 'new' })
    expect(world.tables.lane('new', 'a')?.groups.length).toBe(2)
    world.run({ op: 'leave', session: 's1' }, { op: 'leave', session: 's3' })
    expect(world.tables.lane('new', 'a')?.groups.length).toBe(1)
  })
})

test('a job that leaves memory and comes back can run again', () => {
  const world = new World()
  for (let job = 0; job < 3; job++) world.enqueue('a', { data: `${job}` })
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  world.leave('s')
  world.attach('t', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  const session = world.tables.sessions.get('t')
  expect([...(session?.jobs ?? [])].map(({ seq, run }) => [seq, run])).toEqual([[1, 2]])
})
