// The settings of a queue on the command line: a duration has its unit.
import { openEngine } from '@millrace/engine'
import { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { getSetting } from '../../config/settings.ts'
import type { Context } from '../context.ts'
import { addConfig } from './config.ts'

async function program() {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const printed: unknown[] = []
  const out = { answer: async (_: unknown, human: () => unknown) => void printed.push(human()), note: () => {} }
  const root = new Command()
  addConfig(root, { connect: async () => engine, out, env: {} } as unknown as Context)
  return {
    set: (key: string, value: string) => root.parseAsync(['config', 'set', key, value], { from: 'user' }),
    get: (key: string) => getSetting(engine, key),
    printedBy: async (...args: readonly string[]) => {
      await root.parseAsync(['config', ...args], { from: 'user' })
      return printed.at(-1)
    },
  }
}

const WHOLE = ['alert-after', 'timeout', 'heartbeat-timeout', 'max-age', 'ttl', 'keep', 'backoff.delay', 'backoff.max-delay']

test.each([...WHOLE, 'retention.completed', 'retention.failed', 'retention.cancelled'])('%s', async (key) => {
  const { set, get, printedBy } = await program()
  for (const bare of ['30', '0.5', '3e4'])
    await expect(set(key, bare)).rejects.toMatchObject({
      code: 'USAGE',
      message: `${key}: A duration requires its unit: write ${bare}s for seconds, or ${bare}ms for milliseconds.`,
    })
  expect(await get(key)).toBeUndefined()
  expect(await printedBy('set', key, '30m')).toBe(`${key} of default is 30m`)
  expect(await printedBy('get', key)).toBe('30m')
  expect(await get(key)).toBe(1_800_000)
})

test.each(['rate-limit', 'per-key-rate-limit'])('the period of %s', async (key) => {
  const { set, get, printedBy } = await program()
  for (const bare of ['5/10', '5/10:7'])
    await expect(set(key, bare)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('write 10s for seconds') })
  await set(key, '5/10s:7')
  expect(await get(key)).toMatchObject({ limit: 5, burst: 7 })
  expect(await printedBy('get', key)).toBe('5/10s:7')
  await set(key, '5')
  expect(await get(key)).toMatchObject({ limit: 5 })
})

test('a setting that is missing, a word and a truth value', async () => {
  const { printedBy } = await program()
  expect(await printedBy('get', 'alert-after')).toBe('-')
  expect(await printedBy('set', 'retention.failed', 'forever')).toBe('retention.failed of default is forever')
  expect(await printedBy('set', 'timeout', 'Infinity')).toBe('timeout of default is Infinity')
  expect(await printedBy('set', 'paused', 'true')).toBe('paused of default is true')
})

test('numbers that are no durations stay numbers', async () => {
  const { set, get } = await program()
  for (const key of ['max-attempts', 'priority', 'backoff.factor', 'concurrency-limit', 'log-lines']) {
    await set(key, '7')
    expect(await get(key)).toBe(7)
  }
  await set('keep', 'forever')
  expect(await get('keep')).toBe('forever')
})
