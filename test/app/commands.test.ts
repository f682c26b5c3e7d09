// Each command over a socket, as people read it and as programs do. What changes something is done once in each form.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HANDLERS, Place } from './millrace.ts'

const LONG = 300_000
const MISSING = '01a1ff30-1a62-7000-8000-0000061600c4'

test('Q1: jobs: enqueue, list, show, cancel, retry, delete, run, logs', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  writeFileSync(place.path('data.json'), '{"from":"a file"}')
  const first = (await place.ok('enqueue', 'mail', `@${place.path('data.json')}`, '--queue', 'out', '--tag', 'x')).trim()
  const second = (await place.okJson('enqueue', 'mail', '[1]', '--idempotency-key', 'k', '--meta', '{"by":"me"}'))['id'] as string
  expect(await place.okJson('enqueue', 'mail', '[2]', '--idempotency-key', 'k')).toEqual({ id: second, created: false })
  const third = (await place.ok('enqueue', 'mail', '--unique', 'u', '--on-conflict', 'error', '--delay', '1d')).trim()

  expect(await place.ok('jobs', 'list', '--queue', 'out')).toMatch(
    new RegExp(`^ID .*\n${first}  mail  out    waiting      0/4  \\S+ ago\n$`),
  )
  expect(await place.okJson('jobs', 'list', '--tag', 'x')).toMatchObject({
    jobs: [{ id: first, data: { from: 'a file' } }],
    next: null,
    partial: false,
  })
  expect(await place.okJson('jobs', 'list', '--search', 'from', '--name', 'mail')).toMatchObject({ jobs: [{ id: first }] })
  const past = '2020-01-01T00:00:00Z'
  const flags = ['--enqueued-after', past, '--enqueued-before', '2999-01-01T00:00:00Z', '--no-retrying', '--tag', 'x']
  expect(await place.okJson('jobs', 'list', ...flags)).toMatchObject({ jobs: [{}] })
  for (const none of [['--key', 'k'], ['--schedule', 's'], ['--retrying'], ['--finished-after', past], ['--finished-before', past]])
    expect(await place.okJson('jobs', 'list', ...none)).toMatchObject({ jobs: [] })
  for (const none of [
    ['--worker', 'w'],
    ['--error', 'E'],
    ['--fingerprint', '0'.repeat(14)],
  ])
    expect(await place.okJson('jobs', 'list', ...none)).toMatchObject({ jobs: [] })
  expect(await place.okJson('jobs', 'cancel', '--search', 'nothing', '--dry-run')).toMatchObject({ matched: 0 })
  expect(await place.okJson('jobs', 'cancel', '--key', 'k', '--dry-run')).toMatchObject({ matched: 0 })
  const oldest = await place.okJson('jobs', 'list', '--state', 'scheduled,waiting', '--order', 'oldest', '--limit', '2')
  expect(oldest).toMatchObject({ jobs: [{ id: first }, { id: second }] })
  expect(await place.okJson('jobs', 'list', '--data', '{"from":"a file"}')).toMatchObject({ jobs: [{ id: first }] })
  expect(await place.okJson('jobs', 'list', '--meta', '{"by":"me"}', '--data', '[1]')).toMatchObject({ jobs: [{ id: second }] })
  expect(await place.okJson('jobs', 'delete', '--data', '{"from":"nowhere"}', '--dry-run')).toMatchObject({ matched: 0 })
  expect(await place.run('jobs', 'list', '--data', 'from')).toMatchObject({ code: 2 })
  expect(await place.okJson('jobs', 'cancel', '--state', 'failed,active', '--dry-run')).toMatchObject({ matched: 0 })
  expect(await place.okJson('jobs', 'list', '--state', 'scheduled', '--order', 'due')).toMatchObject({ jobs: [{ id: third }] })
  const page = await place.okJson('jobs', 'list', '--limit', '1')
  expect(page).toMatchObject({ jobs: [{ id: third, state: 'scheduled' }] })
  expect(await place.okJson('jobs', 'list', '--limit', '1', '--after', String(page['next']))).toMatchObject({ jobs: [{ id: second }] })
  expect((await place.run('jobs', 'list', '--all', '--json')).items.map(({ id }) => id)).toEqual([third, second, first])
  expect((await place.ok('jobs', 'list', '--all')).trim().split('\n')).toHaveLength(4)

  expect(await place.ok('jobs', 'show', second)).toMatch(
    /^state +waiting$[\s\S]*^idempotency key +k$[\s\S]*^data +\[1\]$[\s\S]*^meta +\{"by":"me"\}$/m,
  )
  const shown = await place.okJson('jobs', 'show', second)
  expect(shown).toMatchObject({ id: second, data: [1], meta: { by: 'me' }, output: null, startedAt: null, attempts: [], flow: null })
  expect(shown['enqueuedAt']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)

  expect(await place.ok('jobs', 'explain', second)).toBe(`waits, because no worker serves '${shown['name']}' in queue 'default'\n`)
  expect(await place.okJson('jobs', 'explain', third)).toMatchObject({ id: third, state: 'scheduled', causes: [{ code: 'time' }] })
  expect(await place.run('jobs', 'explain', 'no-id')).toMatchObject({ code: 3 })

  expect(await place.ok('jobs', 'send', third, 'go', '{"by":"ada"}')).toBe('kept: the job has not waited for it yet\n')
  const sent = ['jobs', 'send', third, 'file', 'AQI=', '--binary', '--idempotency-key', 'k', '--by', 'ops']
  expect(await place.okJson(...sent)).toEqual({ id: third, message: 'file', outcome: 'kept' })
  expect(await place.okJson(...sent)).toMatchObject({ outcome: 'known' })
  expect(await place.ok('jobs', 'steps', third)).toMatch(/^KEPT MESSAGE +CAME +FROM +VALUE\ngo .* - +\{"by":"ada"\}\nfile .* ops .*$/m)
  expect(await place.run('jobs', 'send', 'no-id', 'go')).toMatchObject({ code: 3 })

  const large = (await place.ok('enqueue', 'large', JSON.stringify('x'.repeat(70_000)))).trim()
  const [previewed] = (await place.okJson('jobs', 'list', '--name', 'large', '--payload', 'preview'))['jobs'] as object[]
  expect(previewed).toMatchObject({ data: null, preview: { data: { bytes: 70_002, start: `"${'x'.repeat(511)}`, cut: true } } })
  expect((await place.okJson('jobs', 'list', '--name', 'large', '--payload', 'none'))['jobs']).not.toMatchObject([{ preview: {} }])
  expect(await place.ok('jobs', 'show', large, '--payload', 'preview')).toMatch(/^data +"x{65535}… \(68\.4 KiB\)$/m)
  expect(await place.ok('jobs', 'show', large, '--payload', 'none')).not.toMatch(/^data/m)
  expect(await place.run('jobs', 'show', large, '--payload', 'half')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--payload'),
  })
  await place.ok('jobs', 'delete', large)

  const [keyed] = (await place.ok('enqueue', 'keyed', '--unique', 'k', '--delay', '1h')).split(/\s/)
  expect(await place.okJson('keys', 'show', 'keyed', 'k')).toMatchObject({ id: keyed, uniqueKey: 'k' })
  expect(await place.run('keys', 'show', 'keyed', 'k', '--idempotency')).toMatchObject({ code: 3 })
  expect(await place.ok('keys', 'release', 'keyed', 'k', '--idempotency')).toBe("no job 'keyed' holds the key 'k'\n")
  expect(await place.ok('keys', 'release', 'keyed', 'k')).toBe('keyed k released\n')
  expect(await place.okJson('keys', 'release', 'keyed', 'k')).toMatchObject({ released: false })
  await place.ok('jobs', 'delete', keyed as string)
  const [by] = (
    await place.ok('enqueue', 'by', '{"a":1,"b":{"c":2},"d":3}', '--unique-by', 'a', '--unique-by', 'b.c', '--delay', '1h')
  ).split(/\s/)
  expect(await place.okJson('enqueue', 'by', '{"a":1,"b":{"c":2}}', '--unique-by', 'b.c', '--unique-by', 'a')).toEqual({
    id: by,
    created: false,
  })
  const [same] = (await place.ok('enqueue', 'by', '{"a":1,"b":2}', '--unique-data', '--unique-until', 'start', '--delay', '1h')).split(/\s/)
  expect(await place.okJson('enqueue', 'by', '{"b":2,"a":1}', '--unique-data')).toEqual({ id: same, created: false })
  for (const [flags, says] of [
    [['--unique-by', 'x'], '--unique-by: unique.by names the field "x", and the data has the fields a'],
    [['--unique-data', '--unique-until', 'run'], "--unique-until: unique.until must be 'end' or 'start'"],
    [['--unique-by', 'a', '--unique-data'], '--unique-data and --unique-by exclude each other'],
  ] as const)
    expect(await place.run('enqueue', 'by', '{"a":1}', ...flags)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
  for (const id of [by, same]) await place.ok('jobs', 'delete', id as string)

  expect(await place.ok('jobs', 'update', third, '--priority', '4')).toBe(`${third} updated\n`)
  expect(await place.ok('jobs', 'update', '--all', '--weight', '2', '--priority', '3', '--timeout', 'none', '--yes')).toBe(
    '3 jobs updated\n',
  )
  expect(await place.okJson('jobs', 'show', third)).toMatchObject({ priority: 3, weight: 2, timeout: null })
  expect(await place.ok('jobs', 'update', third, '--set-tag', 'a', '--set-tag', 'b', '--set-meta', '{"of":7}')).toBe(`${third} updated\n`)
  expect(await place.okJson('jobs', 'show', third)).toMatchObject({ tags: ['a', 'b'], meta: { of: 7 } })
  expect(await place.ok('jobs', 'update', '--tag', 'a', '--clear-tags')).toBe('1 job updated\n')
  expect(await place.run('jobs', 'update', third, '--set-tag', 'a', '--clear-tags')).toMatchObject({ code: 2 })
  const [copy] = (await place.ok('jobs', 'again', third)).split('\n')
  expect(await place.okJson('jobs', 'show', copy as string)).toMatchObject({
    priority: 3,
    weight: 2,
    timeout: null,
    state: 'waiting',
    meta: { of: 7, copyOf: third },
  })
  await place.ok('jobs', 'delete', copy as string)
  expect(await place.run('jobs', 'update', third)).toMatchObject({ code: 2, stderr: expect.stringContaining('at least one of') })
  expect(await place.okJson('jobs', 'run', '--all', '--dry-run')).toMatchObject({ changed: 1, skipped: { waiting: 2 } })
  expect(await place.ok('jobs', 'run', third)).toBe(`${third} due\n`)
  expect((await place.run('jobs', 'cancel', first, second, '--reason', 'wrong file', '--json')).items).toEqual([
    { id: first, result: 'cancelled' },
    { id: second, result: 'cancelled' },
  ])
  expect(await place.ok('jobs', 'show', first)).toMatch(/\nreason +wrong file\n/)
  expect(await place.ok('jobs', 'retry', first)).toBe(`${first} waiting\n`)
  expect(await place.okJson('jobs', 'cancel', '--queue', 'out', '--dry-run')).toEqual({ matched: 1, changed: 1, skipped: {}, dryRun: true })
  expect(await place.ok('jobs', 'cancel', '--queue', 'out', '--reason', 'too late', '--yes')).toBe('1 job cancelled\n')
  expect(await place.okJson('jobs', 'show', first)).toMatchObject({ cancellation: { reason: 'too late' } })
  expect(await place.ok('jobs', 'retry', '--state', 'cancelled', '--limit', '1')).toBe('1 job retried\n')
  expect(await place.ok('jobs', 'delete', second)).toBe(`${second} deleted\n`)
  const refused = await place.run('jobs', 'delete', '--all')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('2 jobs would be deleted. Confirm with --yes') })
  expect(await place.okJson('jobs', 'delete', '--all', '--yes')).toMatchObject({ changed: 2, dryRun: false })

  const worker = place.startHere('worker', 'start', '--handlers', HANDLERS)
  await worker.said(/is ready/)
  expect(await place.ok('enqueue', 'echo', '{"a":1}', '--wait', '--wait-timeout', '30s')).toBe('{\n  "a": 1\n}\n')
  expect(await place.run('enqueue', 'fail', '--max-attempts', '1', '--wait')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no such luck \(JOB_FAILED\)/),
  })
  for (const round of [2, 3])
    await place.run('enqueue', 'fail', '--max-attempts', '1', '--wait', '--idempotency-key', `${round}`, '--tag', 'again')
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const failing = [{ name: 'fail', streak: 3, firstAt: time, lastAt: time }]
  expect(await place.okJson('stats')).toMatchObject({
    failing,
    definitions: expect.arrayContaining([expect.objectContaining({ saidAt: time })]),
  })
  expect(await place.okJson('top')).toMatchObject({ stats: { failing } })
  expect(await place.okJson('status')).toMatchObject({ workers: [{ attachedAt: time }] })
  await place.ok('jobs', 'delete', '--tag', 'again', '--yes')
  const [failed, echoed] = (await place.okJson('jobs', 'list'))['jobs'] as { id: string }[]
  expect(await place.ok('jobs', 'logs', String(echoed?.id))).toMatch(/^run 1 {2}\S+Z info {2}hello \{"data":\{"a":1\}\}\n$/)
  expect((await place.run('jobs', 'logs', String(failed?.id), '--run', '2', '--json')).items).toEqual([])
  expect((await place.run('jobs', 'logs', '-f', String(failed?.id), '--json')).items).toEqual([
    { run: 1, at: expect.any(String), level: 'warn', message: 'about to fail', fields: null },
  ])
  const lists = await place.ok('jobs', 'list', '--name', 'fail', '--last-run')
  expect(lists).toMatch(/ WORKER +ERROR\n.* {2}worker-\S+ +Error: no such luck\n$/)
  expect(await place.okJson('jobs', 'list', '--name', 'fail', '--last-run')).toMatchObject({
    jobs: [{ lastRun: { run: 1, error: { name: 'Error', message: 'no such luck' } } }],
  })
  expect(await place.ok('jobs', 'show', String(failed?.id))).toMatch(
    /^run 1, attempt 1: .*\n {2}Error: no such luck \(E_LUCK\)\n {4}caused by Error: connect refused \(ECONNREFUSED\)\n {4}at .*handlers\.ts[\s\S]*about to fail$/m,
  )
  const cause = [{ name: 'Error', message: 'connect refused', code: 'ECONNREFUSED' }]
  expect(await place.okJson('jobs', 'show', String(failed?.id))).toMatchObject({
    attempts: [{ error: { name: 'Error', message: 'no such luck', code: 'E_LUCK', cause } }],
  })
})

