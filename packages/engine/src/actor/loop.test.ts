import { describe, expect, test, vi } from 'vitest'
import type { Actor } from './actor.ts'
import { Loop, type LoopOptions } from './loop.ts'

/** An actor whose turns answer what the test says, in milliseconds until the next; and time as a list of timers. */
function world(answers: readonly number[], change: Partial<LoopOptions> = {}) {
  const left = [...answers]
  const timers = new Map<() => void, number>()
  const breaths: (() => void)[] = []
  const turn = vi.fn(() => left.shift() ?? 60_000)
  const failed = vi.fn()
  const loop = new Loop({
    actor: { turn, hasMail: false } as unknown as Actor,
    clock: {
      read: () => ({ wall: 0, mono: 0 }),
      setTimer: (ms, wake) => {
        timers.set(wake, ms)
        return () => timers.delete(wake)
      },
    },
    breathe: (resume) => void breaths.push(resume),
    failed,
    ...change,
  })
  return { loop, turn, timers, breaths, failed }
}

test('one timer, to the next deadline; mail in between takes its place', () => {
  const { loop, turn, timers } = world([500, 20])
  loop.wake()
  expect([...timers.values()]).toEqual([500])
  loop.wake()
  expect([turn.mock.calls.length, [...timers.values()]]).toEqual([2, [20]])
  const [[wake]] = [...timers] as [[() => void, number]]
  wake()
  expect(turn).toHaveBeenCalledTimes(3)
})

test('turns are taken while there is more to do, then others get the thread', () => {
  const { loop, turn, timers, breaths } = world(Array(20).fill(0))
  loop.wake()
  expect([turn.mock.calls.length, breaths.length, timers.size]).toEqual([16, 1, 0])
  // What wakes it meanwhile waits for its breath.
  loop.wake()
  expect(turn).toHaveBeenCalledTimes(16)
  breaths[0]?.()
  expect([turn.mock.calls.length, [...timers.values()]]).toEqual([21, [60_000]])
})

test('what has arrived and not been announced is taken in before each turn', () => {
  const order: string[] = []
  const { loop } = world([], {
    drain: () => void order.push('drain'),
    actor: { turn: () => order.push('turn') && (order.length < 4 ? 0 : 5) } as never,
  })
  loop.wake()
  expect(order).toEqual(['drain', 'turn', 'drain', 'turn'])
})

describe('lingering', () => {
  /** Mail that comes after so many looks, and a clock that goes on by 1 ms at each reading. */
  function mailAfter(looks: number, postponed = false) {
    let mono = 0
    let looked = 0
    let mail = true
    const actor = {
      get hasMail() {
        return mail
      },
      turn: vi.fn(() => {
        mail = postponed
        return 500
      }),
    }
    const drain = () => {
      if (++looked === looks) mail = true
    }
    const timers: number[] = []
    const setTimer = (ms: number) => {
      timers.push(ms)
      return () => {}
    }
    const clock = { read: () => ({ wall: 0, mono: mono++ }), setTimer }
    const loop = new Loop({ actor: actor as never, clock, drain, lingerMs: 10, breathe: () => {}, failed: () => {} })
    loop.wake()
    return { turns: actor.turn.mock.calls.length, timers }
  }

  test('mail that comes soon after a turn is taken without a sleep', () => {
    expect(mailAfter(5)).toEqual({ turns: 2, timers: [500] })
  })

  test('mail that does not come soon finds the thread asleep', () => {
    expect(mailAfter(50)).toEqual({ turns: 1, timers: [500] })
  })

  test('mail that a turn has put off waits for its time', () => {
    expect(mailAfter(0, true)).toEqual({ turns: 1, timers: [500] })
  })
})

test('turns never nest', () => {
  let depth = 0
  const turn = () => {
    expect(++depth).toBe(1)
    loop.wake()
    depth--
    return 5
  }
  const { loop } = world([], { actor: { turn } as never })
  loop.wake()
})

test('an actor that cannot go on is told of once, and takes no turn any more', () => {
  const error = new Error('gone')
  const turn = vi.fn(() => {
    throw error
  })
  const { loop, timers, failed } = world([], { actor: { turn } as never })
  loop.wake()
  loop.wake()
  expect(failed.mock.calls).toEqual([[error]])
  expect([turn.mock.calls.length, timers.size]).toEqual([1, 0])
})

test('stopped, it takes no turn any more: not by mail, by time, or after a breath', () => {
  const { loop, turn, timers, breaths } = world([...Array(16).fill(0), 5])
  loop.wake()
  loop.stop()
  breaths[0]?.()
  loop.wake()
  expect([turn.mock.calls.length, timers.size]).toEqual([16, 0])
  const timed = world([5])
  timed.loop.wake()
  timed.loop.stop()
  expect(timed.timers.size).toBe(0)
})
