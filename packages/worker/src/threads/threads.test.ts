/** Handlers in real threads: nothing that they say is lost, and nothing that waits for one is stuck. */
import { CommitUnknownError, type Grant, StaleRunError } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineJob } from '../define.ts'
import { quiet } from '../testing/manualClock.ts'
import { LOADABLE, MAY_EXIT, newCounters, SETUPS, STARTS, TEARDOWNS } from '../testing/modules/counters.ts'
import { stop, type Workbench, workbench } from '../testing/workbench.ts'

const moduleAt = (name: string) => new URL(`../testing/modules/${name}.ts`, import.meta.url)
const a = defineJob({ name: 'a' })

let counters: Int32Array
let bench: Workbench

beforeEach(() => {
  counters = newCounters()
})

afterEach(() => stop(bench, { timeout: 0 }))

function start(name: string, options: Parameters<typeof a.thread>[1] = { threads: 1 }): Workbench {
  bench = workbench(a.thread(moduleAt(name), options), { abortGrace: '5s' })
  return bench
}

let nextSeq = 1

/** Hands a job over, and answers its outcome. */
async function run(data: unknown, change: Partial<Grant> = {}) {
  const seq = nextSeq++
  bench.grant({ seq, data: JSON.stringify(data), ...change })
  return outcomeOf(seq)
}

async function outcomeOf(seq: number) {
  for (;;) {
    const found = bench.calls.outcomes.find((command) => 'seq' in command && command.seq === seq)
    if (found !== undefined) return found
    await bench.calls.heardAny()
  }
}

describe('what a thread says', () => {
  test('just before it returns comes before its outcome, whichever channel is faster', async () => {
    start('tasks', { threads: 2 })
    await Promise.all(Array.from({ length: 100 }, () => run('report')))
    for (const { seq } of bench.calls.of('complete')) {
      const said = bench.calls.said.filter((command) => 'seq' in command && command.seq === seq)
      expect(said.at(-1)).toMatchObject({ op: 'complete', output: '"reported"' })
      expect(said.findLast(({ op }) => op === 'progress')).toMatchObject({ fraction: 1, note: 'all' })
      const lines = said.flatMap((command) => (command.op === 'log' ? command.lines : []))
      expect(lines.map(({ message, fields }) => [message, fields])).toEqual([
        ['first', undefined],
        ['last', '{"n":1}'],
      ])
    }
  })

  test('after it waited, too', async () => {
    start('tasks')
    for (let job = 0; job < 20; job++) await run('linger')
    expect(bench.calls.of('log')).toHaveLength(20)
    expect(bench.calls.of('progress')).toHaveLength(20)
  })

  test('without ever pausing is thinned out, and its last word kept', async () => {
    start('tasks')
    expect(await run('flood')).toMatchObject({ op: 'complete', output: '"flooded"' })
    const told = bench.calls.of('progress')
    expect(told.at(-1)).toMatchObject({ fraction: 1 })
    expect(told.length).toBeLessThan(2_000)
  })

  test('heartbeat() and checkpoint() that nobody awaits, of a fenced run, do not end it', async () => {
    start('tasks')
    for (const op of ['heartbeat', 'checkpoint'] as const) bench.calls.answer(op, () => new StaleRunError('gone'))
    const first = await run('where')
    expect(await run('beat')).toMatchObject({ op: 'complete', output: '"alive"' })
    expect(await run('where')).toMatchObject({ output: (first as { output: string }).output })
  })
})

