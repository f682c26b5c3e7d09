/** What each command does to a job that sleeps: nothing but its time, its message and `runNow` wakes it, and nothing changes what its results were made of. */
import { expect, test } from 'vitest'
import { sessionIntro } from '../../../../testkit/src/probe.ts'
import type { NewJob } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import type { Command, CommandOf, OfKind } from '../../operations.ts'
import { codeOf, World } from '../../testing/world.ts'

type Op = OfKind<'command'>
/** The code of its refusal, and what has become of the sleeper. */
type Outcome = readonly [code: string | undefined, state: 'asleep' | 'waiting' | 'cancelled' | 'gone']
type Case<Of extends Op> = readonly [command: (id: JobKey) => Omit<CommandOf<Of>, 'op'>, outcome: Outcome]

const ASLEEP: Outcome = [undefined, 'asleep']
const OF_ITS_RUN: Outcome = ['STALE_RUN', 'asleep']
const MANY = { filter: { queue: 'q' }, limit: 500, dryRun: false } as const
const RUN = { seq: 1, run: 2 }
const SPEC = { overlap: 'skip', jitter: 0, catchUp: 'latest', every: 3_600_000 } as const
const OF = { kind: 'unique', name: 'a', key: 'u' } as const

const again = (more: Partial<NewJob>): Omit<CommandOf<'enqueue'>, 'op'> => ({ jobs: [{ name: 'a', queue: 'q', data: '"new"', ...more }] })
const conflict = (onConflict: 'skip' | 'error' | 'replace' | 'reschedule') => again({ unique: { key: 'u', onConflict } as never })

