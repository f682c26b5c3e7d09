// The client in another language, written from docs/protocol.md: beside the vectors, and beside a real engine over real sockets.
import { join } from 'node:path'
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { connect, type ListenOptions, listen, type RemoteServer } from '@millrace/remote'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { sampled } from '../../packages/testkit/src/testing/runs.ts'
import { startDaemon } from '../app/daemon.ts'
import type { Program } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { CLIENT, HAS_PYTHON, startPython as program, runPython, startPythonUntil } from './python.ts'

/** The parts of all mistakes that are made. */
const MISTAKES = sampled([0, 1, 2, 3])
const WATCHED = { timeout: '1h', heartbeatTimeout: '1s' } as const
const TOKEN = 'a token for the tests of python'

beforeEach(({ skip }) => {
  if (!HAS_PYTHON) skip('no python3 of 3.8 or newer on this machine')
})

async function engineOf(options: { readonly maxDataBytes?: number } = {}): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:', ...options })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

async function serve(engine: Engine, url = `unix:${join(temporaryFolder(), 'sock')}`, options?: ListenOptions) {
  const server = await listen(engine, url, options)
  onTestFinished(() => server.close())
  return server
}

/** An engine, its server, and a worker in Python. */
async function working(name = 'py') {
  const engine = await engineOf()
  const server = await serve(engine)
  const worker = program('worker', server.url, name)
  return { engine, server, worker }
}

/** One engine with one worker in Python, for tests that need no other. */
const ends: (() => void)[] = []
let shared: Promise<{ readonly engine: Engine; readonly server: RemoteServer; readonly worker: Program }> | undefined

function together() {
  shared ??= (async () => {
    const engine = await openEngine({ file: ':memory:' })
    const server = await listen(engine, 'tcp://127.0.0.1:0')
    const worker = startPythonUntil((end) => ends.push(end), 'worker', server.url, 'py')
    return { engine, server, worker }
  })()
  return shared
}

afterAll(async () => {
  const opened = await shared
  for (const end of ends) end()
  await opened?.worker.ended
  await opened?.server.close()
  await opened?.engine.stop({ timeout: 0 })
})

test('the vectors: byte by byte', () => {
  const { status, stderr } = runPython('python3', ['-S', '-m', 'unittest', 'discover', '.'])
  expect(stderr).toMatch(/Ran \d+ tests[\s\S]*OK/)
  expect(status).toBe(0)
})

test('E16: a worker in Python: data, bytes, tags and meta come as they were, and so does what it answers', async () => {
  const { engine } = await together()
  const handle = await engine.enqueue('upper', { text: 'grüße 😀\0' }, { tags: ['t'], meta: { by: 'x' } })
  expect(await handle.result()).toEqual({ text: 'GRÜSSE 😀\0', by: 'py', meta: { by: 'x' }, tags: ['t'] })
  expect(await (await engine.enqueue('reverse', new Uint8Array([1, 2, 255]))).result()).toEqual(new Uint8Array([255, 2, 1]))
  expect(await engine.workers()).toMatchObject([
    { id: 'py', maxConcurrency: 8, kind: 'foreign', version: expect.stringMatching(/^millrace-python \d+\.\d+\.\d+$/) },
  ])
})

test('a worker in Python: what fails, what is tried again, what is put off', async () => {
  const { engine } = await together()
  const broken = await engine.enqueue('broken', null, { maxAttempts: 1 })
  await expect(broken.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'ValueError', message: 'no such thing: ä' } })
  const hopeless = await engine.enqueue('hopeless', null, { maxAttempts: 9 })
  await expect(hopeless.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'Fail', message: 'never' } })
  expect(await engine.get(hopeless.id)).toMatchObject({ attempt: 1 })
  expect(await (await engine.enqueue('third')).result()).toBe(3)
  expect(await (await engine.enqueue('later')).result()).toEqual([2, 1])
})

