import type { Context } from '@millrace/engine'
import { expect, test } from 'vitest'
import { tryTwice } from './tries.ts'

/** Of a job whose kills have used many attempts already. */
function contextWith(checkpoint: unknown, signal = new AbortController().signal) {
  const stored: unknown[] = []
  const context = { job: { attempt: 40, checkpoint }, signal, checkpoint: async (value: unknown) => void stored.push(value) }
  return { context: context as unknown as Context, stored }
}

const unreadable = Object.assign(new Error("EACCES: permission denied, open '/a, b/it's'"), { code: 'EACCES' })
const fail = () => Promise.reject(unreadable)

test('the first failure is noted, and is tried again', async () => {
  const { context, stored } = contextWith(undefined)
  await expect(tryTwice(context, fail)).rejects.toBe(unreadable)
  expect(stored).toEqual([1])
})

test('the second one is final, and says why without the path', async () => {
  const { context, stored } = contextWith(1)
  await expect(tryTwice(context, fail)).rejects.toMatchObject({ name: 'NonRetryableError', message: 'EACCES: permission denied' })
  expect(stored).toEqual([])
})

test('a stop is no failure', async () => {
  const { context, stored } = contextWith(1, AbortSignal.abort())
  await expect(tryTwice(context, fail)).rejects.toBe(unreadable)
  expect(stored).toEqual([])
})
