import { expect, test } from 'vitest'
import type { Api } from '../api/client.ts'
import { ApiError } from '../api/problem.ts'
import { ManualClock, settled } from '../testing/manualClock.ts'
import { Live } from './live.ts'

function setUp(answer: () => unknown) {
  const clock = new ManualClock(5_000)
  const asked: string[] = []
  const api: Api = {
    async get(path) {
      asked.push(path)
      return answer() as never
    },
    send: async () => undefined,
  }
  return { clock, asked, live: new Live(api, clock) }
}

const throws = (error: ApiError) => () => {
  throw error
}

test('the same question of two views is one question', async () => {
  const { asked, live } = setUp(() => ({ workers: [] }))
  expect(live.poll('/v1/workers')).toBe(live.poll('/v1/workers', {}))
  expect(live.poll('/v1/jobs', { queue: 'a' })).not.toBe(live.poll('/v1/jobs', { queue: 'b' }))
  const ends = [live.poll('/v1/workers').use(), live.poll('/v1/workers').use()]
  await settled()
  expect(asked).toEqual(['/v1/workers'])
  for (const end of ends) end()
})

test('a time that moves with the clock is one question; another span is another', () => {
  const { clock, live } = setUp(() => ({}))
  const poll = live.poll('/v1/history', { queues: '*', from: { agoMs: 3_600_000 } })
  void clock.advance(60_000)
  expect(live.poll('/v1/history', { queues: '*', from: { agoMs: 3_600_000 } })).toBe(poll)
  expect(live.poll('/v1/history', { queues: '*', from: { agoMs: 60_000 } })).not.toBe(poll)
})

test('an API out of reach is down since the first failure, and up with the first answer', async () => {
  let answer: () => unknown = throws(new ApiError(0, 'UNREACHABLE', 'the server cannot be reached'))
  const { clock, live } = setUp(() => answer())
  const end = live.poll('/v1/workers').use()
  await settled()
  expect(live.down.value).toEqual({ since: 5_000, reason: 'the server cannot be reached' })
  await clock.advance(10_000)
  expect(live.down.value?.since).toBe(5_000)
  answer = () => ({ workers: [] })
  await clock.advance(20_000)
  expect(live.down.value).toBeUndefined()
  end()
})

test('a refusal is no outage', async () => {
  const { live } = setUp(throws(new ApiError(404, 'JOB_NOT_FOUND', 'there is no job x')))
  const end = live.poll('/v1/jobs/x').use()
  await settled()
  expect(live.down.value).toBeUndefined()
  expect(live.pace.over.value).toBe(false)
  expect(live.poll('/v1/jobs/x').state.value.error?.code).toBe('JOB_NOT_FOUND')
  end()
})

test('a 401 ends the session: nothing more is asked', async () => {
  const { clock, asked, live } = setUp(throws(new ApiError(401, 'AUTH_FAILED', 'the token is not known')))
  live.poll('/v1/workers').use()
  await settled()
  expect(live.pace.over.value).toBe(true)
  await clock.advance(600_000)
  expect(asked).toHaveLength(1)
})

test('answers that nobody looks at are kept for a while, not for ever', async () => {
  const { live } = setUp(() => ({ jobs: [] }))
  const first = live.poll('/v1/jobs', { tag: 'first' })
  for (let number = 0; number < 20; number++) live.poll('/v1/jobs', { tag: `${number}` })
  expect(live.poll('/v1/jobs', { tag: 'first' })).toBe(first)
  for (let number = 0; number < 100; number++) live.poll('/v1/jobs', { tag: `more ${number}` })
  expect(live.poll('/v1/jobs', { tag: 'first' })).not.toBe(first)
})
