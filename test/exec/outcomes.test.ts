// Q2: outcomes of commands, as jobs tell them.
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { type EndedJob, nodeCommand, script, shareEngine, startBench } from './bench.ts'

const share = shareEngine()

describe('what is recorded', () => {
  test('Q2: exit code, stdout, stderr and how long it took', async () => {
    const { run } = await share({ greet: script('echo hello; echo careful >&2') })
    const job = await run('greet')
    expect(job).toMatchObject({
      state: 'completed',
      output: {
        exitCode: 0,
        signal: null,
        stdout: { head: 'hello\n', tail: '', bytes: 6, truncated: false },
        stderr: { head: 'careful\n', tail: '', bytes: 8, truncated: false },
      },
    })
    expect(job.output?.durationMs).toBeGreaterThanOrEqual(0)
    expect(job.output).not.toHaveProperty('logFile')
  })

  test('Q2: a failure has its exit code and the end of stderr in its error, and the last lines in the log of the attempt', async () => {
    const { run } = await share({ break: script('echo half; echo no such disk >&2; exit 3') })
    const job = await run('break')
    expect(job.state).toBe('failed')
    const [attempt] = job.attempts
    expect(attempt?.error).toMatchObject({
      name: 'CommandFailedError',
      message: "the command 'break' has ended with exit code 3: no such disk",
    })
    expect(attempt?.logs.map(({ level, message, fields }) => [level, message, fields])).toMatchObject([
      ['info', 'half', { stream: 'stdout' }],
      ['error', 'no such disk', { stream: 'stderr' }],
      ['error', 'the command has ended with exit code 3', { exitCode: 3, signal: null, stdoutBytes: 5, stderrBytes: 13 }],
    ])
  })

  test('a signal is told by its name', async () => {
    const { run } = await share({ die: script('kill -SEGV $$') })
    const job = await run('die')
    expect(job.attempts[0]?.error?.message).toBe("the command 'die' was ended by SIGSEGV")
    expect(job.attempts[0]?.logs.at(-1)?.fields).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
  })

  test('a file that is gone since the worker started fails like any command, and may be there again later', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'tool')
    symlinkSync('/bin/sh', file)
    const { run } = await share({ gone: { file } })
    unlinkSync(file)
    expect((await run('gone')).attempts[0]?.error?.message).toMatch(
      /^the command 'gone' has ended with exit code 127: .*(?:not found|No such file)/,
    )
  })

  test('a folder that is gone too', async () => {
    const folder = temporaryFolder()
    const cwd = join(folder, 'here')
    mkdirSync(cwd)
    const { run } = await share({ gone: script('pwd', { cwd }) })
    rmdirSync(cwd)
    const { error } = (await run('gone')).attempts[0] ?? {}
    expect(error).toMatchObject({ name: 'CommandFailedError', message: expect.stringMatching(/could not be started: .*ENOENT/) })
  })
})

describe('exit codes', () => {
  const exit = (more: object) => script('exit "$1"', { args: ['{{code}}'], ...more })

  test('successCodes say what is a success', async () => {
    const { run } = await share({ grep: exit({ successCodes: [0, 1] }) })
    expect(await run('grep', { code: 1 })).toMatchObject({ state: 'completed', output: { exitCode: 1 } })
    expect(await run('grep', { code: 2 })).toMatchObject({ state: 'failed' })
  })

  test.for([
    ['noRetryCodes', { noRetryCodes: [2] }],
    ['retryCodes', { retryCodes: [3] }],
  ] as const)('%s: some fail at once, the others are tried again', async ([, more]) => {
    const { engine } = await startBench({ job: exit({ ...more, backoff: { type: 'fixed', delay: '1h' } }) })
    const hopeless = await engine.enqueue('job', { code: 2 })
    await hopeless.result().catch(() => {})
    expect(await engine.get(hopeless.id)).toMatchObject({
      state: 'failed',
      attempt: 1,
      attempts: [{ error: { name: 'NonRetryableError', message: "the command 'job' has ended with exit code 2" } }],
    })
    const retried = new Promise((resolve) => engine.once('retrying', resolve))
    const { id } = await engine.enqueue('job', { code: 3 })
    await retried
    expect(await engine.get(id)).toMatchObject({ state: 'scheduled', attempt: 1, attempts: [{ error: { name: 'CommandFailedError' } }] })
  })

  test('the definition has the policy of the command', async () => {
    const { engine } = await startBench({
      job: exit({ queue: 'shell', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 }, priority: 7 }),
    })
    const handle = await engine.enqueue('job', { code: 1 })
    await handle.result().catch(() => {})
    expect(await engine.get(handle.id)).toMatchObject({ state: 'failed', queue: 'shell', attempt: 2, maxAttempts: 2, priority: 7 })
  })
})