const WORKFLOW = fileURLToPath(new URL('./programs/workflowHandlers.ts', import.meta.url))

test('jobs: the steps and the sleep of a workflow, and a retry from one of them', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.startHere('worker', 'start', '--handlers', WORKFLOW)
  await worker.said(/is ready/)
  const following = place.startHere('events', '-f', '--json', '--name', 'workflow', '--after', '0')
  const id = (await place.ok('enqueue', 'workflow')).trim()
  await following.said(/"type":"snoozed"/)
  expect(await place.ok('jobs', 'show', id)).toMatch(/^state +scheduled\nsleeps in +night\n/m)
  const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\dZ'
  expect(await place.ok('jobs', 'steps', id)).toMatch(
    new RegExp(
      `^NUMBER +NAME +KIND +STARTED +TOOK +VALUE\n +1 +reserve +step +${time} +\\d+ms +{"seat":"A7"}\n\nOPEN WAIT +SINCE +MESSAGE +UNTIL +ENDS\nnight +${time} +- +${time} +in .*\n$`,
    ),
  )
  await place.ok('jobs', 'run', id)
  await following.said(/"type":"failed"/)
  expect(await place.ok('jobs', 'steps', id, '--after', '1')).toMatch(
    /^ +2 +night +sleep .* -\n +3 +charge +step .* RangeError: no money$/m,
  )
  const first = await place.run('jobs', 'steps', id, '--limit', '1')
  expect(first.stderr).toContain('--after 1')
  expect(await place.okJson('jobs', 'steps', id, '--limit', '1')).toMatchObject({
    steps: [{ name: 'reserve', value: { seat: 'A7' } }],
    next: 1,
  })
  expect(await place.ok('jobs', 'show', id)).not.toContain('sleeps in')
  expect(await place.run('jobs', 'retry', id, '--from', 'nowhere')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("no result of 'nowhere'"),
  })
  expect(await place.run('jobs', 'retry', '--state', 'failed', '--from', 'charge')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--from requires the id of a job'),
  })
  worker.signal('SIGINT')
  await worker.ended
  expect(await place.ok('jobs', 'retry', id, '--from', 'night')).toBe(`${id} waiting\n`)
  expect(await place.okJson('jobs', 'steps', id)).toMatchObject({ steps: [{ name: 'reserve' }], waits: [], next: null })
  expect(await place.ok('jobs', 'retry', id, '--from', 'start')).toBe(`${id} waiting\n`)
  expect(await place.ok('jobs', 'steps', id)).toBe('no steps\n')
  expect(await place.run('jobs', 'steps', 'no-id')).toMatchObject({ code: 3 })
})

