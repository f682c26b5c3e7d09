/** Tests the invariants that the kernel asserts: tables that are broken by hand fail the turn, and a reload repairs them. */

import { expect, test } from 'vitest'
import { ACTIVE, SCHEDULED, WAITING } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { attaching, World } from '../../testing/world.ts'
import type { DependencyCounter } from '../records/flowState.ts'
import type { Job } from '../records/job.ts'
import type { KeyBacklog } from '../records/keyBacklog.ts'
import type { Session } from '../records/session.ts'
import { Window } from '../records/window.ts'
import { Facts } from '../state/facts.ts'

/** A worker that may run one job, with a first job that runs and a second one that waits. Both have key `k`. */
function begin(changes: QueueChanges = {}, slots = 1) {
  const world = new World()
  world.configure('default', changes)
  const room = { minConcurrency: slots, maxConcurrency: slots }
  world.attach('s', ['a'], room)
  const [first, second] = world.enqueueAll({ name: 'a', concurrencyKey: 'k' }, { name: 'a', concurrencyKey: 'k' })
  const jobOf = (seq: number) => world.tables.jobs.get(seq) as Job
  const running = jobOf(first.seq)
  const complete: Command = { op: 'complete', seq: running.seq, run: 1, output: null }
  const cancel: Command = { op: 'cancel', id: second }
  const lane = world.lane('a')
  const session = world.tables.sessions.get('s') as Session
  const [backlog] = world.tables.keys.backlogsById.values()
  return { world, running, waiting: jobOf(second.seq), complete, cancel, lane, session, backlog: backlog as KeyBacklog, room }
}
type Begun = ReturnType<typeof begin>

interface Case {
  readonly changes?: QueueChanges
  readonly slots?: number
  /** Breaks the tables, and returns the command that meets what is broken. */
  readonly breaks: (begun: Begun) => Command
  readonly says: RegExp
}

const BROKEN: Readonly<Record<string, Case>> = {
  'a state of a lane has fewer than no jobs': {
    breaks: ({ lane, complete }) => {
      lane.counts[ACTIVE] = 0
      return complete
    },
    says: /lane 1 has -1 jobs in state 2/,
  },
  'a state of a queue has fewer than no jobs': {
    breaks: ({ lane, cancel }) => {
      lane.queue.counts[WAITING] = 0
      return cancel
    },
    says: /its queue -1/,
  },
  'fewer than no jobs wait for a retry': {
    breaks: ({ world, lane, running }) => {
      world.fail(running)
      expect(lane.counts[SCHEDULED]).toBe(1)
      lane.retrying = 0
      return { op: 'cancel', id: running }
    },
    says: /wait for a retry/,
  },
  'a queue keeps fewer than no jobs': {
    breaks: ({ world, lane }) => {
      const kept = world.enqueue('a', { keep: 1_000 })
      world.cancel(kept)
      for (let state = 0; state < lane.queue.kept.length; state++) lane.queue.kept[state] = 0
      return { op: 'delete', id: kept }
    },
    says: /keeps -1 jobs/,
  },
  'fewer than no jobs run under a shared limit': {
    changes: { sharedLimit: { name: 'smtp', limit: 2 } },
    breaks: ({ lane, complete }) => {
      if (lane.queue.sharing !== undefined) lane.queue.sharing.active = 0
      return complete
    },
    says: /shares a limit with fewer than no running jobs/,
  },
  'a queue leaves a shared limit with more jobs than run under it': {
    changes: { sharedLimit: { name: 'smtp', limit: 2 } },
    breaks: ({ lane }) => {
      if (lane.queue.sharing !== undefined) lane.queue.sharing.active = 0
      return { op: 'configure', queue: 'default', changes: { sharedLimit: null } }
    },
    says: /under limit smtp/,
  },
  'a job starts while a session has it': {
    breaks: ({ waiting, session, complete }) => {
      waiting.session = session
      return complete
    },
    says: /a session still has it/,
  },
  'a job ends that does not run': {
    breaks: ({ world, running, cancel }) => {
      world.tables.deadlines.push(Object.assign(running, { deadlineMono: 0 }))
      running.abort = 'cancel'
      world.tables.jobs.delete(running.seq)
      return cancel
    },
    says: /ends, and does not run/,
  },
  'a session gives a job back that it does not have': {
    breaks: ({ session, running, complete }) => {
      session.jobs.delete(running)
      return complete
    },
    says: /gives job 1 back/,
  },
  'a session has fewer than no weight': {
    breaks: ({ session, complete }) => {
      session.weight = 0
      return complete
    },
    says: /0 jobs of weight -1/,
  },
  'a session without jobs has weight': {
    breaks: ({ session, complete }) => {
      session.weight = 2
      return complete
    },
    says: /0 jobs of weight 1/,
  },
  'a session has fewer than no zombies': {
    breaks: ({ world, session, complete }) => {
      world.tables.zombies.set('1:7', session)
      return { ...complete, run: 7 } as Command
    },
    says: /fewer than no zombies/,
  },
  'the key of a running job is unknown': {
    changes: { perKeyLimit: 2 },
    breaks: ({ lane, complete }) => {
      lane.queue.keys?.delete('k')
      return complete
    },
    says: /its key is unknown/,
  },
  'fewer than no jobs of a key run': {
    changes: { perKeyLimit: 2 },
    breaks: ({ backlog, complete }) => {
      backlog.key.active = 0
      return complete
    },
    says: /of key k run/,
  },
  'a backlog has fewer than no jobs in its window': {
    changes: { perKeyLimit: 2 },
    breaks: ({ backlog, cancel }) => {
      backlog.inWindow = 0
      return cancel
    },
    says: /has -1 jobs in its lane's window/,
  },
  'a job is parked twice': {
    changes: { perKeyLimit: 2 },
    breaks: ({ waiting, backlog }) => {
      waiting.parked = backlog
      return { op: 'configure', queue: 'default', changes: { perKeyLimit: 1 } }
    },
    says: /parked twice/,
  },
  'a backlog has fewer jobs than it holds in memory': {
    changes: { perKeyLimit: 1 },
    slots: 2,
    breaks: ({ backlog, cancel }) => {
      backlog.parked = 0
      return cancel
    },
    says: /has -1 jobs, and more of them in memory/,
  },
  'a job leaves a window that it is not in': {
    breaks: ({ waiting, complete }) => {
      waiting.windowed = false
      return complete
    },
    says: /leaves a window, and is in none/,
  },
  'windows hold fewer than no jobs': {
    breaks: ({ world, cancel }) => {
      world.tables.windowedJobs = 0
      return cancel
    },
    says: /windows hold -1 jobs/,
  },
  'a job leaves memory that is not there': {
    breaks: ({ world, waiting, cancel }) => {
      // The store finds it, and the turn's record is that of the lane's window.
      world.tables.jobs.delete(waiting.seq)
      world.tables.fromRow = () => waiting
      return cancel
    },
    says: /leaves memory, and is not there/,
  },
  'a group leaves a lane that it does not serve': {
    breaks: ({ lane }) => {
      lane.groups.length = 0
      return { op: 'leave', session: 's' }
    },
    says: /does not serve it/,
  },
}

