// `webhooks add` of a known endpoint keeps what it leaves out.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { Control } from '../../control/control.ts'
import { SYSTEM } from '../../control/surroundings.ts'
import type { Context } from '../context.ts'
import { addWebhooks } from './webhooks.ts'

test('webhooks add keeps what is left out of a known endpoint, says so, and removes it with none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-webhooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'jobs.db')
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const url = 'https://example.com/hooks'
  const add = async (...args: readonly string[]) => {
    const said: unknown[] = []
    const program = new Command()
    const out = { answer: async (_value: unknown, human: () => string) => void said.push(human()) }
    addWebhooks(program, { connect: async () => engine, target: () => ({ kind: 'file', file }), out } as unknown as Context)
    await program.parseAsync(['webhooks', 'add', 'billing', ...args], { from: 'user' })
    return said
  }
  const control = new Control(file, SYSTEM)
  onTestFinished(() => control.close())
  const stored = async () => (await control.endpoints.list())[0]

  expect(await add(url, '--events', 'failed', '--secret', 'main', '--queues', 'out', '--names', 'pay')).toEqual(['billing gets failed'])
  const [endpoint] = await control.endpoints.list()
  if (endpoint === undefined) throw new Error('the endpoint is stored')
  await control.endpoints.save({ ...endpoint, headers: { 'x-key': 'k' } })
  expect(await add(`${url}2`, '--events', 'completed')).toEqual(['billing gets completed; it keeps its secret, headers, queues, names'])
  expect(await stored()).toMatchObject({
    ...{ url: `${url}2`, events: ['completed'], secret: 'main', headers: { 'x-key': 'k' }, queues: ['out'], names: ['pay'] },
  })
  await expect(add('https://other.example.com/hooks', '--events', 'completed')).rejects.toThrow(
    'billing has headers for https://example.com, which are not sent to another host',
  )
  expect(await stored()).toMatchObject({ url: `${url}2` })
  await add(url, '--events', 'completed', '--secret', 'none', '--queues', 'none', '--names', 'refund')
  expect(await stored()).toMatchObject({ url, names: ['refund'], headers: { 'x-key': 'k' } })
  expect(await stored()).not.toMatchObject({ secret: expect.anything() })
  expect(await stored()).not.toMatchObject({ queues: expect.anything() })
})