test('queues: list, show, set, pause, resume, drain, purge, delete', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  expect(await place.ok('queues', 'set', 'out', '--concurrency-limit', '3', '--rate-limit', '100/1m:20', '--max-length', '5')).toMatch(
    /^concurrencyLimit +3\nrateLimit +100\/1m:20\nmaxLength +5$/m,
  )
  expect(
    await place.okJson(
      'queues',
      'set',
      'out',
      '--max-length',
      'none',
      '--defaults',
      '{"maxAttempts":2}',
      '--retention',
      '{"completed":"1d"}',
    ),
  ).toMatchObject({
    name: 'out',
    settings: { concurrencyLimit: 3, defaults: { maxAttempts: 2 }, retention: { completed: { ageMs: 86_400_000 } } },
  })
  await place.ok('enqueue', 'mail', '--queue', 'out')
  await place.ok('enqueue', 'mail', '--queue', 'other')
  expect(await place.ok('queues', 'list')).toMatch(/^QUEUE .*OLDEST\n[\s\S]*^out +0 +1 +0/m)
  expect(await place.ok('queues', 'show', 'out')).toMatch(/^rate now +20 tokens$/m)
  expect(await place.ok('queues', 'keys', 'out')).toContain('neither limits nor pauses keys')
  await place.ok('queues', 'pause', 'other', '--key', 'acme')
  expect(await place.ok('queues', 'keys', 'other')).toMatch(/^KEY .*\nacme +0 +0 +paused\n$/)
  expect(await place.okJson('queues', 'keys', 'other', '--limit', '1')).toMatchObject({ keys: [{ key: 'acme' }], known: 1, partial: false })
  expect(await place.run('queues', 'keys', 'none')).toMatchObject({ code: 3 })
  expect(await place.ok('queues', 'pause', 'out')).toBe('paused out\n')
  expect(await place.okJson('queues', 'pause', 'other', '--job', 'mail')).toEqual({
    ...{ queue: 'other', job: 'mail', key: null, for: null, until: null, paused: true },
  })
  expect(await place.ok('queues', 'pause', 'other', '--key', 'late', '--for', '10m')).toMatch(
    /^paused other, key late until \d{4}-\S+ \S+Z\n$/,
  )
  // A longer pause stands: its end is the one that holds.
  const { until } = await place.okJson('queues', 'pause', 'other', '--key', 'late', '--for', '1h')
  expect(Date.parse(until as string)).toBeGreaterThan(Date.now() + 3_000_000)
  expect(await place.okJson('queues', 'pause', 'other', '--key', 'late', '--for', '1m')).toMatchObject({ for: '1m', until })
  expect(await place.okJson('queues', 'pause', 'out', '--for', '1m')).toMatchObject({ until: null })
  expect(await place.ok('queues', 'pause', 'out', '--for', '1m')).toBe('paused out until it is resumed\n')
  expect(await place.okJson('queues', 'set', 'other', '--defaults', '{"timeout":null,"ttl":null}')).toMatchObject({
    settings: { defaults: { timeout: null, ttl: 3_153_600_000_000 } },
  })
  expect(await place.ok('queues', 'show', 'other')).toMatch(/^defaults +\{"timeout":null,"ttl":null\}$/m)
  await place.ok('queues', 'set', 'other', '--defaults', 'none')
  expect(await place.ok('queues', 'keys', 'other')).toMatch(/\nlate +0 +0 +paused until \d{4}-\S+ \S+\n/)
  expect(await place.ok('queues', 'show', 'other')).toMatch(/state .*key late until \d{4}-/)
  await place.ok('queues', 'resume', 'other', '--key', 'late')
  expect(await place.ok('queues', 'pause-all', '--yes')).toBe('paused\n')
  expect(await place.ok('status')).toContain('warning: the engine is paused')
  expect(await place.okJson('queues', 'resume-all')).toEqual({ paused: false })
  expect(await place.ok('events', '--type', 'engine.paused,engine.resumed')).toMatch(/ engine\.paused *\n.* engine\.resumed *\n$/)
  expect(await place.okJson('queues', 'list')).toMatchObject({
    queues: [
      { name: 'other', pausedJobs: ['mail'] },
      { name: 'out', paused: true },
    ],
  })
  expect(await place.ok('queues', 'resume', 'out')).toBe('resumed out\n')
  expect(await place.run('queues', 'drain', 'out', '--timeout', '1ms')).toMatchObject({ code: 5 })
  expect(await place.ok('queues', 'show', 'out')).toMatch(/^state +draining$/m)
  expect(await place.run('enqueue', 'mail', '--queue', 'out')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('(QUEUE_DRAINING)'),
  })
  expect(await place.run('queues', 'delete', 'out', '--yes')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('(QUEUE_NOT_EMPTY)'),
  })
  expect(await place.okJson('queues', 'purge', 'out', '--dry-run')).toMatchObject({ queue: 'out', count: 1, active: 0, dryRun: true })
  expect(await place.run('queues', 'purge', 'out')).toMatchObject({ code: 2 })
  expect(await place.ok('queues', 'purge', 'out', '--state', 'waiting,failed', '--yes')).toBe('1 job of out removed\n')
  expect(await place.okJson('queues', 'drain', 'out')).toEqual({ queue: 'out', drained: true })
  expect(await place.ok('queues', 'delete', 'out', '--yes')).toBe('out deleted\n')
  expect(await place.okJson('queues', 'list')).toMatchObject({ queues: [{ name: 'other', states: { waiting: 1 } }] })
})

