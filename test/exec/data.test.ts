// 5.4: the data of jobs on its way into commands; each value to the byte is packages/exec/src/command/hostile.test.ts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { nodeCommand, script, shareEngine } from './bench.ts'

const share = shareEngine()

test('through a job: nothing of it is run', async () => {
  const folder = temporaryFolder()
  const marker = join(folder, 'pwned')
  const { run } = await share({
    show: nodeCommand('process.stdout.write(process.argv[1])', { args: ['{{a}}'], cwd: folder }),
    script: script('echo "$1" $JOB_DATA_A', { args: ['{{a}}'], cwd: folder }),
  })
  const a = `; touch ${marker}; $(touch ${marker}) \`touch ${marker}\``
  expect((await run('show', { a })).output?.stdout.head).toBe(a)
  expect((await run('script', { a })).state).toBe('completed')
  expect(existsSync(marker)).toBe(false)
})

test('all of them together are bounded too', async () => {
  const { run } = await share({ many: script(':', { args: Array.from({ length: 6 }, () => '{{a}}'), variables: false }) })
  const job = await run('many', { a: 'x'.repeat(100_000) })
  expect(job).toMatchObject({ state: 'failed', attempts: [{ error: { name: 'NonRetryableError' } }] })
  expect(job.attempts[0]?.error?.message).toMatch(/^BAD_ARGS: the arguments and variables have \d+ bytes together, and at most 524288/)
})

test('a command that reads stdin takes what no argument could', async () => {
  const { run } = await share({ cat: { file: '/bin/cat', stdin: 'data' } })
  const data = { a: `\0${'x'.repeat(200_000)}` }
  expect((await run('cat', data)).output?.stdout.bytes).toBe(JSON.stringify(data).length)
})

test("a literal '--' goes to the script with what it lets in", async () => {
  const { run } = await share({ print: script('printf "%s|" "$@"', { args: ['--', '{{a}}'] }) })
  expect((await run('print', { a: '-n' })).output?.stdout.head).toBe('--|-n|')
})

test('Q2: any shell command, as docs/exec.md has it', async () => {
  const { run } = await share({ sh: script('eval "$JOB_DATA_COMMAND"') })
  const piped = await run('sh', { command: 'printf "%s\\n" one two | tail -n 1; exit 0' })
  expect(piped).toMatchObject({ state: 'completed', output: { exitCode: 0, stdout: { head: 'two\n' } } })
  const failed = await run('sh', { command: 'echo no >&2; exit 3' })
  expect(failed).toMatchObject({
    state: 'failed',
    attempts: [{ error: { name: 'CommandFailedError', message: expect.stringContaining('exit code 3: no') } }],
  })
})
