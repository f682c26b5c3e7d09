import { describe, expect, test } from 'vitest'
import { ApiError } from '../api/problem.ts'
import { ManualClock, settled } from '../testing/manualClock.ts'
import { Pace } from './pace.ts'
import { Poll } from './poll.ts'

/** A poll whose questions are answered by hand. */
function setUp(every = 1) {
  const clock = new ManualClock(1_000_000)
  const pace = new Pace()
  const asked: { answer(value: unknown): Promise<void>; refuse(error: ApiError): Promise<void>; signal: AbortSignal }[] = []
  const outcomes: (string | undefined)[] = []
  const poll = new Poll<unknown>({
    pace,
    clock,
    every,
    settled: (error) => outcomes.push(error?.code),
    ask: (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const after = async (act: () => void) => {
        act()
        await settled()
      }
      asked.push({ signal, answer: (value) => after(() => resolve(value)), refuse: (error) => after(() => reject(error)) })
      return promise
    },
  })
  return { clock, pace, asked, outcomes, poll }
}

const down = new ApiError(0, 'UNREACHABLE', 'the server cannot be reached')

test('asks at once, and again a beat after each answer', async () => {
  const { clock, asked, poll } = setUp()
  const end = poll.use()
  expect(asked).toHaveLength(1)
  await clock.advance(10_000)
  expect(asked).toHaveLength(1)
  await asked[0]?.answer({ n: 1 })
  expect(poll.state.value).toEqual({ value: { n: 1 }, error: undefined })
  await clock.advance(1_999)
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  expect(asked).toHaveLength(2)
  end()
  expect(asked[1]?.signal.aborted).toBe(true)
})

test('after its end it asks nothing, until the next who looks is the first', async () => {
  const { clock, asked, poll } = setUp()
  const leave = poll.use()
  await asked[0]?.answer(1)
  poll.end()
  poll.refresh()
  await clock.advance(10_000)
  expect(asked).toHaveLength(1)
  leave()
  poll.use()
  expect(asked).toHaveLength(2)
})

test('one question is in flight, however many want it fresh; they get one more', async () => {
  const { asked, poll } = setUp()
  poll.use()
  poll.use()
  for (let times = 0; times < 5; times++) poll.refresh()
  expect(asked).toHaveLength(1)
  await asked[0]?.answer(1)
  expect(asked).toHaveLength(2)
  await asked[1]?.answer(2)
  expect(asked).toHaveLength(2)
  expect(poll.state.value.value).toBe(2)
})

test('what asks at each fifth beat waits five beats', async () => {
  const { clock, asked, poll } = setUp(5)
  poll.use()
  await asked[0]?.answer(1)
  await clock.advance(9_999)
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  expect(asked).toHaveLength(2)
})

test('errors make it slower, up to a minute, and leave the last answer; an answer makes it as fast as before', async () => {
  const { clock, asked, outcomes, poll } = setUp()
  poll.use()
  await asked.at(-1)?.answer({ jobs: 3 })
  const waits: number[] = []
  for (let times = 0; times < 7; times++) {
    let waited = 0
    for (const before = asked.length; asked.length === before; waited += 1_000) await clock.advance(1_000)
    waits.push(waited)
    await asked.at(-1)?.refuse(down)
    expect(poll.state.value).toEqual({ value: { jobs: 3 }, error: down })
  }
  expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  await clock.advance(60_000)
  await asked.at(-1)?.answer({ jobs: 4 })
  expect(poll.state.value.error).toBeUndefined()
  expect(outcomes).toEqual([undefined, ...Array(7).fill('UNREACHABLE'), undefined])
  const before = asked.length
  await clock.advance(2_000)
  expect(asked).toHaveLength(before + 1)
})

test('waits for as long as the API asks to', async () => {
  const { clock, asked, poll } = setUp()
  poll.use()
  await asked[0]?.refuse(new ApiError(429, 'RATE_LIMITED', 'too often', 90_000))
  await clock.advance(89_999)
  expect(asked).toHaveLength(1)
  await clock.advance(1)
  expect(asked).toHaveLength(2)
})

test.each([
  ['a hidden tab', (pace: Pace) => pace.hidden],
  ['a pause', (pace: Pace) => pace.paused],
  ['the end of the session', (pace: Pace) => pace.over],
] as const)('%s stops it; afterwards it asks at once', async (_what, signalOf) => {
  const { clock, pace, asked, poll } = setUp()
  poll.use()
  await asked[0]?.answer(1)
  signalOf(pace).value = true
  await clock.advance(600_000)
  expect(asked).toHaveLength(1)
  expect(clock.pending).toBe(0)
  signalOf(pace).value = false
  expect(asked).toHaveLength(2)
})

test('it asks once even when the rate is off: the page has something to show', async () => {
  const { clock, pace, asked, poll } = setUp()
  pace.rateMs.value = 0
  poll.use()
  await asked[0]?.answer(1)
  await clock.advance(600_000)
  expect(asked).toHaveLength(1)
  pace.rateMs.value = 15_000
  expect(asked).toHaveLength(2)
})

test('an answer that comes after the end changes nothing', async () => {
  const { clock, asked, outcomes, poll } = setUp()
  const end = poll.use()
  end()
  end()
  await asked[0]?.answer(1)
  expect(poll.state.value.value).toBeUndefined()
  expect(outcomes).toEqual([])
  expect(clock.pending).toBe(0)
  poll.use()
  await asked[1]?.answer(2)
  expect(poll.state.value.value).toBe(2)
})

describe('what did not change keeps its old object', () => {
  test('all of it', async () => {
    const { clock, asked, poll } = setUp()
    poll.use()
    await asked[0]?.answer({ jobs: [{ id: 'a', n: 1 }] })
    const { value } = poll.state.value
    const state = poll.state.value
    await clock.advance(2_000)
    await asked[1]?.answer({ jobs: [{ id: 'a', n: 1 }] })
    expect(poll.state.value).toBe(state)
    expect(poll.state.value.value).toBe(value)
  })

  test('rows that others have come before', async () => {
    const { clock, asked, poll } = setUp()
    poll.use()
    await asked[0]?.answer({ jobs: [{ id: 'a', tags: ['x'] }, { id: 'b' }] })
    const before = poll.state.value.value as { readonly jobs: readonly unknown[] }
    await clock.advance(2_000)
    await asked[1]?.answer({ jobs: [{ id: 'c' }, { id: 'a', tags: ['x'] }, { id: 'b', done: true }] })
    const after = poll.state.value.value as { readonly jobs: readonly unknown[] }
    expect(after.jobs).toEqual([{ id: 'c' }, { id: 'a', tags: ['x'] }, { id: 'b', done: true }])
    expect(after.jobs[1]).toBe(before.jobs[0])
    expect(after.jobs[2]).not.toBe(before.jobs[1])
  })
})
