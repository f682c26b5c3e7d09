// How the command line ends, as docs/cli.md says: the number, the line on stderr with its remedy, and the same as JSON.
import { existsSync, readdirSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { insist } from '../program.ts'
import { HANDLERS, Place } from './millrace.ts'

const LONG = 300_000
const MISSING = '01a1ff30-1a62-7000-8000-0000061600c4'

interface Row {
  readonly args: readonly string[]
  readonly code: number
  readonly error: string
  readonly says: RegExp
}

async function check(place: Place, rows: readonly Row[]): Promise<void> {
  for (const { args, code, error, says } of rows) {
    const human = await place.run(...args)
    expect({ args, code: human.code, stdout: human.stdout }).toEqual({ args, code, stdout: '' })
    expect(human.stderr).toMatch(says)
    // One line, whatever it says.
    expect(human.stderr).toMatch(new RegExp(`^millrace: [^\n]+ \\(${error}\\)\n$`))
  }
  const [first] = rows as [Row]
  const machine = await place.run(...first.args, '--json')
  expect({ code: machine.code, stdout: machine.stdout }).toEqual({ code: first.code, stdout: '' })
  expect(JSON.parse(machine.stderr)).toEqual({ error: { code: first.error, message: expect.stringMatching(first.says) } })
}

test('2: misuse, with the flag that it is about', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  await check(place, [
    {
      args: ['enqueue', 'mail', '--max-attempts', '0'],
      code: 2,
      error: 'OPTION_RANGE',
      says: /--max-attempts: maxAttempts must be between 1 and 100000, got 0/,
    },
    { args: ['enqueue', 'mail', '--delay', 'soon'], code: 2, error: 'OPTION_TYPE', says: /--delay: .*milliseconds, '5m'/ },
    { args: ['enqueue', 'ma il'], code: 2, error: 'OPTION_TYPE', says: /<name>: name has " " at position 2/ },
    { args: ['enqueue', 'mail', '{a:1}'], code: 2, error: 'USAGE', says: /<data> is not JSON.*quotes of its own/ },
    { args: ['enqueue', 'mail', '@nowhere.json'], code: 2, error: 'USAGE', says: /cannot read nowhere\.json/ },
    { args: ['enqueue', 'mail', 'hello'], code: 2, error: 'USAGE', says: /<data> is not JSON: .*of its own: '"hello"'/ },
    { args: ['enqueue', 'mail', '--meta', '{'], code: 2, error: 'USAGE', says: /--meta <json>.*It is not JSON/ },
    {
      args: ['enqueue', 'mail', '--delay', '5'],
      code: 2,
      error: 'USAGE',
      says: /--delay <duration>.*write 5s for seconds, or 5ms for milliseconds/,
    },
    { args: ['enqueue', 'mail', '--backoff', 'fixed:5'], code: 2, error: 'USAGE', says: /write 5s for seconds/ },
    {
      args: ['enqueue', 'mail', '--attempts', '5'],
      code: 2,
      error: 'USAGE',
      says: /'--attempts'; did you mean '--max-attempts'\? It counts the first attempt too/,
    },
    { args: ['enqueue', 'mail', '--priorty', '5'], code: 2, error: 'USAGE', says: /'--priorty'; did you mean '--priority'\?/ },
    { args: ['jobs', 'list', '--state', 'dead'], code: 2, error: 'OPTION_TYPE', says: /did you mean 'failed'\?/ },
    { args: ['jobs', 'list', '--state', 'pending'], code: 2, error: 'OPTION_TYPE', says: /did you mean 'waiting'\?/ },
    { args: ['jobs', 'list', '--state', 'processing'], code: 2, error: 'OPTION_TYPE', says: /did you mean 'active'\?/ },
    { args: ['queues', 'lst'], code: 2, error: 'USAGE', says: /unknown command 'lst' \(Did you mean list\?\)/ },
    {
      args: ['stats', '--url', 'http://me:secret@127.0.0.1:7410'],
      code: 2,
      error: 'USAGE',
      says: /--url must be http:\/\/host:port .*: set the token in MILLRACE_TOKEN/,
    },
    { args: ['jobs', 'list', '--state', 'done'], code: 2, error: 'OPTION_TYPE', says: /--state: state must be 'scheduled' or/ },
    { args: ['jobs', 'cancel'], code: 2, error: 'USAGE', says: /no jobs selected: give ids/ },
    { args: ['jobs', 'lst'], code: 2, error: 'USAGE', says: /Did you mean list/ },
    { args: ['schedules', 'set', 'a', 'b', '--cron', 'x'], code: 2, error: 'OPTION_TYPE', says: /--cron: cron "x" cannot be read/ },
    { args: ['stats', '--file', 'a', '--url', 'b'], code: 2, error: 'USAGE', says: /exclude each other/ },
    { args: ['stats', '--url', 'ftp://x'], code: 2, error: 'OPTION_TYPE', says: /--url: url must be one of 'unix:/ },
    { args: ['worker', 'start'], code: 2, error: 'USAGE', says: /nothing to run: name a module/ },
    ...[
      { flags: ['--id', 'w'.repeat(300)], error: 'OPTION_RANGE', says: /--id: id must have 1 to 128 characters, got 300/ },
      { flags: ['-c', '0'], error: 'OPTION_RANGE', says: /--concurrency: concurrency must be between 1 and/ },
      { flags: ['--queues', 'a b'], error: 'OPTION_TYPE', says: /--queues: queues\[0\] has " "/ },
      { flags: ['--health-port', '70000'], error: 'OPTION_RANGE', says: /--health-port: healthPort must be between 0 and 65535/ },
    ].map(({ flags, ...row }) => ({ args: ['worker', 'start', '--handlers', HANDLERS, ...flags], code: 2, ...row })),
    { args: ['worker', 'start', '--handlers', 'nothing.ts'], code: 2, error: 'USAGE', says: /--handlers nothing\.ts cannot be loaded/ },
    {
      args: ['queues', 'set', 'mail', '--on-full', 'drop-oldest'],
      code: 2,
      error: 'UNSUPPORTED',
      says: /--on-full: onFull 'drop-oldest' is for a queue with a maxLength/,
    },
    { args: ['queues', 'set', 'mail', '--dead-letter', 'mail'], code: 2, error: 'UNSUPPORTED', says: /--dead-letter: queue 'mail' cannot/ },
    { args: ['jobs', 'logs', MISSING, '--run', '0'], code: 2, error: 'OPTION_RANGE', says: /--run: run must be between 1 and/ },
    { args: ['import', place.folder], code: 2, error: 'USAGE', says: /cannot read .*: it is a folder/ },
    { args: ['backup', ''], code: 2, error: 'USAGE', says: /<file> must be the path of a new file/ },
    { args: ['enqueue', ''], code: 2, error: 'OPTION_RANGE', says: /must have 1 to 128 characters, got 0: give it a name/ },
    { args: ['audit'], code: 2, error: 'USAGE', says: /beside the daemon's file: give --file/ },
    { args: ['doctor'], code: 2, error: 'USAGE', says: /doctor checks a file or a schema/ },
    { args: ['completion', 'tcsh'], code: 2, error: 'USAGE', says: /Allowed choices are bash, zsh, fish/ },
  ])
  // Alone it says what there is.
  expect(await place.run()).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: millrace'), stderr: '' })
  expect(await place.run('--help')).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Usage: millrace') })
  expect(await place.runProcess('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) })
})

test('2: a job or a schedule that the engine would refuse makes no file', { timeout: LONG }, async () => {
  const place = new Place()
  await check(place, [
    { args: ['enqueue', 'mail', '--max-attempts', '0'], code: 2, error: 'OPTION_RANGE', says: /--max-attempts/ },
    { args: ['enqueue', 'mail', '--unique', 'k', '--on-conflict', 'no'], code: 2, error: 'OPTION_TYPE', says: /onConflict/ },
    { args: ['enqueue', 'mail', '--unique-until', 'end'], code: 2, error: 'OPTION_TYPE', says: /must have a key/ },
    { args: ['enqueue', 'mail', '{"a":1}', '--unique-by', 'b'], code: 2, error: 'OPTION_TYPE', says: /--unique-by/ },
    { args: ['enqueue', 'mail', '-', '--unique-by', 'b', '--on-conflict', 'no'], code: 2, error: 'OPTION_TYPE', says: /onConflict/ },
    { args: ['enqueue', 'two words'], code: 2, error: 'OPTION_TYPE', says: /name/ },
    { args: ['enqueue', 'mail', '-', '--priority', '99999999'], code: 2, error: 'OPTION_RANGE', says: /--priority/ },
    { args: ['schedules', 'set', 'a', 'mail', '--cron', 'x'], code: 2, error: 'OPTION_TYPE', says: /--cron/ },
    { args: ['queues', 'set', 'mail', '--concurrency-limit', '0'], code: 2, error: 'OPTION_RANGE', says: /--concurrency-limit/ },
  ])
  expect(readdirSync(place.folder)).toEqual([])
})

test('3: what is not there; asking makes no file', { timeout: LONG }, async () => {
  const place = new Place()
  await check(place, [
    { args: ['stats'], code: 3, error: 'NO_FILE', says: /there is no file .*jobs\.db: .*--file.*--url/ },
    { args: ['jobs', 'list'], code: 3, error: 'NO_FILE', says: /there is no file/ },
    { args: ['doctor'], code: 3, error: 'NO_FILE', says: /there is no file/ },
    { args: ['migrate'], code: 3, error: 'NO_FILE', says: /there is no file/ },
    { args: ['audit'], code: 3, error: 'NOT_FOUND', says: /there is no .*jobs\.db-control: the first run of millrace serve/ },
    { args: ['token', 'list'], code: 3, error: 'NOT_FOUND', says: /there is no .*jobs\.db-control/ },
    { args: ['token', 'revoke', 'ci'], code: 3, error: 'NOT_FOUND', says: /there is no .*jobs\.db-control/ },
  ])
  expect(readdirSync(place.folder)).toEqual([])
  await place.serve()
  await check(place, [
    { args: ['jobs', 'show', MISSING], code: 3, error: 'JOB_NOT_FOUND', says: /there is no job 01a1ff30/ },
    { args: ['jobs', 'cancel', MISSING], code: 3, error: 'JOB_NOT_FOUND', says: /no job/ },
    { args: ['queues', 'show', 'nothing'], code: 3, error: 'NOT_FOUND', says: /there is no queue nothing/ },
    { args: ['queues', 'drain', 'nothing'], code: 3, error: 'NOT_FOUND', says: /there is no queue nothing/ },
    { args: ['queues', 'show', 'nothing'], code: 3, error: 'NOT_FOUND', says: /there is no queue nothing/ },
    {
      args: ['queues', 'pause', 'nothing'],
      code: 3,
      error: 'QUEUE_NOT_FOUND',
      says: /there is no queue 'nothing': .*millrace queues set nothing/,
    },
    { args: ['schedules', 'pause', 'nothing'], code: 3, error: 'SCHEDULE_NOT_FOUND', says: /nothing/ },
    { args: ['queues', 'delete', 'nothing'], code: 3, error: 'NOT_FOUND', says: /there is no queue nothing/ },
    { args: ['queues', 'purge', 'nothing'], code: 3, error: 'NOT_FOUND', says: /there is no queue nothing/ },
    { args: ['schedules', 'delete', 'nothing'], code: 3, error: 'SCHEDULE_NOT_FOUND', says: /nothing/ },
    { args: ['workers', 'stop', 'nobody'], code: 3, error: 'NOT_FOUND', says: /no worker nobody is attached/ },
    { args: ['worker', 'stop', '1'], code: 3, error: 'NOT_FOUND', says: /no worker 1/ },
  ])
})

test('4: too late, or taken; 1: no place for a backup; 5: busy', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const id = (await place.ok('enqueue', 'mail', '--unique', 'u')).trim()
  await place.ok('jobs', 'cancel', id)
  await place.ok('enqueue', 'mail', '--unique', 'u', '--queue', 'full')
  await place.ok('queues', 'set', 'full', '--max-length', '1')
  await check(place, [
    { args: ['jobs', 'cancel', id], code: 4, error: 'JOB_FINISHED', says: /./ },
    { args: ['enqueue', 'mail', '--unique', 'u', '--on-conflict', 'error'], code: 4, error: 'UNIQUE_CONFLICT', says: /./ },
    { args: ['queues', 'delete', 'full', '--yes'], code: 4, error: 'QUEUE_NOT_EMPTY', says: /millrace queues purge full/ },
  ])
  await check(place, [
    { args: ['backup', place.file], code: 1, error: 'NOT_WRITABLE', says: /the file exists/ },
    { args: ['backup', place.path('none/copy.db')], code: 1, error: 'NOT_WRITABLE', says: /its folder \(ENOENT\)/ },
  ])
  await check(place, [{ args: ['enqueue', 'other', '--queue', 'full'], code: 5, error: 'QUEUE_FULL', says: /full/ }])
})

test('6: no connection, no leave', { timeout: LONG }, async () => {
  const place = new Place()
  place.url = `unix:${place.path('nobody')}`
  await check(place, [{ args: ['stats'], code: 6, error: 'CONNECT_FAILED', says: /no engine has answered.*start the server/ }])
  const [admin, reader] = ['a'.repeat(32), 'r'.repeat(32)]
  await place.serve(admin, `${reader}:read`)
  await check(place, [{ args: ['stats'], code: 6, error: 'AUTH_FAILED', says: /token/ }])
  place.env['MILLRACE_TOKEN'] = reader
  await check(place, [{ args: ['enqueue', 'mail'], code: 6, error: 'FORBIDDEN', says: /./ }])
  place.env['MILLRACE_TOKEN'] = admin
  expect(await place.okJson('stats')).toMatchObject({ workers: 0 })
})

test('a token among the arguments works, with a warning; a daemon refuses it', { timeout: LONG }, async () => {
  const place = new Place()
  const admin = 'a'.repeat(32)
  await place.serve(admin)
  const { code, stderr } = await place.run('stats', '--token', admin)
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^millrace: --token shows the token .*: set MILLRACE_TOKEN\n$/)])
  expect(await place.run('stats', '--token', admin, '--json')).toMatchObject({ code: 0, stderr: '' })
  for (const args of [
    ['serve', '--token', admin],
    ['serve', `--webhooks-secrets={"a":"whsec_${admin}"}`],
  ]) {
    const refused = await place.run(...args)
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('to every user of this machine') })
    expect(refused.stderr).not.toContain(admin)
  }
})

