/** Tests the commands that a worker sends for a run, and that they count only for the current run and from its holder. */

import { describe, expect, test } from 'vitest'
import type { RunKey } from '../../commands.ts'
import { ACTIVE, COMPLETED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'

const ERROR = { name: 'TypeError', message: 'no', stack: 'at x' }

const SAYINGS: Record<string, (run: RunKey) => Command> = {
  complete: (run) => ({ op: 'complete', ...run, output: 'out', enqueues: [{ name: 'child', data: null }] }),
  fail: (run) => ({ op: 'fail', ...run, error: ERROR }),
  snooze: (run) => ({ op: 'snooze', ...run, delay: 5 }),
  giveBack: (run) => ({ op: 'giveBack', ...run }),
  heartbeat: (run) => ({ op: 'heartbeat', ...run }),
  checkpoint: (run) => ({ op: 'checkpoint', ...run, value: 'c' }),
  progress: (run) => ({ op: 'progress', ...run, fraction: 0.5, note: 'half' }),
  log: (run) => ({ op: 'log', ...run, lines: [{ at: 1, level: 'info', message: 'm' }] }),
}

const snapshot = ({ store, tables }: World) =>
  JSON.stringify([
    [...store.rows],
    [...store.lanes],
    store.runs,
    store.logs,
    [...tables.deadlines.values()].map((job) => [job.seq, job.deadlineMono]),
    [...tables.sessions.values()].map((session) => [session.weight, session.jobs.size, session.zombies]),
  ])

/** A session with a job that runs for the second time, a bystander that runs and one that waits. */
function running(): World {
  const world = new World()
  world.attach('s', ['a'], { minConcurrency: 2, maxConcurrency: 2 })
  world.run(enqueueing({ name: 'a', data: '1' }, { name: 'a', data: '2' }, { name: 'a', data: '3' }))
  world.giveBack({ seq: 1 })
  expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 2 })
  return world
}

describe.each(Object.entries(SAYINGS))('10: the command %s counts only for the current run of a job', (_op, say) => {
  test.each([
    ['an earlier run', { seq: 1, run: 1 }],
    ['a later run', { seq: 1, run: 3 }],
    ['run 0', { seq: 1, run: 0 }],
    ['a job that waits', { seq: 3, run: 0 }],
    ['a job that is not there', { seq: 99, run: 1 }],
  ])('token-per-attempt: the command is refused as stale for %s, and no job changes', (_what, run) => {
    const world = running()
    const before = snapshot(world)
    const turned = world.run(say(run))
    expect(turned.replies.map(codeOf)).toEqual(['STALE_RUN'])
    expect([turned.grants, turned.notices, turned.events]).toEqual([[], [], []])
    expect(snapshot(world)).toBe(before)
  })

  test.each([
    ['a connection without a session', () => {}],
    ['a connection with a session of the same worker, host and pid', (world: World) => world.attach('t', ['b'], { worker: 'worker of s' })],
    ['a connection whose session claims the run', (world: World) => world.attach('t', ['a'], {}, [{ seq: 1, run: 2 }])],
  ])('a run accepts commands from its holder alone: from %s the command is stale, and nothing changes', (_what, prepare) => {
    const world = running()
    world.connection = 2
    prepare(world)
    const before = snapshot(world)
    const turned = world.run(say({ seq: 1, run: 2 }))
    expect(turned.replies.map(codeOf)).toEqual(['STALE_RUN'])
    expect([turned.grants, turned.notices, turned.events]).toEqual([[], [], []])
    expect(snapshot(world)).toBe(before)
  })

  test('a session that attaches by another connection keeps its runs', () => {
    const world = running()
    world.connection = 2
    world.attach('s', ['a'], { minConcurrency: 2, maxConcurrency: 2 }, [
      { seq: 1, run: 2 },
      { seq: 2, run: 1 },
    ])
    world.connection = 1
    expect(world.refusal(say({ seq: 1, run: 2 }))).toBe('STALE_RUN')
    world.connection = 2
    expect(world.turn(say({ seq: 1, run: 2 })).replies).toEqual([true])
  })

  test('the command is accepted for the current run, and another job stays as it was', () => {
    const world = running()
    const bystander = JSON.stringify(world.row({ seq: 2 }))
    expect(world.turn(say({ seq: 1, run: 2 })).replies).toEqual([true])
    expect(JSON.stringify(world.row({ seq: 2 }))).toBe(bystander)
    expect(world.store.runs.filter((run) => run.seq !== 1)).toEqual([])
  })

  test('the command is stale after the end of its run', () => {
    const world = running()
    world.fail({ seq: 1 }, { retry: false })
    const before = snapshot(world)
    expect(world.refusal(say({ seq: 1, run: 2 }))).toBe('STALE_RUN')
    expect(snapshot(world)).toBe(before)
  })
})