/** The job is the only one of its queue, and of its schedule or its key. A reason stands for commands that are about something else. */
const CASES: { readonly [Of in Op]: string | readonly Case<Of>[] } = {
  enqueue: [
    [() => conflict('skip'), ASLEEP],
    [() => conflict('error'), ['UNIQUE_CONFLICT', 'asleep']],
    [() => conflict('replace'), ['JOB_ACTIVE', 'asleep']],
    [() => conflict('reschedule'), ['JOB_ACTIVE', 'asleep']],
    // The queue is full, and drops its oldest.
    [() => again({}), ['QUEUE_FULL', 'asleep']],
  ],
  forward: 'as enqueue',
  flow: 'creates jobs without keys',
  attach: 'about a session',
  adjust: 'about a session',
  drain: 'about a session',
  leave: 'about a session',
  renew: 'about a connection',
  stopWorker: 'about a worker',
  complete: [[() => ({ ...RUN, output: null }), OF_ITS_RUN]],
  fail: [
    [() => ({ ...RUN, error: { name: 'E', message: 'm' } }), OF_ITS_RUN],
    [() => ({ ...RUN, error: { name: 'E', message: 'm' }, changed: true }), OF_ITS_RUN],
  ],
  snooze: [[() => ({ ...RUN, delay: 1 }), OF_ITS_RUN]],
  join: [[() => ({ ...RUN, name: 'j', jobs: [{ name: 'a', data: null }] }), OF_ITS_RUN]],
  giveBack: [[() => RUN, OF_ITS_RUN]],
  step: [[() => ({ ...RUN, number: 2, asked: 1, name: 's', kind: 'step', startedAt: 1, value: null }), OF_ITS_RUN]],
  send: [
    [(id) => ({ id, name: 'other', value: '1' }), ASLEEP],
    [(id) => ({ id, name: 'go', value: '1', only: ['b'] }), ['FORBIDDEN', 'asleep']],
  ],
  wait: [[() => ({ ...RUN, settled: 1, waits: [{ name: 'w', asked: 1, delay: 0 }], end: true }), OF_ITS_RUN]],
  heartbeat: [[() => RUN, OF_ITS_RUN]],
  checkpoint: [[() => ({ ...RUN, value: null }), OF_ITS_RUN]],
  progress: [[() => ({ ...RUN, fraction: 1 }), OF_ITS_RUN]],
  log: [[() => ({ ...RUN, lines: [{ at: 1, level: 'info', message: 'm' }] }), OF_ITS_RUN]],
  cancel: [[(id) => ({ id }), [undefined, 'cancelled']]],
  cancelTree: [[(id) => ({ id }), [undefined, 'cancelled']]],
  retryTree: [[(id) => ({ id }), ['JOB_SCHEDULED', 'asleep']]],
  update: [
    [(id) => ({ id, changes: { data: '"new"' } }), ['JOB_ACTIVE', 'asleep']],
    [(id) => ({ id, changes: { runAt: 1 } }), ['JOB_ACTIVE', 'asleep']],
    [(id) => ({ id, changes: { priority: 1 } }), ['JOB_ACTIVE', 'asleep']],
    [(id) => ({ id, changes: { tags: ['t'] } }), ASLEEP],
  ],
  retry: [
    [(id) => ({ id }), ['JOB_SCHEDULED', 'asleep']],
    [(id) => ({ id, from: 'start' }), ['JOB_SCHEDULED', 'asleep']],
  ],
  redrive: [[() => ({ limit: 9 }), ASLEEP]],
  runNow: [[(id) => ({ id }), [undefined, 'waiting']]],
  delete: [[(id) => ({ id }), [undefined, 'gone']]],
  byKey: [
    [() => ({ of: OF, call: 'runNow' }), [undefined, 'waiting']],
    [() => ({ of: OF, call: 'update', changes: { data: '"new"' } }), ['JOB_ACTIVE', 'asleep']],
    [() => ({ of: OF, call: 'retry', from: 's' }), ['JOB_SCHEDULED', 'asleep']],
    [() => ({ of: OF, call: 'cancel' }), [undefined, 'cancelled']],
    [() => ({ of: OF, call: 'release' }), ASLEEP],
  ],
  cancelMany: [[() => MANY, [undefined, 'cancelled']]],
  retryMany: [[() => MANY, ASLEEP]],
  deleteMany: [[() => MANY, [undefined, 'gone']]],
  runNowMany: [[() => MANY, [undefined, 'waiting']]],
  updateMany: [
    [() => ({ ...MANY, changes: { runAt: 1 } }), ASLEEP],
    [() => ({ ...MANY, changes: { priority: 1, weight: 2 } }), ASLEEP],
    [() => ({ ...MANY, changes: { tags: ['t'] } }), ASLEEP],
  ],
  configure: [[() => ({ queue: 'q', changes: { maxLength: 1 } }), ASLEEP]],
  pause: [[() => ({ queue: 'q', paused: true }), ASLEEP]],
  pauseAll: [[() => ({ paused: true }), ASLEEP]],
  drainQueue: 'answered once the queue is empty',
  deleteQueue: [[() => ({ queue: 'q' }), ['QUEUE_NOT_EMPTY', 'asleep']]],
  export: 'about the journal',
  deleteExport: 'about the journal',
  upsertSchedule: [
    [() => ({ id: 's', spec: SPEC, job: { name: 'a', data: '"new"', queue: 'q' }, runImmediately: false, updateWaiting: true }), ASLEEP],
  ],
  deleteSchedule: [[() => ({ id: 's' }), ASLEEP]],
  pauseSchedule: [[() => ({ id: 's' }), ASLEEP]],
  resumeSchedule: [[() => ({ id: 's' }), ASLEEP]],
  triggerSchedule: [[() => ({ id: 's' }), ASLEEP]],
}

/** What differs for a job that sleeps until a message comes: it has no time that could be now. */
const OF_MESSAGE: { readonly [title: string]: Outcome } = {
  'runNow 0': ['JOB_SCHEDULED', 'asleep'],
  'byKey 0': ['JOB_SCHEDULED', 'asleep'],
  'runNowMany 0': ASLEEP,
}

const WAITS = {
  sleep: { name: 'nap', asked: 2, delay: 600_000 },
  message: { name: 'nap', asked: 2, message: 'go' },
} as const

/** A job that sleeps for ten minutes, or until a message, after a failed attempt and a step. With `schedule` it is the last one of schedule `s`. */
function sleeping(
  schedule: boolean,
  kind: keyof typeof WAITS = 'sleep',
): { readonly world: World; readonly id: JobKey; readonly bystander: JobKey } {
  const world = new World()
  const job = { name: 'a', data: '"old"', queue: 'q' }
  const unique = { key: 'u', onConflict: 'skip', until: 'end' } as const
  if (schedule) world.run({ op: 'upsertSchedule', id: 's', spec: SPEC, job, runImmediately: true, updateWaiting: false })
  else world.run({ op: 'enqueue', jobs: [{ ...job, unique }] })
  const bystander = world.enqueue('b', { queue: 'by' })
  world.configure('q', { maxLength: 1, onFull: 'drop-oldest' })
  world.attach('w', ['a', 'b'])
  world.fail({ seq: 1 }, { retry: 0 })
  const step = { op: 'step', number: 1, asked: 1, name: 's', kind: 'step', startedAt: 1, value: '"done"' } as const
  const wait = { op: 'wait', settled: 1, waits: [WAITS[kind]], end: true } as const
  for (const { seq } of [{ seq: 1 }, bystander]) world.run({ ...step, ...world.runOf({ seq }) }, { ...wait, ...world.runOf({ seq }) })
  world.leave('w')
  expect(world.row({ seq: 1 })).toMatchObject({ run: 2, uncounted: 2 })
  return { world, id: world.keyOf({ seq: 1 }), bystander }
}