test('schedules: set, list, show, next, pause, resume, trigger, delete', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const set = [
    'schedules',
    'set',
    'nightly',
    'report',
    '{"for":"all"}',
    '--cron',
    '0 3 * * *',
    '--timezone',
    'Europe/Berlin',
    '--max-attempts',
    '2',
  ]
  expect(await place.ok(...set)).toMatch(/^nightly created; next \d{4}-\d\d-\d\d 0[12]:00:00Z\n$/)
  expect(await place.okJson(...set)).toMatchObject({
    id: 'nightly',
    created: false,
    nextRunAt: expect.stringMatching(/T0[12]:00:00.000Z$/),
  })
  await place.ok('schedules', 'set', 'other', 'tick', '--every', '1h', '--overlap', 'allow', '--catch-up-within', '2h', '--max-runs', '5')
  expect(await place.ok('schedules', 'show', 'other')).toMatch(/^overlap +allow\ncatch up +latest, within 2h 0m$[\s\S]*^runs +0 of 5$/m)
  await place.ok('schedules', 'update', 'other', '--overlap', 'queue', '--catch-up-within', '3h', '--max-runs', '6', '--update-waiting')
  expect(await place.okJson('schedules', 'show', 'other')).toMatchObject({ overlap: 'queue', catchUpWithin: 10_800_000, maxRuns: 6 })
  expect(await place.ok('schedules', 'list')).toMatch(
    /^nightly +0 3 \* \* \* Europe\/Berlin +report +in .* 0 +0\nother +every 1h 0m +tick/m,
  )
  expect(await place.okJson('schedules', 'list', '--name', 'tick', '--queue', 'default')).toMatchObject({ schedules: [{ id: 'other' }] })
  expect(await place.okJson('schedules', 'list', '--prefix', 'night')).toMatchObject({
    schedules: [{ id: 'nightly', job: 'report' }],
    next: null,
  })
  expect(await place.ok('schedules', 'show', 'nightly')).toMatch(/^job +report\ndata +\{"for":"all"\}\noptions +\{"maxAttempts":2\}$/m)
  expect(await place.okJson('schedules', 'next', 'nightly', '-n', '2')).toMatchObject({
    id: 'nightly',
    nextRuns: [expect.any(String), expect.any(String)],
  })
  expect((await place.ok('schedules', 'next', 'other')).trim().split('\n')).toHaveLength(5)
  expect(
    await place.ok('schedules', 'add', 'held', 'report', '--every', '1h', '--paused', '--catch-up-within', '1h', '--max-runs', '9'),
  ).toBe('held created; next -\n')
  expect(await place.run('schedules', 'add', 'held', 'report', '--every', '2h')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("'held' exists already"),
  })
  await place.ok('schedules', 'update', 'held', '--cron', '0 0 5 * * * 2031', '--data', '{"n":2}')
  expect(await place.okJson('schedules', 'show', 'held')).toMatchObject({
    cron: '0 0 5 * * * 2031',
    job: 'report',
    data: { n: 2 },
    paused: true,
  })
  expect(await place.ok('schedules', 'pause', 'nightly')).toBe('nightly paused\n')
  expect(await place.okJson('schedules', 'resume', 'nightly')).toEqual({ id: 'nightly', result: 'resumed' })
  const triggered = await place.okJson('schedules', 'trigger', 'nightly')
  expect(triggered).toMatchObject({ id: 'nightly', created: true })
  expect(await place.okJson('jobs', 'show', String(triggered['jobId']))).toMatchObject({
    name: 'report',
    data: { for: 'all' },
    maxAttempts: 2,
  })
  await place.ok('schedules', 'set', 'other', 'tick', '--every', '1h', '--meta', '{"team":"ops","by":"tick"}')
  const byHand = await place.okJson('schedules', 'trigger', 'other', '--meta', '{"by":"hand"}')
  expect(await place.okJson('jobs', 'show', String(byHand['jobId']))).toMatchObject({ name: 'tick', meta: { team: 'ops', by: 'hand' } })
  expect(await place.okJson('schedules', 'show', 'other')).toMatchObject({ options: { meta: { team: 'ops', by: 'tick' } } })
  for (const [meta, told] of [
    ['hand', /It is not JSON/],
    ['"hand"', /--meta: meta must be an object, got "hand"/],
  ] as const) {
    const refused = await place.run('schedules', 'trigger', 'nightly', '--meta', meta)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(told)
  }
  expect(await place.ok('schedules', 'delete', 'nightly', '--yes')).toBe('nightly deleted\n')
  expect((await place.run('schedules', 'show', 'nightly')).code).toBe(3)
  expect(await place.okJson('schedules', 'list')).toMatchObject({ schedules: [{ id: 'held' }, { id: 'other' }] })
})

