/** Handlers in child processes: the same context as in threads, and a process that dies takes its own run alone. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Grant } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { afterEach, describe, expect, test } from 'vitest'
import { defineJob } from '../define.ts'
import { stop, type Workbench, workbench } from '../testing/workbench.ts'

const moduleAt = (name: string) => new URL(`../testing/modules/${name}.ts`, import.meta.url)
const a = defineJob({ name: 'a' })
const SLOW = { timeout: 60_000 }

let bench: Workbench

afterEach(() => stop(bench, { timeout: 0 }))

function start(options: Parameters<typeof a.childProcess>[1] = { processes: 1 }): Workbench {
  bench = workbench(a.childProcess(moduleAt('processTasks'), options), { abortGrace: '5s' })
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

async function where(): Promise<{ readonly pid: number; readonly setups: number; readonly limit?: string }> {
  const outcome = await run('where')
  return JSON.parse((outcome as { readonly output: string }).output)
}

/** True until the process has been reaped. */
function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a run in a child process', SLOW, () => {
  test('is in another process, which stays for the next one and is set up once', async () => {
    start()
    const [first, second] = [await where(), await where()]
    expect(first).toEqual(second)
    expect(first).toMatchObject({ setups: 1 })
    expect(first.pid).not.toBe(process.pid)
    await bench.worker.stop()
    expect(lives(first.pid)).toBe(false)
  })

  test('has the whole context: progress, log, heartbeat, checkpoint, enqueue, snooze, and errors with their names', async () => {
    start()
    expect(await run('tell', { checkpoint: '"before"' })).toMatchObject({ op: 'complete', output: '"told"', enqueues: [{ name: 'child' }] })
    expect(bench.calls.of('progress')).toMatchObject([{ fraction: 0.5, note: 'half' }])
    expect(bench.calls.of('log')).toMatchObject([{ lines: [{ message: 'from the process', fields: '{"attempt":1}' }] }])
    expect(bench.calls.of('heartbeat')).toHaveLength(1)
    expect(bench.calls.of('checkpoint')).toMatchObject([{ value: '{"seen":"before"}' }])
    expect(await run('snooze')).toMatchObject({ op: 'snooze', delay: 3_600_000 })
    expect(await run('join')).toMatchObject({ op: 'join', name: 'pages', jobs: [{ name: 'page', data: '1' }] })
    const page = { seq: 9, node: 1, enqueuedAt: 0, ref: 'pages/0', state: 'completed' as const, output: null }
    bench.calls.answer('parents', () => ({ parents: [page], next: null }))
    expect(await run('join', { joined: [{ name: 'pages', place: 1, jobs: 1 }] })).toMatchObject({ op: 'complete', output: '"pages/0"' })
    expect(await run('throw')).toMatchObject({ op: 'fail', error: { name: 'TypeError', message: 'not this one' } })
    // What comes late is no word of the next run.
    expect(await run('late')).toMatchObject({ op: 'complete' })
    expect(await run({ some: 'data' })).toMatchObject({ op: 'complete', output: '{"some":"data"}' })
  })

  test('hears of its abort', async () => {
    start()
    bench.grant({ seq: 901, data: '"listen"' })
    await bench.calls.heard('log')
    bench.worker.notice({ kind: 'abort', cause: 'cancel', session: bench.worker.session, seq: 901, run: 1 })
    expect(await outcomeOf(901)).toMatchObject({ op: 'complete', output: '"JOB_CANCELLED"' })
  })

  test('that ignores its abort is killed when the grace ends, and the next one has a new process', async () => {
    start()
    const { pid } = await where()
    bench.grant({ seq: 901, data: '"spin"' })
    await bench.calls.heard('log')
    bench.worker.notice({ kind: 'abort', cause: 'timeout', session: bench.worker.session, seq: 901, run: 1 })
    await bench.clock.advance(4_999)
    expect(bench.calls.outcomes.filter((command) => 'seq' in command && command.seq === 901)).toEqual([])
    await bench.clock.advance(1)
    expect(await outcomeOf(901)).toMatchObject({ op: 'fail', error: { name: 'JobTimeoutError' } })
    const next = await where()
    expect([next.pid === pid, next.setups, bench.worker.zombies]).toEqual([false, 1, 0])
  })

  test('goes on when a terminal or a service interrupts all processes at once', async () => {
    start()
    expect(await run('interrupt')).toMatchObject({ op: 'complete', output: '"still here"' })
  })
})

