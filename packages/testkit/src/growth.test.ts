// The helper that finds leaks finds each kind of them, and nothing where there is none.
import { EventEmitter } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from './clock.ts'
import { countTimers, growth } from './testing/growth.ts'

const ROUNDS = 100
const FILE = fileURLToPath(import.meta.url)

test('what leaves nothing behind has not grown', async () => {
  const [list, emitter, clock] = [new Set<number>(), new EventEmitter(), countTimers(new VirtualClock())]
  const grown = await growth({ sizes: { list: () => list.size }, emitters: { emitter }, clocks: { clock } }, (round) => {
    list.add(round)
    list.delete(round)
    const listen = () => {}
    emitter.on('event', listen).off('event', listen)
    clock.setTimer(5, () => {})()
    closeSync(openSync(FILE, 'r'))
    clearTimeout(setTimeout(() => {}, 100_000))
  })
  expect(grown).toEqual({})
})

test('each kind of leak is told by its name and size', async () => {
  const [list, emitter, clock] = [new Set<number>(), new EventEmitter(), countTimers(new VirtualClock())]
  emitter.setMaxListeners(0)
  const left: (() => void)[] = []
  onTestFinished(() => left.forEach((undo) => void undo()))
  const watched = { sizes: { list: () => list.size }, emitters: { emitter }, clocks: { clock } }
  const grown = await growth(
    watched,
    (round) => {
      list.add(round)
      emitter.on('event', () => {})
      clock.setTimer(5, () => {})
      const descriptor = openSync(FILE, 'r')
      const timer = setTimeout(() => {}, 100_000)
      left.push(
        () => closeSync(descriptor),
        () => clearTimeout(timer),
      )
    },
    ROUNDS,
  )
  expect(grown).toEqual({
    list: ROUNDS,
    'listeners of emitter': ROUNDS,
    'timers of clock': ROUNDS,
    'process: descriptors': ROUNDS,
    'process: Timeout': ROUNDS,
  })
})

test('a timer that has fired is not open any more', async () => {
  const clock = new VirtualClock()
  const counted = countTimers(clock)
  counted.setTimer(5, () => {})
  counted.setTimer(50, () => {})
  await clock.advance(10)
  expect(counted.openTimers).toBe(1)
})
