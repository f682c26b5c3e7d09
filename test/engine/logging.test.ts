/** What an engine says of failed attempts, of jobs that nobody serves, and of results that do not come. */
import { spawnSync } from 'node:child_process'
import { defineJob, type EngineEvent, type Logger } from '@millrace/engine'
import { createTestEngine, type TestEngineOptions } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'

const mail = defineJob<string>({ name: 'mail', maxAttempts: 2, backoff: { type: 'fixed', delay: '20s' } })

function start(options: TestEngineOptions = {}) {
  const lines: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = []
  const log =
    (level: string): Logger['warn'] =>
    (message, fields = {}) =>
      void lines.push({ level, message, fields })
  const t = createTestEngine({ ...options, logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') } })
  onTestFinished(() => t[Symbol.asyncDispose]())
  return { ...t, lines }
}

const failing = mail.handler(({ data }) => {
  throw new TypeError(`no route to ${data}`)
})

test('a failed attempt is a warning with its message, the last one an error with its stack; what completes says nothing', async () => {
  const { engine, advance, lines } = start()
  engine.work([failing, defineJob({ name: 'fine' }).handler(() => 1)], { id: 'w' })
  await (await engine.enqueue('fine')).result()
  const handle = await engine.enqueue(mail, 'ada')
  await advance('20s')
  await expect(handle.result()).rejects.toThrow('no route to ada')
  const fields = { job: handle.id, queue: 'default', worker: 'w' }
  expect(lines).toEqual([
    { level: 'warn', message: "job 'mail' failed at attempt 1 of 2 and is tried again: TypeError: no route to ada", fields },
    {
      level: 'error',
      message: "job 'mail' failed permanently at attempt 2 of 2: TypeError: no route to ada",
      fields: { ...fields, stack: expect.stringContaining('logging.test.ts') },
    },
  ])
})

test('what redact hides is hidden in the log, in the event and in the job alike', async () => {
  const { engine, lines } = start({ redact: (said) => ({ ...said, message: said.message.replace('ada', '***'), stack: 'hidden' }) })
  const events: EngineEvent[] = []
  engine.on('failed', (event) => events.push(event))
  engine.work(failing)
  const handle = await engine.enqueue(mail, 'ada', { maxAttempts: 1 })
  await expect(handle.result()).rejects.toThrow('no route to ***')
  expect(lines.map(({ message, fields }) => [message, fields['stack']])).toEqual([
    ["job 'mail' failed permanently at attempt 1 of 1: TypeError: no route to ***", 'hidden'],
  ])
  expect(events).toMatchObject([{ error: 'TypeError', message: 'no route to ***' }])
})

test('attempts that fail alike are three lines a minute, whatever differs from job to job; other kinds and last attempts have their own', async () => {
  const { engine, advance, lines } = start()
  const deliver = defineJob<number>({ name: 'deliver', maxAttempts: 1_000, backoff: { type: 'fixed', delay: '1s' } })
  engine.work([
    deliver.handler(({ data }) => {
      throw new Error(data < 90 ? `connect ECONNREFUSED 10.0.0.${data}:9` : 'no such host')
    }),
    failing,
  ])
  await engine.enqueueMany(Array.from({ length: 90 }, (_, data) => ({ job: deliver, data })))
  await engine.enqueue(deliver, 90)
  for (let number = 0; number < 5; number++) await engine.enqueue(mail, 'ada', { maxAttempts: 1 })
  await advance(1)
  const said = (part: string) => lines.filter(({ message }) => message.includes(part))
  expect([said('ECONNREFUSED'), said('no such host'), said('permanently')].map((each) => each.length)).toEqual([3, 1, 5])
  await advance('59s')
  expect(said('ECONNREFUSED')).toHaveLength(3)
  await advance('2s')
  expect(said('ECONNREFUSED')).toHaveLength(6)
  const leftOut = said('ECONNREFUSED').reduce((sum, { fields }) => sum + Number(fields['leftOut'] ?? 0), 0)
  expect(leftOut).toBeGreaterThan(90 * 58)
})

test('a cancelled job is no failure, and a flood of failures is cut and counted', async () => {
  const { engine, advance, lines } = start()
  const forever = defineJob({ name: 'forever' }).handler(
    ({ signal }) => new Promise((_, reject) => (signal.onabort = () => reject(signal.reason))),
  )
  engine.work([failing, forever], { concurrency: 1_000 })
  const handle = await engine.enqueue('forever')
  await advance(1)
  await engine.cancel(handle.id)
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  expect(lines).toEqual([])
  const once = { maxAttempts: 1 }
  await engine.enqueueMany(Array.from({ length: 50 }, () => ({ job: mail, data: 'all', options: once })))
  await advance('1s')
  expect(lines).toHaveLength(20)
  await engine.enqueue(mail, 'one', once)
  await advance(1)
  expect(lines.at(-1)?.fields).toMatchObject({ leftOut: 30 })
})

test('wrong progress and a backoff that answers a promise are warnings: in the log of the job, and once in that of the worker', async () => {
  const { engine, advance, lines } = start()
  const backoff = (async () => '1s') as never
  const percent = defineJob({ name: 'percent' }).handler(({ progress }) => {
    progress(0.2)
    for (let percent = 50; percent <= 100; percent++) progress(percent)
    return 'done'
  })
  const wrong = defineJob({ name: 'wrong', maxAttempts: 1, backoff }).handler(() => {
    throw new Error('no')
  })
  engine.work([percent, wrong], { id: 'w' })
  const handles = await engine.enqueueMany([{ job: 'percent' }, { job: 'percent' }, { job: 'wrong', options: { maxAttempts: 1 } }])
  await advance(1)
  const shown = await Promise.all(handles.map(({ id }) => engine.get(id)))
  const ignored = 'progress must be a number from 0 to 1, got 50; the value is ignored: of a percentage give a hundredth, 0.5'
  const asked = 'the backoff function answered a promise, and must answer at once: the stored backoff is used'
  expect(shown.map((job) => [job?.state, job?.progress, job?.attempts[0]?.logs.map(({ level, message }) => [level, message])])).toEqual([
    ['completed', 0.2, [['warn', ignored]]],
    ['completed', 0.2, [['warn', ignored]]],
    ['failed', undefined, [['warn', asked]]],
  ])
  expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    `job 'percent': ${ignored}`,
    `job 'wrong': ${asked}`,
  ])
})

