// What QueueCTL and tinybus offer, walked through as their users would: rows Q1, Q3, Q4, Q5, T4 and T5.
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { HANDLERS, Place } from './millrace.ts'

const LONG = 300_000

test('Q1: enqueue, list by state, status, a worker, dlq, and JSON of each', { timeout: LONG }, async () => {
  const place = new Place()
  const id = (await place.ok('enqueue', 'echo', '{"to":"ada"}')).trim()
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  const failing = (await place.okJson('enqueue', 'fail', '--max-attempts', '1'))['id']

  expect(await place.ok('jobs', 'list', '--state', 'waiting')).toMatch(/^ID +NAME +QUEUE +STATE +ATTEMPT +SINCE\n/)
  expect(await place.okJson('jobs', 'list', '--state', 'waiting')).toMatchObject({
    jobs: [{ id: failing }, { id, data: { to: 'ada' } }],
    next: null,
  })
  expect(await place.ok('status')).toMatch(/jobs +0 scheduled, 2 waiting/)
  expect(await place.okJson('status')).toMatchObject({ target: place.file, states: { waiting: 2 }, workers: [] })

  const worker = place.start('worker', 'start', '-c', '4', '--handlers', HANDLERS, '--id', 'w1')
  await worker.said(/^w1 is ready: gate, echo, fail/)
  expect(await place.ok('workers', 'list')).toMatch(
    /^w1 +\d+ +\S+ +idle +just now +0\/4 +- +\S+ +\S+ \S+ +inline +\S+ +all +gate, echo, fail$/m,
  )
  expect(await place.okJson('enqueue', 'echo', '{"last":true}', '--wait')).toMatchObject({ output: { last: true } })
  expect(await place.okJson('dlq', 'list')).toMatchObject({
    jobs: [{ id: failing, state: 'failed', lastError: { name: 'Error', message: 'no such luck' } }],
  })
  expect(await place.ok('dlq', 'retry', '--yes')).toBe('1 job retried\n')
  expect(await place.ok('worker', 'stop', '--all')).toMatch(/^w1 \(process \d+\) stopped\n$/)
  expect(await worker.ended).toMatchObject({ code: 0 })
  // It failed again, or waits to: either way it is there, and says so.
  expect(await place.okJson('jobs', 'show', String(failing))).toMatchObject({ id: failing, name: 'fail' })
})

test('Q3: a detached worker outlives whoever started it, and is listed with pid and host', { timeout: LONG }, async () => {
  const place = new Place()
  // The shell that starts it is gone by the time that it is asked for.
  const { id, pid, log } = (await place.okJson('worker', 'start', '--handlers', HANDLERS, '-c', '2', '--detach')) as {
    id: string
    pid: number
    log: string
  }
  try {
    expect(await place.okJson('workers', 'list')).toMatchObject({
      workers: [
        {
          id,
          pid,
          host: hostname(),
          maxConcurrency: 2,
          names: ['gate', 'echo', 'fail'],
          draining: false,
          away: false,
          lastSeenAt: expect.any(String),
        },
      ],
    })
    expect(await place.ok('workers', 'list')).toMatch(/^ID +PID +HOST +STATE +SEEN +RUNS.*\n.* idle +just now +0\/2 /)
    expect(await place.okJson('enqueue', 'echo', '7', '--wait')).toMatchObject({ output: 7 })
    expect(log.startsWith(place.folder)).toBe(true)
    expect(await place.ok('worker', 'stop', id)).toBe(`${id} (process ${pid}) stopped\n`)
    expect((await place.run('worker', 'stop', id)).code).toBe(3)
    expect(await place.okJson('workers', 'list')).toEqual({ workers: [] })
  } finally {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // As it is to be.
    }
  }
})

test('a second worker of one name is refused, detached or not, and worker stop --all reaches every worker', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'nobody')
  try {
    const begin = (...args: readonly string[]) => place.run('worker', 'start', '--handlers', HANDLERS, ...args)
    const first = await place.okJson('worker', 'start', '--handlers', HANDLERS, '--id', 'box', '--detach')
    for (const args of [['--detach'], []])
      expect(await begin('--id', 'box', ...args)).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(new RegExp(`box runs already on this machine, as process ${first['pid']}.*\\(WORKER_EXISTS\\)`)),
      })
    const second = await place.okJson('worker', 'start', '--handlers', HANDLERS, '--id', 'box-2', '--detach')
    const stopped = await place.ok('worker', 'stop', '--all')
    for (const { pid } of [first, second]) expect(stopped).toContain(`process ${pid}`)
    expect(await place.okJson('worker', 'start', '--handlers', HANDLERS, '--id', 'box', '--detach')).toMatchObject({ id: 'box' })
  } finally {
    await place.run('worker', 'stop', '--all')
  }
})

test('Q4: told to stop, a worker finishes the job that runs, takes no other, and ends well', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.start('worker', 'start', '-c', '1', '--handlers', HANDLERS, '--id', 'w4')
  await worker.said(/is ready/)
  const gate = (await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('open') }))).trim()
  await place.made('begun')
  const other = (await place.ok('enqueue', 'echo', '1')).trim()

  expect(await place.ok('worker', 'stop', 'w4', '--no-wait')).toMatch(/^w4 \(process \d+\) draining\n$/)
  // By the engine's list; a worker that has been told is not told twice, which would end it.
  const busy = await place.run('workers', 'drain', 'w4', '--timeout', '1ms')
  expect(busy).toMatchObject({ code: 5, stdout: expect.stringMatching(/^w4 \(process \d+\) draining\n$/) })
  expect(busy.stderr).toMatch(/still runs jobs.*\(DRAIN_INCOMPLETE\)/)
  writeFileSync(place.path('open'), '')
  expect((await worker.ended).code).toBe(0)
  expect((await place.run('workers', 'drain', 'w4')).code).toBe(3)
  expect(await place.okJson('jobs', 'show', gate)).toMatchObject({ state: 'completed', output: 'opened', attempt: 1 })
  expect(await place.okJson('jobs', 'show', other)).toMatchObject({ state: 'waiting', attempt: 0 })
})

