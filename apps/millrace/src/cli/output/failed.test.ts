// A stdout that cannot be written to: one line on stderr and exit code 1, of every command; a reader that has gone is no error.
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Host } from '../../host.ts'
import { leavesOf } from '../asks.ts'
import type { Context } from '../context.ts'
import { createProgram } from '../program.ts'
import { run } from '../run.ts'

async function runWith(code: string, args: readonly string[]): Promise<{ readonly exit: number; readonly stderr: string }> {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: no room`), { code })) })
  const stderr = new PassThrough()
  const { on, off } = new EventEmitter()
  const exit = await run(args, { env: {}, stdin: new PassThrough(), stdout, stderr, on, off } as unknown as Host)
  return { exit, stderr: String(stderr.read() ?? '') }
}

const COMMANDS = [
  ['openapi'],
  ['openapi', '--json'],
  ['completion', 'bash'],
  [],
  ['--help'],
  ['--version'],
  ['--help', '--json'],
  ...leavesOf(createProgram({ out: {} } as Context)).map(([path]) => [...path.split(' '), '--help']),
].map((args) => [args.join(' '), args] as const)

test.each(COMMANDS)('millrace %s', async (_line, args) => {
  const { exit, stderr } = await runWith('ENOSPC', args)
  expect(stderr).toMatch(/^[^\n]*cannot write the answer to stdout: ENOSPC: no room[^\n]*\n$/)
  expect(exit).toBe(1)
  expect(await runWith('EPIPE', args)).toEqual({ exit: 0, stderr: '' })
})