test('stats, status, top, events, dlq, backup, and flows', { timeout: LONG }, async () => {
  const place = new Place()
  const { openEngine } = await import('@millrace/engine')
  const engine = await openEngine({ file: place.file, durability: 'normal' })
  const flow = await engine.flow([
    { ref: 'a', job: 'load' },
    { ref: 'b', job: 'load' },
    { ref: 'c', job: 'sum', dependsOn: ['a', 'b'] },
  ])
  await engine.enqueue('mail')
  await engine.stop()
  await place.serve()
  expect(await place.ok('flows', 'show', flow.id)).toMatch(
    /^REF .*ENDED +AFTER\na +\S+ +load +default +waiting\n.*\nc +\S+ +sum +default +blocked +0\/2 +a, b\n$/,
  )
  expect(await place.ok('flows', 'list')).toMatch(/^ID .*ENQUEUED\n\S+ +load +default +running +2 waiting, 1 blocked +\S+ ago\n$/)
  expect(await place.okJson('flows', 'list', '--state', 'running', '--limit', '1')).toMatchObject({
    flows: [{ id: flow.id, name: 'load', state: 'running', states: { waiting: 2, blocked: 1 }, finishedAt: null }],
    next: null,
    partial: false,
  })
  expect(await place.ok('flows', 'list', '--state', 'failed')).toBe('no flows\n')
  expect(await place.okJson('jobs', 'list', '--flow', flow.id)).toMatchObject({
    jobs: [{ id: flow.jobs.c.id }, {}, { id: flow.jobs.a.id }],
  })
  expect(await place.okJson('flows', 'show', flow.jobs.c.id)).toMatchObject({
    id: flow.id,
    jobs: [
      { ref: 'a', dependsOn: [] },
      { ref: 'b', id: flow.jobs.b.id },
      { ref: 'c', onParentFailure: 'fail', dependsOn: [{ ref: 'a', id: flow.jobs.a.id, told: null }, { ref: 'b' }] },
    ],
  })
  expect(await place.ok('stats')).toMatch(
    /^QUEUE .*\ndefault +0 +3 +0 +1[\s\S]*no worker serves load in default: 2 waiting[\s\S]*since the beginning +4 enqueued/,
  )
  expect(await place.run('stats', '--names', 'all')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("names must be 'histograms'"),
  })
  expect(await place.okJson('stats', '--names', 'none', '--definitions', 'disputed')).toMatchObject({ names: [], definitions: [] })
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 3, blocked: 1 }, workers: 0, writer: { draining: false } })
  expect(await place.okJson('status')).toMatchObject({
    target: place.url,
    warnings: [expect.stringContaining('load'), expect.stringContaining('mail')],
  })
  expect(await place.ok('status')).toMatch(
    /^engine +unix:.*\nowner +process \d+ on .*\njobs +0 scheduled, 3 waiting[\s\S]*^warning: no worker serves/m,
  )
  expect(await place.ok('top')).toMatch(/^millrace {2}\d{4}.*\n\nQUEUE .*\ndefault/)
  expect(await place.okJson('top')).toMatchObject({ at: expect.any(String), stats: { states: { waiting: 3 } }, workers: [] })
  expect(await place.ok('events')).toMatch(/^(\S+Z +\d+ enqueued +\S+ default\/(load|sum|mail)\n){4}$/)
  expect((await place.run('events', '--name', 'mail', '--json')).items).toMatchObject([
    { type: 'enqueued', name: 'mail', attempt: 0, error: null, runAt: null },
  ])
  expect(await place.ok('events', '--type', 'failed')).toBe('')
  const following = place.startHere('events', '-f', '--json')
  const found = following.said(/"deleted"/)
  // It begins with what comes once it has asked: there is something until it has heard of it.
  for (let more = true; more; ) {
    const id = (await place.ok('enqueue', 'gone')).trim()
    await place.ok('jobs', 'delete', id)
    more = following.lines.length === 0
  }
  expect(JSON.parse(await found)).toMatchObject({ type: 'deleted', name: 'gone' })
  following.signal('SIGINT')
  expect(await following.ended).toMatchObject({ code: 130 })
  expect(await place.ok('dlq', 'list')).toBe('no failed jobs\n')
  expect(await place.okJson('dlq', 'purge', '--dry-run')).toEqual({ count: 0, dryRun: true })
  expect(await place.okJson('dlq', 'retry', '--yes')).toEqual({ count: 0 })
  expect(await place.ok('backup', place.path('copy.db'))).toMatch(/copy\.db: \d+\.\d KiB\n$/)
  expect(readFileSync(place.path('copy.db')).length).toBeGreaterThan(0)
  expect(await place.okJson('workers', 'list')).toEqual({ workers: [] })
  expect(await place.run('jobs', 'show', MISSING)).toMatchObject({ code: 3 })
})