describe('runs that wait for a thread', () => {
  test('are given back unstarted by a stop; the one that runs gets its time', async () => {
    start('tasks')
    bench.grant({ seq: 901, data: '"listen"' })
    await bench.calls.heard('log')
    for (const seq of [902, 903]) bench.grant({ seq, data: '"where"' })
    const stopping = bench.worker.stop({ timeout: '10s' })
    await quiet()
    expect(bench.calls.outcomes).toEqual([902, 903].map((seq) => ({ op: 'giveBack', seq, run: 1 })))
    await bench.clock.advance(10_000)
    expect(await outcomeOf(901)).toEqual({ op: 'giveBack', seq: 901, run: 1, started: true })
    await stopping
    expect(Atomics.load(counters, STARTS)).toBe(1)
  })

  test('and are lost, or cancelled, never start', async () => {
    start('tasks')
    bench.grant({ seq: 901, data: '"listen"' })
    await bench.calls.heard('log')
    for (const seq of [902, 903]) bench.grant({ seq, data: '"where"' })
    const { session } = bench.worker
    bench.worker.notice({ kind: 'lost', session, seq: 902, run: 1 })
    bench.worker.notice({ kind: 'abort', cause: 'cancel', session, seq: 903, run: 1 })
    expect(await outcomeOf(903)).toMatchObject({ op: 'fail', error: { name: 'JobCancelledError' } })
    bench.worker.notice({ kind: 'abort', cause: 'cancel', session, seq: 901, run: 1 })
    expect(await outcomeOf(901)).toMatchObject({ op: 'complete', output: '"JOB_CANCELLED"' })
    expect(await run('echo')).toMatchObject({ op: 'complete' })
    expect(Atomics.load(counters, STARTS)).toBe(2)
  })

  test('and are cancelled between their turn and their start leave the thread to the next', async () => {
    start('tasks')
    bench.grant({ seq: 901, data: '"where"' })
    bench.worker.notice({ kind: 'abort', cause: 'cancel', session: bench.worker.session, seq: 901, run: 1 })
    expect(await outcomeOf(901)).toMatchObject({ op: 'fail', error: { name: 'JobCancelledError' } })
    expect(await run('echo')).toMatchObject({ op: 'complete', output: '"echo"' })
    expect(Atomics.load(counters, STARTS)).toBe(1)
  })

  test('and come late, because their schema took its time, are given back as well', async () => {
    const checked: ((result: { value: number }) => void)[] = []
    const validate = () => new Promise<{ value: number }>((resolve) => void checked.push(resolve))
    const schema: StandardSchemaV1<number> = { '~standard': { version: 1, vendor: 'test', validate } }
    bench = workbench(defineJob({ name: 'a', schema }).thread(moduleAt('tasks'), { threads: 1 }))
    bench.grant({ seq: 901, data: '1' })
    const stopping = bench.worker.stop({ timeout: '10s' })
    checked[0]?.({ value: 1 })
    expect(await outcomeOf(901)).toEqual({ op: 'giveBack', seq: 901, run: 1 })
    await stopping
    expect(Atomics.load(counters, STARTS)).toBe(0)
  })
})

describe('a run that is told to stop', () => {
  test('by its worker is given back when the step that runs has ended', async () => {
    start('tasks')
    bench.calls.hold('step')
    bench.grant({ seq: 901, data: '"steps"' })
    await bench.calls.heard('step')
    const stopping = bench.worker.stop({ timeout: '10s' })
    bench.calls.settle('step')
    expect(await outcomeOf(901)).toEqual({ op: 'giveBack', seq: 901, run: 1, started: true })
    expect(bench.calls.of('step')).toMatchObject([{ name: 'first', number: 1, asked: 1, value: '1' }])
    await stopping
  })

  test.for([
    ['timeout', 'JOB_TIMEOUT'],
    ['cancel', 'JOB_CANCELLED'],
  ] as const)('%s: its signal there says why', async ([cause, code]) => {
    start('tasks')
    bench.grant({ seq: 901, data: '"listen"' })
    await bench.calls.heard('log')
    bench.worker.notice({ kind: 'abort', cause, session: bench.worker.session, seq: 901, run: 1 })
    expect(await outcomeOf(901)).toMatchObject({ op: 'complete', output: JSON.stringify(code) })
  })

  test('and spins on is killed when its grace ends; what it said is kept, and the pool goes on', async () => {
    start('tasks')
    bench.grant({ seq: 901, data: '"spin"' })
    await bench.calls.heard('log')
    bench.worker.notice({ kind: 'abort', cause: 'timeout', session: bench.worker.session, seq: 901, run: 1 })
    await bench.clock.advance(4_999)
    expect(bench.calls.outcomes).toEqual([])
    await bench.clock.advance(1)
    expect(await outcomeOf(901)).toMatchObject({ op: 'fail', error: { name: 'JobTimeoutError' } })
    expect(await run('echo')).toMatchObject({ op: 'complete', output: '"echo"' })
    expect([bench.worker.zombies, Atomics.load(counters, SETUPS)]).toEqual([0, 2])
  })

  test('because its worker stops is given back as one that has begun, even if it has to be killed', async () => {
    start('tasks')
    bench.grant({ seq: 901, data: '"spin"' })
    await bench.calls.heard('log')
    const stopping = bench.worker.stop({ timeout: 0 })
    await bench.clock.advance(5_000)
    expect(await outcomeOf(901)).toEqual({ op: 'giveBack', seq: 901, run: 1, started: true })
    await stopping
  })

  test('because it is lost is killed at once, and its thread is free for others', async () => {
    start('tasks')
    bench.grant({ seq: 901, data: '"spin"' })
    await bench.calls.heard('log')
    bench.calls.answer('fail', () => new CommitUnknownError())
    bench.worker.notice({ kind: 'lost', session: bench.worker.session, seq: 901, run: 1 })
    expect(await run('echo')).toMatchObject({ op: 'complete' })
    await bench.clock.advance(1_000)
    expect(bench.calls.of('fail')).toHaveLength(1)
    expect(bench.worker.running).toBe(0)
  })
})