test('listeners of `failed` and `retrying` get the message; the journal and `events()` never do', async () => {
  const { engine, advance } = start()
  const heard: EngineEvent[] = []
  for (const type of ['retrying', 'failed'] as const) engine.on(type, (event) => heard.push(event))
  const followed: object[] = []
  const following = (async () => {
    for await (const event of engine.events({ filter: { types: ['retrying', 'failed'] } })) if (followed.push(event) === 2) break
  })()
  engine.work(failing)
  await engine.enqueue(mail, 'ada')
  await advance('20s')
  await following
  expect(heard.map(({ type, error, message }) => [type, error, message])).toEqual([
    ['retrying', 'TypeError', 'no route to ada'],
    ['failed', 'TypeError', 'no route to ada'],
  ])
  expect(followed).toMatchObject([{ type: 'retrying' }, { type: 'failed' }])
  expect(JSON.stringify(followed)).not.toContain('ada')
})

test('a job that nobody serves is warned about after 5 s, once for its name and queue', async () => {
  const { engine, advance, lines } = start()
  engine.work(defineJob({ name: 'served' }).handler(() => 1))
  await engine.enqueue('served')
  await engine.enqueueMany(Array.from({ length: 3 }, () => ({ job: 'nobody' })))
  await engine.enqueue('later', null, { delay: '1h' })
  await advance(4_999)
  expect(lines).toEqual([])
  await advance(1)
  const remedy = 'start a worker for it with engine.work, or correct the name or the queues of the worker'
  expect(lines).toEqual([{ level: 'warn', message: `no worker serves 'nobody' in queue 'default': ${remedy}`, fields: { waiting: 3 } }])
  await engine.enqueue('nobody')
  await engine.enqueue('nobody', null, { queue: 'other' })
  await advance('1m')
  expect(lines.map(({ message }) => message)).toEqual([
    `no worker serves 'nobody' in queue 'default': ${remedy}`,
    `no worker serves 'nobody' in queue 'other': ${remedy}`,
  ])
})

test('ResultTimeoutError says what the job waits for', async () => {
  const { engine, advance } = start()
  const why = async (id: string) => {
    const late = engine
      .handle(id)
      .result({ timeout: '1s' })
      .catch((error: Error) => error.message)
    await advance('1s')
    return late
  }
  const { id } = await engine.enqueue('nobody')
  const at = `job ${id} has not ended in time: it`
  expect(await why(id)).toBe(`${at} waits, because no worker serves 'nobody' in queue 'default'`)
  await engine.queues.pause('default')
  expect(await why(id)).toBe(`${at} waits, because queue 'default' is paused`)
  await engine.queues.pauseAll()
  expect(await why(id)).toBe(`${at} waits, because all queues are paused`)
  await engine.queues.resumeAll()
  await engine.queues.resume('default')
  await engine.update(id, { runAt: new Date('2031-01-01') })
  expect(await why(id)).toBe(`${at} waits for its time until 2031-01-01T00:00:00.000Z`)
  await engine.runNow(id)
  engine.work(
    defineJob({ name: 'nobody' }).handler(() => new Promise(() => {})),
    { abortGrace: 0 },
  )
  expect(await why(id)).toMatch(new RegExp(`^${at} is running at attempt 1 of 4, with a deadline of \\d{4}-.*Z$`))
})

test('without a logger an engine writes to stderr, with controls made visible; with false it writes nothing', () => {
  const program = new URL('./programs/failing.ts', import.meta.url).pathname
  const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  const told = run()
  expect(told.stdout).toBe('over\n')
  expect(told.stderr).toMatch(
    /^millrace error: job 'mail' failed permanently at attempt 1 of 1: Error: no \\u001b\[31mroute \{"job":".*","queue":"default","worker":".*"\}\nError: no .*\n {4}at .*failing\.ts/,
  )
  expect(run('quiet')).toMatchObject({ stdout: 'over\n', stderr: '' })
})