describe('completing a run', () => {
  test('a completed job has its output, its state and its time, counts in the totals, and keeps no row of its run', () => {
    const world = running()
    world.pass(7)
    const { events } = world.complete({ seq: 1 }, 'out')
    expect(world.row({ seq: 1 })).toMatchObject({ state: COMPLETED, output: 'out', finishedAt: world.now.wall, run: 2, uncounted: 1 })
    expect(events[0]).toEqual({ type: 'completed', seq: 1, run: 2, attempt: 1 })
    expect(world.store.lanes.get(1)?.totals).toMatchObject({ completed: 1, failed: 0 })
    // A success leaves no row of its own.
    expect(world.store.runs).toEqual([])
    expect(world.store.attempts(world.store.jobs([1]))[0]).toMatchObject([{ run: 2, attempt: 1, worker: 'worker of s', logs: [] }])
  })

  test('13: a completion that is sent twice for one run gets the first answer again, and changes nothing', () => {
    const world = running()
    world.complete({ seq: 1 }, 'first')
    const before = snapshot(world)
    expect(world.turn({ op: 'complete', seq: 1, run: 2, output: 'first' }).replies).toEqual([true])
    expect(world.refusal({ op: 'complete', seq: 1, run: 2, output: 'second' })).toBe('STALE_RUN')
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'other run' })).toBe('STALE_RUN')
    expect(snapshot(world)).toBe(before)
  })

  test('a completion that is sent again by another connection with the same output gets the first answer again', () => {
    const world = running()
    const said = { op: 'complete', seq: 1, run: 2, output: Uint8Array.of(1, 2) } as const
    world.run(said)
    world.connection = 2
    const before = snapshot(world)
    expect(world.turn({ ...said, output: Uint8Array.of(1, 2) }).replies).toEqual([true])
    for (const output of [Uint8Array.of(1, 3), Uint8Array.of(1, 2, 3), '\u0001\u0002', null])
      expect(world.refusal({ ...said, output })).toBe('STALE_RUN')
    expect(snapshot(world)).toBe(before)
  })

  test('a completion that is sent twice within one turn is accepted twice and counts once', () => {
    const world = running()
    const said = { op: 'complete', seq: 1, run: 2, output: 'first' } as const
    expect(world.turn(said, said).replies).toEqual([true, true])
    expect(world.refusal({ ...said, output: 'second' })).toBe('STALE_RUN')
    expect(world.row({ seq: 1 }).output).toBe('first')
    expect(world.store.lanes.get(1)?.totals.completed).toBe(1)
  })

  test('2: a completed job is never handed out again', () => {
    const world = running()
    world.complete({ seq: 1 })
    world.reload()
    world.run()
    world.attach('t', ['a'])
    expect([world.stateOf({ seq: 1 }), world.row({ seq: 1 }).run]).toEqual(['completed', 2])
  })

  test('N11: jobs that a handler enqueues are created in the commit of its completion; if one is refused, the run continues', () => {
    const world = running()
    const { writes } = world.store
    world.turn({ op: 'complete', seq: 1, run: 2, output: null, enqueues: [{ name: 'b', data: 'x' }] })
    expect(world.store.writes).toBe(writes + 1)
    expect(world.row({ seq: 4 })).toMatchObject({ state: WAITING, data: 'x' })
    world.enqueue('b', { unique: { key: 'k', onConflict: 'error' } })
    const enqueues = [
      { name: 'c', data: null },
      { name: 'b', data: null, unique: { key: 'k', onConflict: 'error' as const } },
    ]
    expect(world.refusal({ op: 'complete', seq: 2, run: 1, output: null, enqueues })).toBe('UNIQUE_CONFLICT')
    expect(world.stateOf({ seq: 2 })).toBe('active')
    expect([...world.store.lanes.values()].map((lane) => lane.name)).toEqual(['a', 'b'])
  })
})