describe('a process that dies', SLOW, () => {
  test.each([
    ['exit', '3', 'exited with code 3 before the run had ended'],
    ['die', 'SIGKILL', 'was ended by SIGKILL before the run had ended: the system may be short of memory'],
  ])('by %s fails its run with a typed error, and no other', async (how, code, message) => {
    start({ processes: 2 })
    bench.grant({ seq: 901, data: '"listen"' })
    await bench.calls.heard('log')
    expect(await run(how)).toMatchObject({
      op: 'fail',
      error: { name: 'ChildProcessError', code, message: expect.stringContaining(message) },
    })
    expect(await run('here')).toMatchObject({ op: 'complete' })
    bench.worker.notice({ kind: 'abort', cause: 'cancel', session: bench.worker.session, seq: 901, run: 1 })
    expect(await outcomeOf(901)).toMatchObject({ op: 'complete' })
  })

  test('has said its last words', async () => {
    start()
    await run('exit')
    expect(bench.calls.of('log')).toMatchObject([{ lines: [{ message: 'last words' }] }])
  })

  test('of an error that nobody caught fails its run with that error', async () => {
    start()
    expect(await run('uncaught')).toMatchObject({ op: 'fail', error: { name: 'RangeError', message: 'nobody catches this' } })
    expect(await run('here')).toMatchObject({ op: 'complete' })
  })

  test('of a full heap fails its run, and says so', async () => {
    start({ processes: 1, memoryLimit: 32 })
    expect((await where()).limit).toBe('--max-old-space-size=32')
    expect(await run('hoard')).toMatchObject({
      op: 'fail',
      error: { name: 'ChildProcessError', message: expect.stringContaining('with a memoryLimit of 32 MiB') },
    })
    expect(await run('here')).toMatchObject({ op: 'complete' })
  })

  test('because its module cannot be loaded fails its run with the reason', async () => {
    bench = workbench(a.childProcess(moduleAt('nowhere'), { processes: 1 }))
    expect(await run(1)).toMatchObject({ op: 'fail', error: { message: expect.stringContaining('nowhere.ts') } })
    await bench.worker.stop()
  })

  test('because it cannot be started fails its run, and does not hold up a stop', async () => {
    start({ processes: 1, execArgv: ['--no-such-flag'] })
    expect(await run(1)).toMatchObject({ op: 'fail', error: { name: 'ChildProcessError', code: '9' } })
    await bench.worker.stop()
  })
})

describe('a pool of processes', SLOW, () => {
  test('runs as many jobs as it has processes, and tears each down once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-processes-'))
    try {
      const file = join(folder, 'torn')
      start({ processes: 2, env: { ...(process.env as Record<string, string>), MILLRACE_TEST: 'here', MILLRACE_TEST_TEARDOWN: file } })
      for (const seq of [901, 902, 903]) bench.grant({ seq, data: '"listen"' })
      await bench.calls.heard('log', 2)
      const { session } = bench.worker
      for (const seq of [901, 902, 903]) bench.worker.notice({ kind: 'abort', cause: 'cancel', session, seq, run: 1 })
      expect(await outcomeOf(903)).toMatchObject({ op: 'fail', error: { name: 'JobCancelledError' } })
      expect([await outcomeOf(901), await outcomeOf(902)]).toMatchObject([{ op: 'complete' }, { op: 'complete' }])
      expect(await run('env')).toMatchObject({ output: '"here"' })
      await bench.worker.stop()
      const torn = readFileSync(file, 'utf8').trim().split('\n').map(Number)
      expect(new Set(torn).size).toBe(2)
      expect(torn.filter(lives)).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('introduces itself as such, beside the threads of the same module', async () => {
    start()
    bench.worker.attach()
    await bench.worker.ready
    expect(bench.calls.of('attach')).toMatchObject([{ session: { pooled: true, isolated: true } }])
    expect(a.thread(moduleAt('echo')).key).not.toBe(a.childProcess(moduleAt('echo')).key)
  })

  test('refuses data that cannot be sent, and stays as it is', async () => {
    const schema: StandardSchemaV1<number, () => void> = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ value: () => {} }) },
    }
    const b = defineJob({ name: 'b', schema })
    const pool = { processes: 1 }
    bench = workbench([a.childProcess(moduleAt('processTasks'), pool), b.childProcess(moduleAt('processTasks'), pool)])
    const { pid } = await where()
    expect(await run(1, { name: 'b' })).toMatchObject({ op: 'fail', error: { message: expect.stringContaining('could not be cloned') } })
    expect((await where()).pid).toBe(pid)
  })
})

test.each([
  ['processes', { processes: 0 }],
  ['processes', { processes: 129 }],
  ['memoryLimit', { memoryLimit: 15 }],
  ['prefetch', { prefetch: -1 }],
  ['env', { env: { A: 1 } }],
  ['execArgv', { execArgv: '--expose-gc' }],
  ['threads', { threads: 2 }],
])('a wrong option is refused: %s', (option, options) => {
  bench = workbench(a.handler(() => {}))
  expect(() => a.childProcess(moduleAt('echo'), options as never)).toThrow(expect.objectContaining({ option }))
  expect(() => a.childProcess('https://example.com/a.js')).toThrow(/childProcess takes the URL of a module/)
})