test('130: interrupted; a second signal ends a worker at once', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const waiting = place.start('enqueue', 'nobody', '--wait')
  // It is there, and waits.
  for (;;) if (((await place.okJson('stats'))['totals'] as { enqueued: number }).enqueued === 1) break
  waiting.child.kill('SIGTERM')
  expect(await waiting.ended).toMatchObject({ code: 130, signal: null })

  const worker = place.start('worker', 'start', '--handlers', HANDLERS)
  await worker.said(/is ready/)
  await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('never') }))
  await place.made('begun')
  worker.child.kill('SIGINT')
  await insist(worker, 'SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/takes no more jobs and waits for 1 running/) })
})

test('0: whoever reads may stop reading', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  await place.feed('1\n'.repeat(3_000), 'enqueue', 'many', '-')
  const list = place.start('jobs', 'list', '--all', '--json')
  await list.saidLines(1)
  list.child.stdout.destroy()
  expect(await list.ended).toEqual({ code: 0, signal: null, stderr: '' })
  expect(existsSync(place.file)).toBe(true)
})

test('colours are for terminals, and for whoever asks for them; what jobs say is text, and tells a terminal nothing', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  await place.serve()
  await place.ok('enqueue', 'mail')
  expect(await place.ok('jobs', 'list')).not.toContain('\u001b')
  // Node reads these variables of its process.
  vi.stubEnv('FORCE_COLOR', '1')
  expect(await place.ok('jobs', 'list')).toContain('\u001b[1m')
  expect(await place.ok('jobs', 'list', '--json')).not.toContain('\u001b')
  vi.unstubAllEnvs()
  vi.stubEnv('NO_COLOR', '1')
  expect(await place.ok('jobs', 'list')).not.toContain('\u001b')
  vi.unstubAllEnvs()

  const id = (await place.ok('enqueue', 'mail', '--tag', 'a\u001b[2J\u0007b')).trim()
  const shown = await place.ok('jobs', 'show', id)
  expect(shown).toMatch(/^tags +a\\x1b\[2J\\x07b$/m)
  expect(await place.okJson('jobs', 'show', id)).toMatchObject({ tags: ['a\u001b[2J\u0007b'] })
})