test('Q5: backoff of base^attempts, dead after the last, and brought back by hand', { timeout: LONG }, async () => {
  const place = new Place()
  const worker = place.startHere('worker', 'start', '--handlers', HANDLERS)
  await worker.said(/is ready/)
  const id = (await place.ok('enqueue', 'fail', '--max-attempts', '3', '--backoff', 'exponential:10ms:2')).trim()
  const failed = place.startHere('events', '-f', '--after', '0', '--type', 'failed', '--job-id', id, '--limit', '1', '--json')
  const dead = JSON.parse(await failed.said(/"failed"/))
  expect(dead).toMatchObject({ type: 'failed', jobId: id, attempt: 3, error: 'Error' })
  const job = await place.okJson('jobs', 'show', id)
  expect(job).toMatchObject({ state: 'failed', attempt: 3, maxAttempts: 3, backoff: { type: 'exponential', delay: 10, factor: 2 } })
  const attempts = job['attempts'] as { startedAt: string; endedAt: string }[]
  expect(attempts).toHaveLength(3)
  const waits = attempts.slice(1).map(({ startedAt }, index) => Date.parse(startedAt) - Date.parse(attempts[index]?.endedAt as string))
  expect(waits[0]).toBeGreaterThanOrEqual(10)
  expect(waits[1]).toBeGreaterThanOrEqual(20)

  expect(await place.ok('dlq', 'retry', id)).toBe('1 job retried\n')
  const again = place.startHere('events', '-f', '--after', String(dead.seq), '--type', 'failed', '--job-id', id, '--limit', '1', '--json')
  expect(JSON.parse(await again.said(/"failed"/))).toMatchObject({ attempt: 3 })
  expect(await place.ok('dlq', 'purge', '--yes')).toBe('1 failed job removed\n')
  expect((await place.run('jobs', 'show', id)).code).toBe(3)
  worker.signal('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})

test('T4: run-in, run-at, max attempts; a worker with its concurrency and leases', { timeout: LONG }, async () => {
  const place = new Place()
  const soon = (await place.ok('enqueue', 'echo', '1', '--delay', '1h', '--max-attempts', '7', '--heartbeat-timeout', '30s')).trim()
  const then = (
    await place.ok('enqueue', 'echo', '2', '--run-at', '2040-01-02T03:04:05Z', '--priority', '-3', '--tag', 'a', '--tag', 'b')
  ).trim()
  expect(await place.okJson('jobs', 'show', soon)).toMatchObject({ state: 'scheduled', maxAttempts: 7, heartbeatTimeout: 30_000 })
  expect(await place.okJson('jobs', 'show', then)).toMatchObject({ runAt: '2040-01-02T03:04:05.000Z', priority: -3, tags: ['a', 'b'] })
  expect(await place.ok('jobs', 'run', then)).toBe(`${then} due\n`)
  const worker = place.startHere('worker', 'start', '--handlers', HANDLERS, '-c', '3', '--queues', 'default,other')
  await worker.said(/is ready/)
  expect(await place.okJson('workers', 'list')).toMatchObject({ workers: [{ maxConcurrency: 3, queues: ['default', 'other'] }] })
  await place.ok('jobs', 'logs', '-f', then)
  expect(await place.okJson('jobs', 'show', then)).toMatchObject({ state: 'completed', output: 2 })
  worker.signal('SIGINT')
  expect((await worker.ended).code).toBe(0)
})

test('T5: a demo producer, and a demo worker that fails all, some or none', { timeout: LONG }, async () => {
  const place = new Place()
  expect(await place.okJson('demo', 'producer', '--rate', '1000', '--count', '20')).toMatchObject({ created: 20 })
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 20 }, totals: { enqueued: 20 } })
  expect(await place.okJson('demo', 'producer', '--rate', '0.5', '--count', '1', '--file', place.path('slow.db'))).toMatchObject({
    created: 1,
  })
  expect(await place.run('demo', 'producer', '--rate', '0')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('between 0.001 and'),
  })
  const failing = place.startHere('demo', 'worker', '--fail-percent', '100', '--work', '0', '--json')
  // `ready`, and a line for each run.
  await failing.saidLines(21)
  failing.signal('SIGTERM')
  expect((await failing.ended).code).toBe(0)
  const runs = failing.lines.slice(1, 21).map((line) => JSON.parse(line))
  for (const run of runs)
    expect(run).toMatchObject({ event: 'run', name: 'demo', outcome: 'failed', error: { message: expect.stringContaining('100 %') } })
  expect(await place.okJson('stats')).toMatchObject({ totals: { completed: 0 } })
  await place.ok('jobs', 'retry', '--all', '--yes')
  const working = place.startHere('demo', 'worker', '--work', '1ms', '--json')
  await working.saidLines(21)
  working.signal('SIGTERM')
  expect((await working.ended).code).toBe(0)
  expect(await place.okJson('stats')).toMatchObject({ states: { completed: 20 } })
  expect((await place.run('demo', 'worker', '--fail-percent', '101')).stderr).toMatch(
    /^millrace: --fail-percent: .*between 0 and 100, got 101 \(OPTION_RANGE\)/,
  )
})
