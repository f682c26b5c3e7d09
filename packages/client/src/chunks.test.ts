import { OptionRangeError } from '@millrace/core'
import { expect, test } from 'vitest'
import { Chunks } from './chunks.ts'

/** Rejects any call with a job named `bad`, as an atomic call does. */
function chunks(calls: number[], stored: string[], refused: string[]) {
  return new Chunks<string>({
    enqueue: async (jobs) => {
      calls.push(jobs.length)
      if (jobs.some(({ job }) => job === 'bad')) throw new OptionRangeError('data', 1, 'too large')
      stored.push(...jobs.map(({ data }) => data as string))
      return jobs.map(() => ({ created: true }))
    },
    sent: () => {},
    refused: (origin) => refused.push(origin),
  })
}

test('one bad job of a thousand costs a few calls, and all others are stored in order', async () => {
  const [calls, stored, refused] = [[] as number[], [] as string[], [] as string[]]
  const all = chunks(calls, stored, refused)
  const names = Array.from({ length: 2_500 }, (_, index) => `${index}`)
  for (const name of names) await all.add(name, { job: name === '777' ? 'bad' : 'good', data: name }, 10)
  await all.send()
  expect(refused).toEqual(['777'])
  expect(stored).toEqual(names.filter((name) => name !== '777'))
  expect(calls.length).toBeLessThan(30)
})

test('long data makes chunks smaller; an error that is not about one job ends it', async () => {
  const [calls, stored] = [[] as number[], [] as string[]]
  const all = chunks(calls, stored, [])
  for (let index = 0; index < 4; index++) await all.add('', { job: 'good', data: '' }, 3 * 2 ** 20)
  await all.send()
  await all.send()
  expect(calls).toEqual([1, 1, 1, 1])
  const failing = new Chunks<string>({ enqueue: () => Promise.reject(new Error('gone')), sent: () => {}, refused: () => {} })
  await failing.add('', { job: 'good' }, 1)
  await expect(failing.send()).rejects.toThrow('gone')
})