describe('what a command is given', () => {
  const tell =
    'process.stdout.write(JSON.stringify({ argv: process.argv.slice(1), env: process.env, cwd: process.cwd(), umask: process.umask() }))'
  const told = (job: EndedJob) => JSON.parse(job.output?.stdout.head ?? 'null')

  test('its own environment: what is named, and what tells of the job', async () => {
    vi.stubEnv('MILLRACE_SECRET', 'not for commands')
    vi.stubEnv('MILLRACE_ALLOWED', 'yes')
    const { run } = await startBench({
      tell: nodeCommand(tell, { env: { inherit: ['MILLRACE_ALLOWED', 'MILLRACE_ABSENT'], set: { LEVEL: '1' } } }),
    })
    const job = await run('tell', { path: 'a b', size: 3, on: true, 'not-safe': 1, deep: {}, none: null })
    // Where sh is bash, it adds two of its own.
    const { SHLVL: _level, _: _last, ...env } = told(job).env
    expect(env).toEqual({
      MILLRACE_ALLOWED: 'yes',
      LEVEL: '1',
      JOB_ID: job.id,
      JOB_NAME: 'tell',
      JOB_QUEUE: 'default',
      JOB_ATTEMPT: '1',
      JOB_RUN: '1',
      JOB_DATA_PATH: 'a b',
      JOB_DATA_SIZE: '3',
      JOB_DATA_ON: 'true',
    })
  })

  test('the root folder and a mask of 077, unless others are configured', async () => {
    const folder = temporaryFolder()
    const { run } = await share({ tell: nodeCommand(tell), other: nodeCommand(tell, { cwd: folder, umask: '027' }) })
    expect(told(await run('tell'))).toMatchObject({ cwd: '/', umask: 0o077, env: { PATH: process.env['PATH'] } })
    expect(told(await run('other'))).toMatchObject({ cwd: folder, umask: 0o027 })
  })

  test('data on stdin: bytes as they are, all else as JSON; variables only where they are asked for', async () => {
    const cat = { file: '/bin/cat', stdin: 'data' as const }
    const { run } = await share({ cat, both: script('cat; echo "$JOB_DATA_A"', { stdin: 'data', variables: true }) })
    expect((await run('cat', { a: '\u0000"é' })).output?.stdout.head).toBe('{"a":"\\u0000\\"é"}')
    expect((await run('cat')).output?.stdout.head).toBe('null')
    expect((await run('cat', new TextEncoder().encode('as it is'))).output?.stdout.head).toBe('as it is')
    expect((await run('both', { a: 1 })).output?.stdout.head).toBe('{"a":1}1\n')
  })

  test('a command that does not read its stdin is none the worse for it', async () => {
    const { run } = await share({ deaf: script('exit 0', { stdin: 'data' }) })
    expect((await run('deaf', 'x'.repeat(1_000_000))).state).toBe('completed')
  })

  test('no stdin by default', async () => {
    const { run } = await share({ cat: { file: '/bin/cat' } })
    expect((await run('cat', { a: 1 })).output?.stdout.bytes).toBe(0)
  })

  test('the positional arguments of a script', async () => {
    const { run } = await share({ show: script('printf "%s|" "$0" "$@"', { args: ['{{a}}', 'x={{a}}'] }) })
    expect((await run('show', { a: '$(id); "`' })).output?.stdout.head).toBe('show|$(id); "`|x=$(id); "`|')
  })
})

describe('the log', () => {
  test('has all of it, in a file that nobody else can read', async () => {
    const folder = join(temporaryFolder(), 'logs')
    const { run } = await share({ say: script('echo out; echo err >&2; exit "$1"', { args: ['{{code}}'] }) }, { logFolder: folder })
    const job = await run('say', { code: 0 })
    const path = join(folder, `${job.id}-1.log`)
    expect(job.output?.logFile).toBe(path)
    expect(readFileSync(path, 'utf8').split('\n').sort()).toEqual(['', 'err', 'out'])
    expect([statSync(folder).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600])
    const failed = await run('say', { code: 1 })
    expect(failed.attempts[0]?.logs.at(-1)?.fields).toMatchObject({ logFile: join(folder, `${failed.id}-1.log`) })
  })

  test('a folder that cannot be written starts nothing, and is tried again', async () => {
    const folder = join(temporaryFolder(), 'logs')
    const marker = join(temporaryFolder(), 'marker')
    const { run } = await share({ say: script('touch "$1"', { args: ['{{marker}}'] }) }, { logFolder: folder })
    rmSync(folder, { recursive: true })
    expect((await run('say', { marker })).attempts[0]?.error).toMatchObject({
      name: 'CommandFailedError',
      message: expect.stringMatching(/^the command 'say' was not started, since its log could not be: .*ENOENT/),
    })
    expect(existsSync(marker)).toBe(false)
  })
})