test.each(Object.entries(BROKEN))(
  'a turn that finds a broken invariant writes nothing and loses no job: %s',
  (_what, { changes, slots, breaks, says }) => {
    const begun = begin(changes, slots)
    const { world, room } = begun
    const command = breaks(begun)
    const before = world.rows()
    expect(() => world.turn(command)).toThrow(says)
    expect(world.rows()).toEqual(before)
    world.reload('s')
    const held = before.filter(({ state }) => state === ACTIVE).map(({ seq, run }) => ({ seq, run }))
    world.run(attaching('s', ['a'], room, held))
    for (let job = running(world); job !== undefined; job = running(world)) world.complete(job)
    expect(world.rows().filter(({ state }) => state === WAITING || state === ACTIVE)).toEqual([])
  },
)

const running = (world: World) => world.rows().find(({ state }) => state === ACTIVE)

test('a job that waits for fewer than no jobs fails the turn', () => {
  const { world, complete } = begin()
  const [parent, child] = world.flow([{ job: { priority: 1 } }, { parents: [0] }])
  world.run(complete)
  world.turn({ op: 'complete', seq: parent.seq, run: 1, output: null })
  const { counters } = world.store.flows
  counters.set(child.seq, { ...(counters.get(child.seq) as DependencyCounter), pending: 0 })
  expect(() => world.turn()).toThrow(/broken invariant: job 4 waits for -1 jobs/)
})

test('a unique key has one holder, and only that job can give it back', () => {
  const { world, running, waiting } = begin()
  const facts = new Facts(world.tables)
  facts.holdUnique('a', 'u', running)
  facts.holdUnique('a', 'u', running)
  expect(() => facts.holdUnique('a', 'u', waiting)).toThrow(/takes a unique key that job 1 holds/)
  expect(() => facts.freeUnique({ name: 'a', key: 'u' }, waiting)).toThrow(/gives a unique key back that job 1 holds/)
  facts.freeUnique({ name: 'a', key: 'u' }, running)
  facts.holdUnique('a', 'u', waiting)
})

test('a job is in one window at a time, and a window never has fewer than no bytes', () => {
  const { waiting } = begin()
  const window = new Window()
  expect(() => window.insert(waiting)).toThrow(/enters a window, and is in one/)
  waiting.windowed = false
  window.insert(waiting)
  waiting.data = 'grown'
  expect(() => window.remove(waiting)).toThrow(/bytes of payloads/)
  expect(() => new Window().remove(waiting)).toThrow(/is not in its window/)
})

test('a parked job is released only once', () => {
  const { world, running } = begin()
  expect(() => world.tables.keys.unpark(running)).toThrow(/is not parked/)
})