const OPS = (Object.keys(CASES) as Op[]).flatMap((op) => {
  const cases = CASES[op]
  return typeof cases === 'string' ? [] : cases.map(([command, outcome], index) => [`${op} ${index}`, op, command, outcome] as const)
})

const SLEEPERS = OPS.flatMap(([title, op, command, outcome]) => [
  [`a sleep, ${title}`, op, command, outcome, 'sleep'] as const,
  [`a message, ${title}`, op, command, OF_MESSAGE[title] ?? outcome, 'message'] as const,
])

test.each(SLEEPERS)('%s', (_title, op, command, [code, state], kind) => {
  const { world, id, bystander } = sleeping(op.endsWith('Schedule'), kind)
  const factsOf = (job: { readonly seq: number }) => {
    const { data, extras } = world.row(job)
    return {
      data,
      steps: extras?.steps,
      state: world.stateOf(job),
      runAt: world.row(job).runAt,
      results: world.store.steps(job.seq, 0, 9, 999),
    }
  }
  const [before, other] = [factsOf(id), factsOf(bystander)]
  const { replies } = world.turn({ op, ...command(id) } as Command)
  expect(codeOf(replies[0])).toBe(code)
  expect(factsOf(bystander)).toEqual(other)
  if (state === 'asleep') expect(factsOf(id)).toEqual(before)
  else expect(world.stateOf(id)).toBe(state)
  if (state === 'asleep' || state === 'waiting') {
    // Its sleep has ended once, whoever has ended it.
    world.run({ op: 'pauseAll', paused: false }, { op: 'pause', queue: 'q', paused: false })
    if (kind === 'message') world.run({ op: 'send', id, name: 'go', value: '"gone"' })
    world.after(600_000)
    const { grants } = world.run({ op: 'attach', session: sessionIntro(['a', 'b']), held: [] })
    expect(grants.filter(({ seq }) => seq === id.seq)).toMatchObject([{ run: 3, attempt: 1, data: '"old"' }])
    const { results } = world.store.steps(id.seq, 0, 9, 999)
    expect(results.map((each) => [each.number, each.name, each.kind, each.value])).toEqual([
      [1, 's', 'step', '"done"'],
      [2, 'nap', kind, kind === 'message' ? '"gone"' : null],
    ])
  }
})

test('waits for no retry, so that nobody takes it for a job that has failed', () => {
  const { world, id } = sleeping(false)
  expect(world.tables.lanesById.get(world.row(id).laneId)?.retrying).toBe(0)
  expect(world.call<'retryMany'>({ op: 'retryMany', filter: { retrying: true }, limit: 9, dryRun: true })).toMatchObject({ matched: 0 })
})

test('has no time to start by, and no later definition gives it one', () => {
  const world = new World()
  world.attach('w', ['a'])
  const id = world.enqueue('a', { ttl: 1_000 })
  world.run({ op: 'wait', ...world.runOf(id), settled: 0, waits: [{ name: 'nap', asked: 1, delay: 5_000 }], end: true })
  world.after(2_000)
  expect([world.stateOf(id), world.row(id).expiresAt]).toEqual(['scheduled', 0])
})

test('that has woken sleeps no longer: whoever puts it off ends none of its other waits', () => {
  const world = new World()
  world.attach('w', ['a'])
  const id = world.enqueue('a')
  const waits = [
    { name: 'short', asked: 1, delay: 50 },
    { name: 'long', asked: 1, delay: 5_000 },
  ]
  world.run({ op: 'wait', ...world.runOf(id), settled: 0, waits, end: true })
  world.pause('default')
  world.after(50)
  expect(world.stateOf(id)).toBe('waiting')
  world.update(id, { runAt: world.now.wall + 100 })
  expect(world.stateOf(id)).toBe('scheduled')
  world.after(100)
  expect(world.store.steps(id.seq, 0, 9, 999).results).toMatchObject([{ name: 'short' }])
})
