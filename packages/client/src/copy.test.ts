/** Tests what a copy of a job takes of it. */
import { expect, test } from 'vitest'
import { copyOf } from './copy.ts'
import { bareJob } from './testing/bareJob.ts'
import { jobOf } from './view.ts'

const job = (over: object = {}) => ({ ...jobOf(bareJob), ...over }) as Parameters<typeof copyOf>[0]

test('a copy names its job in its meta, whatever that was', () => {
  const { id } = job()
  expect(copyOf(job({ meta: { a: 1, copyOf: 'older' } })).options?.meta).toEqual({ a: 1, copyOf: id })
  expect(copyOf(job({ meta: [1] })).options?.meta).toEqual({ meta: [1], copyOf: id })
})

test('data that cannot be decoded is not copied', () => {
  expect(() => copyOf(job({ undecoded: ['data'] }))).toThrow(/cannot be decoded/)
  expect(copyOf(job({ undecoded: ['output'], data: 1 })).data).toBe(1)
})
