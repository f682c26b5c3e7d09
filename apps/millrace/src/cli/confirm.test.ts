// A question at a terminal, and what may be answered.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { confirm } from './confirm.ts'
import type { Context } from './context.ts'

const terminal = () => Object.assign(new PassThrough(), { isTTY: true })

function asked(signal = new AbortController().signal) {
  const [stdin, stderr] = [terminal(), terminal()]
  const context = { stdin, signal, out: { stderr, json: false } } as unknown as Context
  return { stdin, answer: confirm(context, 'All of it?', undefined) }
}

test.each(['y\n', 'YES\r'])('%j is a yes', async (keys) => {
  const { stdin, answer } = asked()
  stdin.write(keys)
  await answer
})

test.each(['\n', 'n\n', 'yesterday\n', '\u0003', '\u0004', 'y\u0003'])('%j is none: nothing is done', async (keys) => {
  const { stdin, answer } = asked()
  stdin.write(keys)
  await expect(answer).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('nor is a signal, or an input that ends', async () => {
  const aborting = new AbortController()
  const { answer } = asked(aborting.signal)
  aborting.abort()
  await expect(answer).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const { stdin, answer: other } = asked()
  stdin.end()
  await expect(other).rejects.toMatchObject({ code: 'INTERRUPTED' })
})
