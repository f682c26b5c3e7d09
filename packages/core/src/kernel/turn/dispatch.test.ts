/** Tests which job starts next, and in which session. */

import { describe, expect, test } from 'vitest'
import { ACTIVE, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { attaching, enqueueing, type Granted, World } from '../../testing/world.ts'

const seqs = (grants: readonly Granted[]) => grants.map((grant) => grant.seq)
const one = { minConcurrency: 1, maxConcurrency: 1 }

/** Completes what runs, one by one, and answers the order in which jobs are handed out. */
function drainInOrder(world: World, first: readonly Granted[]): number[] {
  const order: number[] = []
  const running = [...first]
  for (let granted = running.shift(); granted !== undefined; granted = running.shift()) {
    order.push(granted.seq)
    running.push(...world.complete(granted).grants)
  }
  return order
}

describe('the order in which jobs start', () => {
  test('E4: jobs start by higher priority first, then due time, then arrival, across the names that a session serves', () => {
    const world = new World()
    const { wall } = world.now
    world.run(
      enqueueing(
        { name: 'a' },
        { name: 'b', priority: 1 },
        { name: 'b' },
        { name: 'a', priority: 1 },
        { name: 'a', priority: -1 },
        { name: 'b', runAt: wall + 5 },
        { name: 'a', runAt: wall + 3 },
      ),
    )
    world.after(10)
    expect(drainInOrder(world, world.run(attaching('s', ['a', 'b'], one)).grants)).toEqual([2, 4, 1, 3, 7, 6, 5])
  })

  test('M7, N6: fairness: queues take turns, whatever jobs they have', () => {
    const world = new World()
    world.run(enqueueing(...Array.from({ length: 6 }, () => ({ name: 'a', queue: 'long', priority: 9 }))))
    world.run(enqueueing({ name: 'a', queue: 'x' }, { name: 'a', queue: 'x' }, { name: 'a', queue: 'y' }))
    const { grants } = world.run(attaching('s', ['a'], one))
    const order: string[] = []
    let [granted] = grants
    while (granted !== undefined) {
      order.push(granted.queue)
      granted = world.complete(granted).grants[0]
    }
    expect(order).toEqual(['long', 'x', 'y', 'long', 'x', 'long', 'long', 'long', 'long'])
  })

  describe('names of a fair queue take turns', () => {
    const fair = (fairness: 'name' | null) => ({ op: 'configure' as const, queue: 'q', changes: { fairness } })
    const many = (name: string, count: number, more = {}) => Array.from({ length: count }, () => ({ name, queue: 'q', ...more }))
    const namesOf = (world: World, grants: readonly Granted[]) =>
      drainInOrder(world, grants)
        .map((seq) => world.store.lanes.get(world.row({ seq }).laneId)?.name)
        .join('')

    test('N6: few jobs of a rare name do not wait behind many jobs of another name', () => {
      const world = new World()
      world.run(fair('name'), enqueueing(...many('a', 8), ...many('b', 2), ...many('c', 1)))
      expect(namesOf(world, world.run(attaching('s', ['a', 'b', 'c'], one)).grants)).toBe('abcabaaaaaa')
    })

    test('a job name that comes later has the next turn', () => {
      const world = new World()
      world.run(fair('name'), enqueueing(...many('a', 4)))
      const { grants } = world.run(attaching('s', ['a', 'b'], one))
      world.run(enqueueing(...many('b', 2)))
      expect(namesOf(world, grants)).toBe('ababaa')
    })

    test('job names take turns only among jobs of equal priority', () => {
      const world = new World()
      world.run(fair('name'), enqueueing(...many('b', 2), ...many('a', 3, { priority: 1 }), ...many('c', 1)))
      expect(namesOf(world, world.run(attaching('s', ['a', 'b', 'c'], one)).grants)).toBe('aaabcb')
    })

    test('a light job that starts in the place of a heavy one is of the name whose turn it is', () => {
      const world = new World()
      world.run(fair('name'), enqueueing(...many('a', 1, { weight: 2 })))
      world.run(attaching('s', ['a', 'b', 'c'], { minConcurrency: 4, maxConcurrency: 4 }))
      world.run(enqueueing(...many('a', 1, { weight: 2 }), ...many('b', 1, { weight: 1 }), ...many('c', 1, { weight: 3 }), ...many('a', 3)))
      const active = [...world.store.rows.values()].filter(({ state }) => state === ACTIVE)
      expect(active.map(({ seq }) => seq)).toEqual([1, 3, 5])
    })

    test('job names take turns from the moment of the setting until its end', () => {
      const world = new World()
      world.run(enqueueing(...many('a', 4), ...many('b', 4)))
      const { grants } = world.run(attaching('s', ['a', 'b'], one))
      world.run(fair('name'))
      const order: number[] = []
      let [granted] = grants
      while (granted !== undefined) {
        order.push(granted.seq)
        if (order.length === 4) world.run(fair(null))
        granted = world.complete(granted).grants[0]
      }
      expect(order).toEqual([1, 2, 5, 3, 4, 6, 7, 8])
    })

    test('a queue without the setting keeps its jobs in one line', () => {
      const world = new World()
      world.run(fair('name'), enqueueing(...Array.from({ length: 3 }, () => ({ name: 'a', queue: 'by' })), { name: 'b', queue: 'by' }))
      expect(drainInOrder(world, world.run(attaching('s', ['a', 'b'], one)).grants)).toEqual([1, 2, 3, 4])
    })
  })

  test('fairness: sessions take turns', () => {
    const world = new World()
    for (const uuid of ['s1', 's2', 's3']) world.attach(uuid, ['a'], { minConcurrency: 9, maxConcurrency: 9 })
    const { grants } = world.run(enqueueing(...Array.from({ length: 6 }, () => ({ name: 'a' }))))
    expect(grants.map((grant) => grant.session)).toEqual(['s1', 's2', 's3', 's1', 's2', 's3'])
  })

  test('sessions that serve different names share the jobs of a name that both serve', () => {
    const world = new World()
    world.attach('both', ['a', 'b'])
    world.attach('single', ['a'])
    const { grants } = world.run(enqueueing(...Array.from({ length: 4 }, () => ({ name: 'a' }))))
    expect(grants.map((grant) => grant.session).sort()).toEqual(['both', 'both', 'single', 'single'])
  })

  test('batch-wakes-n: each job of a batch goes to another session with room', () => {
    const world = new World()
    for (let session = 0; session < 5; session++) world.attach(`s${session}`, ['a'], one)
    const { grants } = world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a' }))
    expect(new Set(grants.map((grant) => grant.session)).size).toBe(3)
  })
})

describe('the names and queues that a session serves', () => {
  test('E2, unknown-kind-never-discarded: a job that no session serves waits, and holds no other job up', () => {
    const world = new World()
    const unknown = world.enqueue('unknown', { priority: 100 })
    const { grants } = world.run(attaching('s', ['a']), enqueueing({ name: 'a' }))
    expect(seqs(grants)).toEqual([2])
    world.after(1_000_000)
    expect(world.row(unknown)).toMatchObject({ state: WAITING, run: 0 })
  })

  test('a session that names queues gets jobs of those alone, and a session that names none serves each new queue', () => {
    const world = new World()
    world.attach('some', ['a'], { queues: ['q'] })
    expect(world.run(enqueueing({ name: 'a', queue: 'r' })).grants).toEqual([])
    expect(world.run(enqueueing({ name: 'a', queue: 'q' })).grants.map((grant) => grant.session)).toEqual(['some'])
    world.attach('all', ['a'])
    expect(world.stateOf({ seq: 1 })).toBe('active')
  })
})

describe('E5: minConcurrency and maxConcurrency of a session', () => {
  test('a session is filled up to max when its running weight falls below min, and not before', () => {
    const world = new World()
    world.run(enqueueing(...Array.from({ length: 20 }, () => ({ name: 'a' }))))
    const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 2, maxConcurrency: 4 }))
    expect(seqs(grants)).toEqual([1, 2, 3, 4])
    const complete = (seq: number) => world.complete({ seq }).grants
    expect(seqs(complete(1))).toEqual([])
    expect(seqs(complete(2))).toEqual([])
    expect(seqs(complete(3))).toEqual([5, 6, 7])
  })

  test('a session that was never full is filled up even between min and max', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 2, maxConcurrency: 4 })
    for (let seq = 1; seq <= 4; seq++) expect(seqs(world.run(enqueueing({ name: 'a' })).grants)).toEqual([seq])
    expect(world.run(enqueueing({ name: 'a' })).grants).toEqual([])
  })

  test('a session that drains or has left gets no more jobs', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.run({ op: 'drain', session: 's' })
    expect(world.run(enqueueing({ name: 'a' })).grants).toEqual([])
    world.attach('t', ['a'])
    world.leave('t')
    expect(world.stateOf({ seq: 1 })).toBe('waiting')
  })

  test('19: two thousand waiting jobs all start, although one window never holds them', () => {
    const world = new World({ audited: false })
    const count = LIMITS.windowJobs * 2 + 7
    world.run(enqueueing(...Array.from({ length: count }, () => ({ name: 'a' }))))
    const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 5_000, maxConcurrency: 5_000 }))
    expect(seqs(grants)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  })
})