describe('failing a run', () => {
  test('N9: no retry begins later than maxAge after the enqueue, whether the backoff or the handler sets the delay', () => {
    const world = new World()
    world.attach('s', ['a'])
    const old = { maxAge: 1_000, maxAttempts: 9, backoff: { type: 'fixed', delay: 400 } } as const
    for (let job = 0; job < 3; job++) world.enqueue('a', old)
    world.enqueue('a', { ...old, maxAge: 1_001 })
    const bystander = { seq: 5 }
    world.enqueue('a', { maxAttempts: 9, backoff: old.backoff })
    const fail = (seq: number, run: number, retry?: number) =>
      world.run({ op: 'fail', seq, run, error: ERROR, ...(retry !== undefined && { retry }) }).events.map(({ type }) => type)
    for (const seq of [1, 2, 3, 4, 5]) expect(fail(seq, 1)).toEqual(['retrying'])
    expect(world.after(400).grants).toHaveLength(5)
    world.pass(200)
    // To the millisecond; and a pause that the handler asks for counts as any.
    expect(fail(1, 2)).toEqual(['retrying'])
    expect(fail(2, 2, 401)).toEqual(['failed'])
    expect(fail(3, 2, 0)).toEqual(['retrying', 'started'])
    world.pass(1)
    expect([fail(4, 2), fail(5, 2), fail(3, 3)]).toEqual([['retrying'], ['retrying'], ['failed']])
    world.after(400)
    expect([fail(1, 3, 0), fail(4, 3, 0), fail(5, 3)]).toEqual([['failed'], ['retrying', 'started'], ['retrying']])
    world.pass(1)
    expect(fail(4, 4, 0)).toEqual(['failed'])
    expect(world.row(bystander)).toMatchObject({ run: 3, state: SCHEDULED })
    expect(world.store.runs.filter(({ seq }) => seq === 2).map(({ error }) => error)).toEqual([ERROR, ERROR])
    // Brought back by hand it has an attempt, and no retry: it is as old as before.
    world.retry({ seq: 1 })
    expect(fail(1, 4, 0)).toEqual(['failed'])
  })

  test('E6, E9: a failed run is retried after the backoff of its attempt, and its error is kept', () => {
    const world = new World({ random: () => 0.5 })
    world.attach('s', ['a'])
    world.enqueue('a', { backoff: { type: 'exponential', delay: 100, factor: 3 }, maxAttempts: 4, data: 'payload' })
    for (const [run, delay] of [
      [1, 100],
      [2, 300],
      [3, 900],
    ] as const) {
      const { events } = world.fail({ seq: 1 }, { error: ERROR })
      expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + delay })
      expect(events).toEqual([{ type: 'retrying', seq: 1, run, attempt: run }])
      expect(world.after(delay - 1).grants).toEqual([])
      expect(world.after(1).grants).toMatchObject([{ seq: 1, run: run + 1, attempt: run + 1, data: 'payload' }])
    }
    world.fail({ seq: 1 }, { error: ERROR })
    expect(world.stateOf({ seq: 1 })).toBe('failed')
    expect(world.store.runs.map(({ run, attempt, worker, error }) => ({ run, attempt, worker, error }))).toEqual(
      [1, 2, 3, 4].map((run) => ({ run, attempt: run, worker: 'worker of s', error: ERROR })),
    )
    expect(world.store.lanes.get(1)?.totals).toEqual({ enqueued: 1, completed: 0, failed: 1, cancelled: 0 })
    expect(world.after(1_000_000).grants).toEqual([])
  })

  test.each([0.5, 0])(
    'a backoff with jitter depends on the random number that the turn gets as an argument: jitter 0.2 and %d',
    (random) => {
      const world = new World({ random: () => random })
      world.attach('s', ['a'])
      world.enqueue('a', { backoff: { type: 'fixed', delay: 1_000, jitter: 0.2 } })
      world.fail({ seq: 1 })
      expect(world.row({ seq: 1 }).runAt - world.now.wall).toBe(random === 0 ? 800 : 1_000)
    },
  )

  test('a failure with `retry` is retried after that many ms: 0 means at once, false means never', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a')
    world.fail({ seq: 1 }, { retry: 7 })
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + 7 })
    world.after(7)
    expect(world.fail({ seq: 1 }, { retry: 0 }).grants).toMatchObject([{ seq: 1, run: 3 }])
    world.fail({ seq: 1 }, { retry: false })
    expect(world.stateOf({ seq: 1 })).toBe('failed')
  })

  test('a job with maxAttempts 1 permanently fails at its first failure', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { maxAttempts: 1 })
    world.fail({ seq: 1 }, { retry: 0 })
    expect(world.stateOf({ seq: 1 })).toBe('failed')
  })

  test('delayed-job-has-no-lease: a job that waits for its retry has no deadline, no session and no slot', () => {
    const world = new World()
    world.attach('s', ['a'], { local: false })
    world.enqueue('a', { heartbeatTimeout: 50, backoff: { type: 'fixed', delay: 1_000_000 }, timeout: 100 })
    world.fail({ seq: 1 })
    expect([world.tables.deadlines.size, world.tables.sessions.get('s')?.weight]).toEqual([0, 0])
    world.after(999_999)
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, run: 1 })
    world.attach('t', ['a'])
    expect(world.after(1).grants).toMatchObject([{ seq: 1, run: 2 }])
  })
})

