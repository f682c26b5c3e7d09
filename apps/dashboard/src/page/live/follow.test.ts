import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manualClock.ts'
import { Follow, type StreamHandlers } from './follow.ts'

function following(after: number | 'now' = 'now') {
  const clock = new ManualClock()
  const running = signal(true)
  const opened: { readonly url: string; readonly stream: StreamHandlers; isOpen: boolean }[] = []
  const taken: unknown[][] = []
  const follow = new Follow<{ readonly seq: number }>({
    clock,
    running,
    after,
    urlOf: (from) => `/events?after=${from}`,
    take: (items) => taken.push([...items]),
    open: (url, stream) => {
      const one = { url, stream, isOpen: true }
      opened.push(one)
      return () => {
        one.isOpen = false
      }
    },
  })
  const end = follow.start()
  const hear = (seq: number) => opened.at(-1)?.stream.received(JSON.stringify({ seq }), `${seq}`)
  return { clock, running, opened, taken, follow, end, hear }
}

test('events that come together are taken together', async () => {
  const { clock, taken, hear, follow, opened } = following()
  opened[0]?.stream.opened()
  expect(follow.state.value).toBe('on')
  for (const seq of [7, 8, 9]) hear(seq)
  expect(taken).toEqual([])
  await clock.advance(200)
  hear(10)
  await clock.advance(200)
  expect(taken).toEqual([[{ seq: 7 }, { seq: 8 }, { seq: 9 }], [{ seq: 10 }]])
})

test('a tab that is not seen has no stream, and continues behind the last event', async () => {
  const { clock, running, opened, hear, follow } = following(40)
  hear(41)
  running.value = false
  expect([follow.state.value, opened[0]?.isOpen]).toEqual(['off', false])
  await clock.advance(600_000)
  expect(opened).toHaveLength(1)
  running.value = true
  expect(opened.map(({ url, isOpen }) => [url, isOpen])).toEqual([
    ['/events?after=40', false],
    ['/events?after=41', true],
  ])
})

test('before there was an event, it begins again where it began', () => {
  const { running, opened } = following('now')
  running.value = false
  running.value = true
  expect(opened.map(({ url }) => url)).toEqual(['/events?after=now', '/events?after=now'])
})

test('a stream that was refused is opened again, later each time, up to a minute', async () => {
  const { clock, opened, follow } = following()
  for (const delay of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    const before = opened.length
    opened.at(-1)?.stream.ended()
    expect([follow.state.value, opened.at(-1)?.isOpen]).toEqual(['down', false])
    await clock.advance(delay - 1)
    expect(opened).toHaveLength(before)
    await clock.advance(1)
    expect(opened).toHaveLength(before + 1)
  }
  opened.at(-1)?.stream.opened()
  opened.at(-1)?.stream.ended()
  const before = opened.length
  await clock.advance(2_000)
  expect(opened).toHaveLength(before + 1)
})

test('after its end there is neither a stream nor a timer', async () => {
  const { clock, opened, end, hear, taken } = following()
  hear(1)
  opened[0]?.stream.ended()
  end()
  expect(clock.pending).toBe(0)
  await clock.advance(600_000)
  expect([opened.filter(({ isOpen }) => isOpen).length, opened.length, taken]).toEqual([0, 1, []])
})
