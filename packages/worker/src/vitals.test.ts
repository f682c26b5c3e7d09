/** What a process reports of itself: its memory at once, and how late its event loop was since the last report. */
import { expect, test } from 'vitest'
import { ManualClock } from './testing/manualClock.ts'
import { REPORT_EVERY_MS, VitalSigns } from './vitals.ts'

/** A clock whose timers fire late, as those of a thread that is blocked. */
function blocked() {
  const clock = new ManualClock()
  let lateMs = 0
  const late = { read: () => clock.read(), setTimer: (ms: number, wake: () => void) => clock.setTimer(ms + lateMs, wake) }
  const signs = new VitalSigns(late)
  const delayAfter = async (ms: number, blockedMs = 0): Promise<number | undefined> => {
    lateMs = blockedMs
    await clock.advance(ms)
    return signs.take().eventLoopDelayMs
  }
  return { clock, signs, delayAfter }
}

test('a report has the delays since the last one', async () => {
  const { signs, delayAfter } = blocked()
  signs.begin()
  expect(signs.take()).toEqual({ rssBytes: expect.any(Number) })
  expect(await delayAfter(5_000)).toBe(0)
  expect(await delayAfter(5_000, 300)).toBe(300)
  // The look that was set while the thread was blocked is still late.
  await delayAfter(1_000)
  expect(await delayAfter(5_000)).toBe(0)
  signs.end()
})

test('a thread that is blocked from report to report is not taken for one that is well', async () => {
  const { signs, delayAfter } = blocked()
  signs.begin()
  await delayAfter(500, 60_000)
  expect(await delayAfter(60_500, 60_000)).toBe(60_000)
  expect(await delayAfter(60_500, 60_000)).toBe(60_000)
  signs.end()
})

test('one delay among many looks is no rule', async () => {
  const { signs, delayAfter } = blocked()
  signs.begin()
  await delayAfter(500, 900)
  expect(await delayAfter(60_000)).toBe(0)
  signs.end()
})

test('nothing is measured before the beginning and after the end', async () => {
  const { clock, signs, delayAfter } = blocked()
  expect(clock.timers).toBe(0)
  signs.begin()
  signs.begin()
  expect(clock.timers).toBe(1)
  await clock.advance(1_000)
  signs.end()
  expect(clock.timers).toBe(0)
  expect(await delayAfter(1_000)).toBeUndefined()
})

test('a report is due every few seconds, and at once if measuring begins again', () => {
  const { signs } = blocked()
  const due = (mono: number) => signs.takeDue(mono) !== undefined
  expect(due(0)).toBe(false)
  signs.begin()
  expect([due(0), due(REPORT_EVERY_MS - 1), due(REPORT_EVERY_MS), due(REPORT_EVERY_MS + 1)]).toEqual([true, false, true, false])
  signs.begin()
  expect(due(REPORT_EVERY_MS + 2)).toBe(true)
  signs.end()
})