test('a worker in Python: a value that no server takes fails the run that says it, and no other', async () => {
  const { engine, worker } = await together()
  const bystander = await engine.enqueue('asked')
  await worker.said(/^asked 1$/)
  const causes = {
    fraction: /progress must be between 0 and 1/,
    level: /level must be one of debug, info/,
    snooze: /delay must be 0 or more/,
    text: /delay must be a number, got '5'/,
    retry: /after must be 0 or more/,
    careless: /cannot be read/,
    'careless snooze': /delay_ms/,
    output: /not JSON serializable/,
  }
  for (const [data, cause] of Object.entries(causes)) {
    const handle = await engine.enqueue('wrong', data, { maxAttempts: data === 'output' ? 9 : 1 })
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { message: expect.stringMatching(cause) } })
    const [attempt] = (await engine.get(handle.id))?.attempts ?? []
    expect(attempt?.logs).toMatchObject([{ message: "{'no': 'string'}", fields: { unreadable: expect.anything() } }])
  }
  worker.child.stdin.write('undisturbed\n')
  expect(await bystander.result()).toBe('undisturbed')
})

test('a worker in Python: more than the engine stores is refused, and so the run fails for good', async () => {
  const engine = await engineOf({ maxDataBytes: 1_000 })
  const { url } = await serve(engine)
  program('worker', url, 'py')
  expect(await (await engine.enqueue('much', ['output', 998])).result()).toBe('x'.repeat(998))
  for (const what of ['output', 'checkpoint']) {
    const handle = await engine.enqueue('much', [what, 999], { maxAttempts: what === 'output' ? 5 : 1 })
    const message = expect.stringMatching(new RegExp(`${what} .*at most 1000 are stored`))
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', attempt: 1, cause: { message } })
  }
})

test('a worker in Python: an output that no frame holds fails its run alone, and many large ones go in several frames after a break', async () => {
  const engine = await engineOf({ maxDataBytes: 16 * 2 ** 20 })
  const server = await serve(engine)
  const worker = program('worker', server.url, 'py')
  const sizes = [18 * 2 ** 20, ...Array.from({ length: 4 }, () => 5 * 2 ** 20)]
  const handles = await engine.enqueueMany(sizes.map((data) => ({ job: 'huge', data, options: { maxAttempts: 2 } })))
  for (const { id } of handles) await worker.said(new RegExp(`^huge ${id}$`))
  await server.close()
  worker.child.kill('SIGUSR1')
  await worker.said(/^told$/)
  await serve(engine, server.url)
  const [first, ...others] = handles.map((handle) => handle.result())
  await expect(first).rejects.toMatchObject({
    code: 'JOB_FAILED',
    attempt: 1,
    cause: { message: expect.stringContaining('output has 18874370 bytes') },
  })
  expect((await Promise.all(others)).map((output) => (output as string).length)).toEqual(sizes.slice(1))
})

test('a worker in Python: checkpoint, progress and log', async () => {
  const { engine } = await together()
  const handle = await engine.enqueue('pages')
  expect(await handle.result()).toEqual({ page: 1 })
  expect(await engine.get(handle.id)).toMatchObject({
    checkpoint: { page: 1 },
    progress: 0.5,
    progressValue: { rows: 7 },
    attempts: [{ error: { name: 'Retry' }, logs: [{ level: 'warn', message: 'begun', fields: { page: 1 } }] }, { run: 2 }],
  })
})

test('a worker in Python: a job joins others, holds no place while it waits, and reads their ends page by page', async () => {
  const { engine, worker } = await working('alone')
  const handle = await engine.enqueue('crawl', 300, { maxAttempts: 1 })
  const ends = Array.from({ length: 300 }, (_, number) => [`pages/${number}`, 'completed', number, null])
  ends[1] = ['pages/1', 'failed', null, 'ValueError']
  expect(await handle.result()).toEqual({ ends, again: [-1], attempt: 1, none: [] })
  expect(await engine.get(handle.id)).toMatchObject({ state: 'completed', attempt: 1, run: 3 })
  expect(worker.lines).toEqual(['crawl 1', 'crawl 2', 'crawl 3'])
})

test('a worker in Python: what a handler enqueues is created with its completion, once', async () => {
  const { engine } = await together()
  await (await engine.enqueue('spreads', 7)).result()
  const { jobs } = await engine.list({ tag: 'spread' })
  expect(jobs).toMatchObject([{ name: 'page', data: 7, queue: 'spread' }])
})

test('a worker in Python: a job of a flow reads what it has waited for', async () => {
  const { engine } = await together()
  const flow = await engine.flow([
    { ref: 'a', job: 'page', data: 0 },
    { ref: 'b', job: 'page', data: 2 },
    { ref: 'c', job: 'inherits', dependsOn: ['a', 'b'] },
  ])
  expect(await flow.jobs.c.result()).toEqual([0, 2])
})