describe('snoozing a run, and giving it back', () => {
  test('unstarted-restore-keeps-attempts: a job that is given back has used no attempt, and the number of its run is never used again', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { maxAttempts: 1, data: 'x' })
    for (let run = 1; run <= 5; run++) {
      const { grants } = world.giveBack({ seq: 1 })
      expect(grants).toMatchObject([{ seq: 1, run: run + 1, attempt: 1, data: 'x' }])
    }
    expect(world.row({ seq: 1 })).toMatchObject({ uncounted: 5, run: 6 })
  })

  test('a job that is given back keeps its place in line', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    world.run(enqueueing({ name: 'a' }))
    world.pass(10)
    world.run(enqueueing({ name: 'a' }))
    expect(world.giveBack({ seq: 1 }).grants).toMatchObject([{ seq: 1, run: 2 }])
  })

  test('a snoozed job runs again later and uses no attempt, not even its last one', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { maxAttempts: 1 })
    const { events } = world.snooze({ seq: 1 }, 30)
    expect(events).toMatchObject([{ type: 'snoozed', run: 1 }])
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + 30, uncounted: 1 })
    expect(world.store.runs).toEqual([])
    expect(world.after(30).grants).toMatchObject([{ seq: 1, run: 2, attempt: 1 }])
  })

  test('close-resolves-under-redelay-loop: a job that is snoozed for 0 ms does not start again within the same turn', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a')
    expect(world.snooze({ seq: 1 }, 0).grants).toEqual([])
    expect(world.after(1).grants).toHaveLength(1)
  })
})

describe('E7: the heartbeat of a run', () => {
  const deadline = (world: World) => (world.tables.deadlines.peek()?.deadlineMono ?? Number.NaN) - world.now.mono

  test('a heartbeat moves the deadline to max(deadline, now + heartbeatTimeout)', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: 100, heartbeatTimeout: 60 })
    expect(deadline(world)).toBe(100)
    world.pass(30)
    world.run({ op: 'heartbeat', seq: 1, run: 1 })
    expect(deadline(world)).toBe(70)
    world.pass(50)
    world.run({ op: 'heartbeat', seq: 1, run: 1 })
    expect(deadline(world)).toBe(60)
  })

  test('long-job-with-heartbeat-never-rescued: a job keeps its run as long as it sends heartbeats, and times out when they stop', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: 100, heartbeatTimeout: 60 })
    for (let beat = 0; beat < 50; beat++) {
      expect(world.after(59).notices).toEqual([])
      world.run({ op: 'heartbeat', seq: 1, run: 1 })
    }
    expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 1 })
    expect(world.after(60).notices).toMatchObject([{ kind: 'abort', cause: 'timeout' }])
  })

  test('a job with heartbeatTimeout 0 keeps its deadline: neither a heartbeat nor a checkpoint moves it', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: 100, heartbeatTimeout: 0 })
    world.pass(90)
    world.run({ op: 'heartbeat', seq: 1, run: 1 }, { op: 'checkpoint', seq: 1, run: 1, value: '1' })
    expect(deadline(world)).toBe(10)
  })

  test('a job with timeout Infinity has no deadline, and a heartbeat sets none', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: Number.POSITIVE_INFINITY, heartbeatTimeout: 60 })
    world.run({ op: 'heartbeat', seq: 1, run: 1 })
    expect(world.tables.deadlines.size).toBe(0)
    world.after(LIMITS.durationMs)
    expect(world.stateOf({ seq: 1 })).toBe('active')
  })

  test('33: a heartbeat that arrives in the turn of the deadline is handled before the deadline', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: 100, heartbeatTimeout: 60 })
    world.pass(100)
    expect(world.turn({ op: 'heartbeat', seq: 1, run: 1 }).notices).toEqual([])
    expect(world.turn().notices).toEqual([])
  })

  test('E8: a checkpoint counts as a heartbeat, is stored, and is given to the next attempt', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: 100, heartbeatTimeout: 60, data: 'x' })
    world.pass(80)
    world.run({ op: 'checkpoint', seq: 1, run: 1, value: 'page 7' })
    expect(deadline(world)).toBe(60)
    expect(world.row({ seq: 1 })).toMatchObject({ checkpoint: 'page 7', data: 'x' })
    expect(world.fail({ seq: 1 }, { retry: 0 }).grants).toMatchObject([{ run: 2, checkpoint: 'page 7', data: 'x' }])
  })
})