describe('modules', () => {
  test('sandbox-init-failure-evicts-child: one whose first load failed works once the cause is gone', async () => {
    start('loading')
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await run(1)).toMatchObject({ op: 'fail', error: { name: 'Error', message: 'not yet' } })
    Atomics.store(counters, LOADABLE, 1)
    expect(await run(1)).toMatchObject({ op: 'complete', output: '"loaded"' })
  })

  test('one without a handler fails its jobs with the reason', async () => {
    start('empty')
    expect(await run(1)).toMatchObject({
      op: 'fail',
      error: { name: 'TypeError', message: expect.stringMatching(/empty\.ts exports no function named 'handler'/) },
    })
  })

  test('of several handlers with the same options share their threads', async () => {
    const b = defineJob({ name: 'b' })
    bench = workbench([a, b].map((job) => job.thread(moduleAt('tasks'), { threads: 1 })))
    expect(await run('where', { name: 'a' })).toMatchObject({ output: ((await run('where', { name: 'b' })) as { output: string }).output })
  })

  test('set up and tear down once per thread that ran them', async () => {
    start('tasks', { threads: 3 })
    await Promise.all(Array.from({ length: 30 }, () => run('where')))
    await bench.worker.stop()
    const setups = Atomics.load(counters, SETUPS)
    expect(setups).toBeGreaterThan(0)
    expect(Atomics.load(counters, TEARDOWNS)).toBe(setups)
  })

  test('a teardown that hangs holds up a stop for 5 s, not for ever', async () => {
    start('hanging')
    await run(1)
    let stopped = false
    const stopping = bench.worker.stop().then(() => {
      stopped = true
    })
    await bench.calls.heard('leave')
    await quiet()
    expect(stopped).toBe(false)
    await bench.clock.advance(5_000)
    await stopping
    expect(bench.clock.timers).toBe(0)
  })
})

describe('threads', () => {
  test('that end by themselves between runs are replaced', async () => {
    start('tasks')
    expect(await run('exitLater')).toMatchObject({ op: 'complete' })
    Atomics.store(counters, MAY_EXIT, 1)
    Atomics.notify(counters, MAY_EXIT)
    const outcome = await run('echo')
    // It may have met the thread before its end was heard of: that run fails, and is tried again.
    if (outcome.op === 'fail') expect(await run('echo')).toMatchObject({ op: 'complete' })
    else expect(outcome).toMatchObject({ op: 'complete' })
  })

  test('get what their options say', async () => {
    start('tasks', { threads: 1, env: { MILLRACE_TEST: 'here' } })
    expect(await run('env')).toMatchObject({ output: '"here"' })
  })

  test('that cannot be started fail the jobs with the reason, and do not hold up a stop', async () => {
    start('tasks', { threads: 1, execArgv: ['--no-such-flag'] })
    expect(await run('echo')).toMatchObject({ op: 'fail', error: { message: expect.stringContaining('--no-such-flag') } })
    await bench.worker.stop()
  })

  test('may send messages of their own: none is taken for the outcome of a run, and none reaches the process', async () => {
    start('talkative')
    for (let round = 0; round < 2; round++) expect(await run({})).toMatchObject({ op: 'complete', output: '"the outcome"' })
  })

  test('data that cannot go there fails its job, and leaves the thread as it is', async () => {
    const schema: StandardSchemaV1<number, () => void> = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ value: () => {} }) },
    }
    const b = defineJob({ name: 'b', schema })
    bench = workbench([a.thread(moduleAt('tasks'), { threads: 1 }), b.thread(moduleAt('tasks'), { threads: 1 })])
    expect(await run(1, { name: 'b' })).toMatchObject({ op: 'fail', error: { name: 'DataCloneError' } })
    expect(await run('echo', { name: 'a' })).toMatchObject({ op: 'complete' })
  })
})