test('a handler in Python remembers its steps through a sleep, a failure and a retry from a step', async () => {
  const { engine, worker } = await together()
  const handle = await engine.enqueue('order', 2, { maxAttempts: 1 })
  await expect.poll(async () => (await engine.get(handle.id))?.state).toBe('scheduled')
  expect(await engine.explain(handle.id)).toMatchObject({ causes: [{ code: 'sleep', of: 'nap' }] })
  await engine.runNow(handle.id)
  const cause = { name: 'StepFailedError', code: 'STEP_FAILED', cause: { name: 'ValueError', message: 'no way' } }
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', attempt: 1, cause })
  expect(await engine.steps(handle.id)).toMatchObject({
    steps: [
      { name: 'reserve', kind: 'step', run: 1, value: { of: 'reserve' } },
      { name: 'nap', kind: 'sleep' },
      { name: 'charge', run: 2 },
      { name: 'send', run: 2, error: { name: 'ValueError', message: 'no way' } },
    ],
    waits: [],
  })
  await engine.retry(handle.id, { from: 'charge' })
  expect(await handle.result()).toEqual([{ of: 'reserve' }, { of: 'charge' }, { of: 'send' }, true])
  const called = worker.lines.filter((line) => /^(reserve|charge|send) /.test(line))
  expect(called).toEqual(['reserve 1 1 True', 'charge 2 1 True', 'send 2 1 True', 'charge 3 1 True', 'send 3 1 True'])
})

test('a handler in Python waits for messages', async () => {
  const { engine } = await together()
  const handle = await engine.enqueue('approves')
  await expect.poll(async () => (await engine.explain(handle.id))?.causes).toMatchObject([{ code: 'message', of: 'decided' }])
  expect(await engine.send(handle.id, 'decided', { yes: true })).toBe('taken')
  await expect.poll(async () => (await engine.steps(handle.id)).waits).toMatchObject([{ name: 'again', message: 'decided' }])
  expect(await engine.send(handle.id, 'decided', 'late')).toBe('taken')
  expect(await handle.result()).toEqual([{ yes: true }, 'late', 3])
})

test('a handler in Python that asks for other steps than its job has recorded uses no attempt', async () => {
  const { engine, worker } = await together()
  const { id } = await engine.enqueue('misfits', null, { maxAttempts: 3 })
  await expect.poll(async () => (await engine.explain(id))?.causes[0]?.code, { timeout: 20_000 }).toBe('steps-changed')
  const error = { name: 'StepsChangedError', code: 'STEPS_CHANGED', message: expect.stringContaining("asks for 'of run 2'") }
  expect(await engine.get(id)).toMatchObject({ state: 'scheduled', attempts: [{ error: { name: 'Retry' } }, { run: 2, error }] })
  expect(worker.lines.filter((line) => line.startsWith('misfits'))).toEqual(['misfits 1'])
})

test('a worker in Python serves its queues in a strict order', async () => {
  const { engine, worker } = await working('ordered')
  const first = await engine.enqueue('asked')
  await worker.said(/^asked 1$/)
  const queues = ['low', 'default', 'urgent', 'low', 'urgent', 'default']
  const handles = await engine.enqueueMany(queues.map((queue) => ({ job: 'queue', options: { queue } })))
  expect(await engine.workers()).toMatchObject([{ order: 'strict', queues: ['urgent', 'default', 'low'] }])
  worker.child.stdin.write('go on\n')
  await first.result()
  await Promise.all(handles.map((handle) => handle.result()))
  expect(worker.lines.slice(1)).toEqual(['urgent', 'urgent', 'default', 'default', 'low', 'low'].map((name) => `queue ${name}`))
})

test('an id that a producer’s journal has made is the same in Python', async () => {
  const { server, worker } = await together()
  const producer = await connect(server.url, { journal: join(temporaryFolder(), 'journal') })
  onTestFinished(() => producer.stop({ timeout: 0 }))
  const handle = await producer.enqueue('long')
  await worker.said(new RegExp(`^long 1 ${handle.id}$`))
  expect(await producer.cancel(handle.id)).toBe('cancelling')
})

test('a thousand jobs, many at a time', async () => {
  const { engine } = await together()
  const handles = await engine.enqueueMany(Array.from({ length: 1_000 }, (_, index) => ({ job: 'upper', data: { text: `n${index}` } })))
  const results = await Promise.all(handles.map((handle) => handle.result()))
  expect(results.map((result) => (result as { text: string }).text)).toEqual(Array.from({ length: 1_000 }, (_, index) => `N${index}`))
})