describe('the progress and the log of a run', () => {
  test.each([
    [0, []],
    [1, [11]],
    [5, [7, 8, 9, 10, 11]],
    [12, Array.from({ length: 12 }, (_, number) => number)],
    [LIMITS.logLinesKept, Array.from({ length: 12 }, (_, number) => number)],
  ])('a job with logLines %i keeps the newest lines of its run, also over a reload, and no other job loses any', (logLines, kept) => {
    const world = new World()
    world.run(enqueueing({ name: 'a', logLines }, { name: 'a' }))
    world.attach('s', ['a'])
    const line = (at: number) => ({ at, level: 'info' as const, message: `${at}` })
    world.run({ op: 'log', seq: 2, run: 1, lines: [line(0)] })
    for (let at = 0; at < 12; at += 2) {
      if (at === 6) {
        world.reload('s')
        const held = [1, 2].map((seq) => ({ seq, run: 1 }))
        world.attach('s', ['a'], {}, held)
      }
      expect(world.run({ op: 'log', seq: 1, run: 1, lines: [line(at), line(at + 1)] }).replies).toEqual([true])
    }
    const linesOf = (seq: number) => world.store.logs.filter((log) => log.seq === seq).map(({ number, line: { at } }) => [number, at])
    expect(linesOf(1)).toEqual(kept.map((number) => [number, number]))
    expect(linesOf(2)).toEqual([[0, 0]])
    world.giveBack({ seq: 1 })
    const shown = world.store.attempts([world.row({ seq: 1 })])[0]?.find(({ run }) => run === 1)?.logs.length ?? 0
    expect(shown).toBe(kept.length)
  })

  test('the progress of a run is stored in the row of its job and reported as an event', () => {
    const world = running()
    const { events } = world.run({ op: 'progress', seq: 1, run: 2, fraction: 0.25 })
    expect(events).toMatchObject([{ type: 'progress', seq: 1, run: 2 }])
    expect(world.row({ seq: 1 }).progress).toBe('[0.25]')
    world.run({ op: 'progress', seq: 1, run: 2, fraction: 1, note: 'all "done"' })
    expect(JSON.parse(world.row({ seq: 1 }).progress as string)).toEqual([1, 'all "done"'])
    world.run({ op: 'progress', seq: 1, run: 2, fraction: 1, value: '{"rows":7}' })
    expect(JSON.parse(world.row({ seq: 1 }).progress as string)).toEqual([1, null, '{"rows":7}'])
  })

  test('E9: log lines belong to their run, in order, and the newest are kept', () => {
    const world = running()
    const lines = Array.from({ length: LIMITS.logLinesPerRun + 2 }, (_, index) => ({
      at: index,
      level: 'info' as const,
      message: `${index}`,
    }))
    world.run({ op: 'log', seq: 1, run: 2, lines: lines.slice(0, 1) }, { op: 'log', seq: 1, run: 2, lines: lines.slice(1) })
    expect(world.store.logs.map(({ seq, run, number }) => [seq, run, number])).toEqual(
      lines.map((_, index) => [1, 2, index]).slice(-LIMITS.logLinesPerRun),
    )
    // The next run begins anew, and so does one after a reload go on where it was.
    world.reload('s')
    expect(world.tables.jobs.get(1)?.logLines).toBe(lines.length)
  })
})
