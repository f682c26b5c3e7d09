// A signal that comes before a command has begun: each command of the program either runs until a signal, or is interrupted.
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
// A command that has ended may still be loading these: here they are there before.
import '@millrace/remote'
import '@millrace/engine'
import '@millrace/postgres'
import '@millrace/webhooks'
import { expect, test } from 'vitest'
import { UNTIL_SIGNAL } from '../exit.ts'
import type { Host } from '../host.ts'
import { leavesOf } from './asks.ts'
import type { Context } from './context.ts'
import { createProgram } from './program.ts'
import { run } from './run.ts'

const COMMANDS = leavesOf(createProgram({ out: {} } as Context)).map(([path, { options, registeredArguments }]) => {
  const given = [
    ...registeredArguments.filter(({ required }) => required).map(({ argChoices }) => argChoices?.[0] ?? 'x'),
    ...options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [String(long), 'x']),
  ]
  return [path, given, UNTIL_SIGNAL.has(path) ? 0 : 130] as const
})

test('those that run until a signal are commands, and their descriptions say so', () => {
  const running = leavesOf(createProgram({ out: {} } as Context)).flatMap(([path, command]) =>
    /until (?:a signal|Ctrl-C)|^Run (?:the daemon|demo jobs)/.test(command.description()) ? [path] : [],
  )
  expect(running.toSorted()).toEqual([...UNTIL_SIGNAL].toSorted())
})

test.each(COMMANDS)('%s does nothing if a signal comes first', async (path, given, code) => {
  const signals = new EventEmitter()
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const host = { env: {}, stdin, stdout, stderr, on: signals.on.bind(signals), off: signals.off.bind(signals) } as unknown as Host
  const ended = run([...path.split(' '), ...given], host)
  signals.emit('SIGTERM', 'SIGTERM', 15)
  expect(await ended).toBe(code)
  expect([stdout.read(), stderr.read()]).toEqual([null, null])
})