test('a worker in Python: a job that is cancelled while it runs hears of it', async () => {
  const { engine, worker } = await working()
  const handle = await engine.enqueue('long')
  expect(await worker.said(/^long 1 /)).toBe(`long 1 ${handle.id}`)
  expect(await engine.cancel(handle.id)).toBe('cancelling')
  await worker.said(/^aborted 1 cancel$/)
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
})

test('a worker in Python that is stopped gives its job back, and leaves', async () => {
  const { engine, worker } = await working()
  const handle = await engine.enqueue('long')
  await worker.said(/^long 1 /)
  worker.child.kill('SIGTERM')
  await worker.said(/^aborted 1 stop$/)
  await worker.said(/^stopped$/)
  expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await engine.get(handle.id)).toMatchObject({ state: 'waiting', run: 1, attempt: 0 })
  expect(await engine.workers()).toEqual([])
})

test('a handler in Python that ignores its abort holds up neither other jobs nor the end of the process', async () => {
  const { engine, worker } = await working('alone')
  const stuck = await engine.enqueue('stuck', null, { maxAttempts: 1, timeout: 1 })
  await worker.said(/^stuck 1$/)
  const next = await engine.enqueue('upper', { text: 'a' }, { maxAttempts: 1 })
  await expect(stuck.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'JobTimeoutError' } })
  expect(await next.result()).toMatchObject({ text: 'A' })
  await engine.enqueue('stuck')
  await worker.saidLines(2)
  worker.child.kill('SIGTERM')
  await worker.said(/^stopped$/)
  expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
})

test('a worker in Python is told to stop through the engine', async () => {
  const { engine, worker } = await working()
  const handle = await engine.enqueue('long')
  await worker.said(/^long 1 /)
  const [{ id } = { id: '' }] = await engine.workers()
  await engine.stopWorker(id, { timeout: Number.POSITIVE_INFINITY })
  expect(await engine.workers()).toMatchObject([{ id, draining: true }])
  await engine.stopWorker(id, { timeout: 0 })
  await worker.said(/^aborted 1 stop$/)
  await worker.said(/^stopped$/)
  expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await engine.get(handle.id)).toMatchObject({ state: 'waiting', run: 1, attempt: 0 })
})

test('a server that goes and comes back: the worker in Python keeps its run', async () => {
  const { engine, server, worker } = await working()
  const handle = await engine.enqueue('asked')
  await worker.said(/^asked 1$/)
  await server.close()
  await serve(engine, server.url)
  worker.child.stdin.write('still there\n')
  expect(await handle.result()).toBe('still there')
  // What the session says of its handlers counts for jobs that say nothing themselves.
  expect(await engine.get(handle.id)).toMatchObject({ run: 1, attempt: 1 })
  expect(await engine.get((await engine.enqueue('asked')).id)).toMatchObject({ maxAttempts: 9, timeout: 3_600_000 })
})

test('a run that ends while the server is away is told when it is back', async () => {
  const { engine, server, worker } = await working()
  const handle = await engine.enqueue('asked')
  await worker.said(/^asked 1$/)
  await server.close()
  worker.child.stdin.write('meanwhile\n')
  const next = await serve(engine, server.url)
  expect(await handle.result()).toBe('meanwhile')
  // The same between a step and its row: the step is not called again.
  const remembers = await engine.enqueue('remembers')
  await worker.said(/^remembers 1$/)
  await next.close()
  worker.child.stdin.write('once\n')
  await serve(engine, server.url)
  expect(await remembers.result()).toEqual(['once', 1, 1])
  expect(worker.lines).toEqual(['asked 1', 'remembers 1'])
})

test('a worker in Python, killed: its job runs elsewhere when its lease is over', async () => {
  const { engine, server, worker } = await working('first')
  await engine.enqueue('long', null, WATCHED)
  await worker.said(/^long 1 /)
  const second = program('worker', server.url, 'second')
  await worker.kill()
  await second.said(/^long 2 /)
})

test('a worker in Python, stopped for longer than its lease, ends its run when it goes on', async () => {
  const { engine, server, worker } = await working('first')
  const handle = await engine.enqueue('long', null, WATCHED)
  await worker.said(/^long 1 /)
  const second = program('worker', server.url, 'second')
  worker.child.kill('SIGSTOP')
  await second.said(/^long 2 /)
  worker.child.kill('SIGCONT')
  await worker.said(/^aborted 1 lost$/)
  await engine.stats()
  expect(await engine.get(handle.id)).toMatchObject({ state: 'active', run: 2 })
})