describe('E4: the weight of jobs', () => {
  test('jobs are handed out while their weights fit', () => {
    const world = new World()
    world.run(enqueueing({ name: 'a', weight: 2 }, { name: 'a', weight: 2 }, { name: 'a', weight: 1 }, { name: 'a', weight: 1 }))
    const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 5, maxConcurrency: 5 }))
    expect(seqs(grants)).toEqual([1, 2, 3])
    expect(world.tables.sessions.get('s')?.weight).toBe(5)
    expect(seqs(world.complete({ seq: 1 }).grants)).toEqual([4])
    expect(world.tables.sessions.get('s')?.weight).toBe(4)
  })

  test('a job heavier than max runs alone', () => {
    const world = new World()
    world.run(enqueueing({ name: 'a', weight: 50 }, { name: 'a' }))
    expect(seqs(world.run(attaching('s', ['a'], { minConcurrency: 3, maxConcurrency: 3 })).grants)).toEqual([1])
    expect(seqs(world.complete({ seq: 1 }).grants)).toEqual([2])
  })

  /** A session of 4 with a job of 1 running, a heavy one of 4 first in line, and light ones behind it. */
  function heavyWaits(lightQueue: string): World {
    const world = new World()
    world.attach('s', ['a', 'b'], { minConcurrency: 4, maxConcurrency: 4 })
    world.run(enqueueing({ name: 'a' }))
    world.run(enqueueing({ name: 'a', weight: 4 }))
    expect(world.stateOf({ seq: 2 })).toBe('waiting')
    for (let light = 0; light < 20; light++) world.run(enqueueing({ name: 'b', queue: lightQueue }))
    return world
  }

  /** Ends the oldest light run and answers what starts for it. */
  const endOne = (world: World) => {
    const [first] = [...(world.tables.sessions.get('s')?.jobs ?? [])]
    return seqs(world.complete({ seq: first?.seq ?? 0 }).grants)
  }

  test('a job that does not fit is passed by lighter jobs, in their order', () => {
    const world = heavyWaits('default')
    expect([...(world.tables.sessions.get('s')?.jobs ?? [])].map((job) => job.seq)).toEqual([1, 3, 4, 5])
    expect(endOne(world)).toEqual([6])
  })

  test.each(['default', 'another'])(
    'a job that does not fit is passed for at most 5 s; then room is kept for it, also from jobs of the queue %s',
    (lightQueue) => {
      const world = heavyWaits(lightQueue)
      world.pass(LIMITS.heavyPatienceMs - 1)
      expect(endOne(world)).toHaveLength(1)
      world.pass(1)
      expect([endOne(world), endOne(world), endOne(world)]).toEqual([[], [], []])
      expect(endOne(world)).toEqual([2])
      // It has the session for itself, and then the light ones go on.
      expect(endOne(world)).toHaveLength(4)
    },
  )

  test('room that is kept for a heavy job is free in the turn in which another session takes the job', () => {
    const world = new World()
    world.attach('releasable', ['a', 'b'], { minConcurrency: 2, maxConcurrency: 2 })
    world.run(enqueueing({ name: 'b' }))
    world.attach('other', ['a'], one)
    world.run(enqueueing({ name: 'a' }, { name: 'a' }))
    world.run(enqueueing({ name: 'a', weight: 4 }))
    expect(seqs(world.complete({ seq: 1 }).grants)).toEqual([])
    // A place of the first session is free, and by now it is kept.
    world.pass(LIMITS.heavyPatienceMs)
    expect(seqs(world.run(enqueueing({ name: 'b' })).grants)).toEqual([])
    const other = [...(world.tables.sessions.get('other')?.jobs ?? [])][0]
    const { grants } = world.complete({ seq: other?.seq ?? 0 })
    expect(grants.map(({ seq, session }) => [seq, session])).toEqual([
      [4, 'other'],
      [5, 'releasable'],
    ])
  })

  test('a light job is found behind as many heavy jobs as memory has of its name, and not behind more', () => {
    for (const heavy of [LIMITS.windowJobs - 1, LIMITS.windowJobs]) {
      const world = new World()
      world.attach('s', ['a'], { minConcurrency: 4, maxConcurrency: 4 })
      world.run(enqueueing({ name: 'a' }))
      world.run(enqueueing(...Array.from({ length: heavy }, () => ({ name: 'a', weight: 4 }))))
      const { grants } = world.run(enqueueing({ name: 'a' }))
      expect(seqs(grants), `behind ${heavy}`).toEqual(heavy < LIMITS.windowJobs ? [heavy + 2] : [])
    }
  })

  test('a lighter job that has expired passes no heavy job', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 4, maxConcurrency: 4 })
    world.run(enqueueing({ name: 'a', weight: 4 }))
    world.run(enqueueing({ name: 'a', weight: 4 }, { name: 'a', ttl: 10 }))
    world.after(10)
    expect(world.stateOf({ seq: 3 })).toBe('failed')
    world.complete({ seq: 1 })
    expect([world.stateOf({ seq: 2 }), world.stateOf({ seq: 3 })]).toEqual(['active', 'failed'])
  })
})

test('requeue-wakes: a job that is given back or retried at once starts again in the same turn', () => {
  const world = new World()
  world.attach('s', ['a'], one)
  world.run(enqueueing({ name: 'a', data: '1' }))
  expect(world.giveBack({ seq: 1 }).grants).toMatchObject([{ seq: 1, run: 2, data: '1' }])
  expect(world.fail({ seq: 1 }, { retry: 0 }).grants).toMatchObject([{ seq: 1, run: 3, data: '1' }])
})
