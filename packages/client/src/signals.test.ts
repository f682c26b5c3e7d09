// Which signals count, by a fake clock.
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { END_SIGNALS, onSignals } from './signals.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

test('signals within 500 ms count as one, whichever they are', async () => {
  const source = new EventEmitter()
  const heard: string[] = []
  const forget = onSignals(source, END_SIGNALS, (signal) => void heard.push(signal))
  source.emit('SIGINT', 'SIGINT')
  source.emit('SIGINT', 'SIGINT')
  vi.advanceTimersByTime(499)
  source.emit('SIGTERM', 'SIGTERM')
  await turn()
  expect(heard).toEqual(['SIGINT'])
  vi.advanceTimersByTime(1)
  // It arrived while the thread was busy: the timer was due, and is heard first.
  source.emit('SIGINT', 'SIGINT')
  expect(heard).toEqual(['SIGINT'])
  await turn()
  source.emit('SIGHUP', 'SIGHUP')
  expect(heard).toEqual(['SIGINT', 'SIGHUP'])
  forget()
  expect(END_SIGNALS.map((signal) => source.listenerCount(signal))).toEqual([0, 0, 0])
})