test('over TCP with a token; without it the worker in Python is refused, and does not come back', async () => {
  const engine = await engineOf()
  const server = await serve(engine, 'tcp://127.0.0.1:0', { token: TOKEN })
  const refused = program('worker', server.url, 'wrong', 'not the token of this server')
  await refused.said(/^refused AUTH_FAILED$/)
  expect(await refused.ended).toMatchObject({ code: 0 })
  program('worker', server.url, 'right', TOKEN)
  expect(await (await engine.enqueue('upper', { text: 'a' })).result()).toMatchObject({ by: 'right' })
})

test('in the folder of a daemon the client finds its socket and its token, as the command line does', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const { sockets } = await daemon.serving
  const [url] = sockets as [string]
  const program = [
    'import json, millrace, os, sys',
    'for cwd, env in json.loads(sys.argv[1]):',
    '  os.chdir(cwd)',
    '  os.environ.update({"MILLRACE_URL": "", "MILLRACE_FILE": "", "MILLRACE_TOKEN": "", **env})',
    '  try:',
    '    with millrace.connect() as client: print(client.get(client.enqueue("a")).state)',
    '  except millrace.Error as error: print(error.code)',
  ].join('\n')
  const elsewhere = temporaryFolder()
  const said = [
    [folder, {}, 'waiting'],
    [elsewhere, { MILLRACE_FILE: join(folder, 'millrace.db') }, 'waiting'],
    [elsewhere, { MILLRACE_URL: url, MILLRACE_FILE: 'none.db' }, 'waiting'],
    [folder, { MILLRACE_TOKEN: 'not the token of this daemon' }, 'AUTH_FAILED'],
    [elsewhere, {}, 'CONNECT_FAILED'],
  ]
  const { stdout } = runPython('python3', ['-S', '-c', program, JSON.stringify(said.map(([cwd, env]) => [cwd, env]))], { path: CLIENT })
  expect(stdout.trimEnd().split('\n')).toEqual(said.map(([, , answer]) => answer))
})

test('a program in Python manages jobs, queues, flows and schedules', async () => {
  const engine = await engineOf()
  const { url } = await serve(engine)
  const fails = defineJob({ name: 'fails' }).handler(async () => Promise.reject(new RangeError('no')))
  const logs = defineJob({ name: 'logs' }).handler(async ({ log }) => {
    for (let line = 0; line < 3; line++) log('info', `line ${line}`, { line })
  })
  const walks = defineJob({ name: 'walks', maxAttempts: 1 }).handler(async ({ step }) => {
    await step('one', () => ({ n: 1 }))
    await step('two', () => Promise.reject(new RangeError('no')))
  })
  engine.work([fails, logs, walks])
  const manager = program('manager', url)
  expect(await manager.ended).toMatchObject({ code: 0, stderr: '' })
  const report = { spec: { cron: '0 3 * * *', timezone: 'Europe/Berlin', jitter: 60, overlap: 'skip', catch_up: 'latest' } }
  expect(manager.lines.map((line) => JSON.parse(line))).toEqual([
    { updated: [null, true, 7, [], { by: 'y' }, 1, 'To Ada'] },
    { due: 'waiting', cancelled: 'cancelled', by: 'ada' },
    { retried: 'waiting', finished: 'JOB_NOT_FOUND' },
    { deleted: null },
    { paused: true, redriven: [2, 1, 0] },
    { failed: ['JOB_FAILED', 'JOB_FAILED', 'JOB_FAILED'], resumed: false },
    { parts: [false, ['fails'], ['k'], 'fails', true] },
    { all: [true, false], none: [null, 'QUEUE_NOT_FOUND'] },
    { flow: ['waiting', 'waiting', 'blocked', 'blocked'], ref: 'c', on: 'continue' },
    { again: true },
    { tree: 'cancelled' },
    { made: [true, true, 2], ...report, job: { name: 'report', data: { n: 1 }, priority: 3 } },
    { same: [false, true, true] },
    { often: [true, 5, true, null] },
    { taken: 'SCHEDULE_EXISTS', changed: 'SCHEDULE_CHANGED', invalid: 'INVALID_SCHEDULE' },
    { turned: [false, true] },
    { came: ['report', { n: 1 }, 'hand', 3], last: true },
    { left: ['nightly'], gone: [null, 'SCHEDULE_NOT_FOUND'] },
    { found: [{ text: 'grüße' }] },
    { logs: [0, 1, 2].map((line) => [line, 'info', `line ${line}`, { line }]), utc: 'UTC' },
    {
      steps: [
        ['one', { n: 1 }, null],
        ['two', null, 'RangeError'],
      ],
      page: ['one', 1],
      retried: 1,
      again: ['one', 'two'],
    },
  ])
})

test('no wrong argument of any method in Python ends the connection, and each is told by the name of the method', async () => {
  const engine = await engineOf()
  const { url } = await serve(engine)
  const mistakes = program('mistakes', url, ...MISTAKES.map(String))
  expect(await mistakes.ended).toMatchObject({ code: 0, stderr: '' })
  const { count, wrong } = JSON.parse(mistakes.lines.join(''))
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(2_250 * MISTAKES.length)
})

test('what the server refuses is told by the name and in the units that the option has in Python, for every option', async () => {
  const { server } = await together()
  const refusals = program('refusals', server.url)
  expect(await refusals.ended).toMatchObject({ code: 0, stderr: '' })
  const { count, ...found } = JSON.parse(refusals.lines.join(''))
  expect(found).toEqual({ wrong: [], missing: { jobs: [], filters: [], settings: [], schedules: [] }, same: true })
  expect(count).toBeGreaterThan(90)
})

// Python forks, and a fork needs a process of its own.
test('in processes that Python forks, each has its own connection, session and jobs', async () => {
  const engine = await engineOf()
  const { url } = await serve(engine)
  const forks = program('forks', url)
  expect(await forks.ended).toMatchObject({ code: 0, stderr: '' })
  const handler = ['STALE_RUN', 'STALE_RUN', 'STALE_RUN', 'STALE_RUN', 'STALE_RUN', 'active']
  expect(Object.assign({}, ...forks.lines.map((line) => JSON.parse(line)))).toEqual({
    both: [[true, true], true],
    together: [true, true],
    grandchild: true,
    locked: true,
    closed: [-1, true],
    events: [['enqueued'], 'cancelled', 'cancelled'],
    while_waiting: true,
    asynchronous: ['parent', 'child', 'again'],
    handlers: [handler, handler],
    ran_in: true,
    sessions: 3,
    names: 3,
    results: ['done'],
    same: true,
  })
})

test('a producer in Python', async () => {
  const engine = await engineOf()
  const server = await serve(engine)
  const fails = defineJob({ name: 'fails' })
  engine.work(
    defineJob<unknown>({ name: 'echo' }).handler(async ({ data }) => data),
    { id: 'one' },
  )
  engine.work(
    fails.handler(async () => Promise.reject(new RangeError('no'))),
    { id: 'two' },
  )
  const producer = program('producer', server.url)
  expect(await producer.ended).toMatchObject({ code: 0, stderr: '' })
  const said = Object.assign({}, ...producer.lines.map((line) => JSON.parse(line)))
  expect(producer.lines.map((line) => JSON.parse(line))).toMatchObject([
    { same: [true, true, true, true, true, true] },
    { bytes: true },
    { id: said.again, again: said.id, result: 1 },
    { conflict: 'UNIQUE_CONFLICT', number: 'OPTION_RANGE' },
    { state: 'scheduled', data: { n: 1 }, priority: -3, timeout: null, backoff: { type: 'fixed', delay: 1 }, due: 3_600, started: null },
    { cancelled: 'cancelled', result: 'JOB_CANCELLED', twice: 'JOB_FINISHED' },
    { failed: 'JOB_FAILED' },
    { none: null, stats: true },
    { taken: 'SCHEDULE_EXISTS' },
    { schedule: { every: 60_000 }, enqueued: true, paused: true },
    { sorted: true, queues: true, jobs: true, flows: true, schedules: ['s'], workers: ['one', 'two'] },
    { unknown: { get: [], queue: [], worker: [], schedule: [], flow: [], stats: [] } },
    {
      events: [
        ['enqueued', true, 'other', 0, 'UTC'],
        ['completed', true, 'other', 1, 'UTC'],
      ],
      rest: ['started', 'completed'],
    },
    { late: true },
  ])
  expect(await engine.get(said.id)).toMatchObject({ state: 'completed', queue: 'other', tags: ['a'], meta: { by: 'python' } })
})
