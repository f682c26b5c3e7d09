/** When a process reports its figures to the writer: while it has workers, at once and at intervals. */
import type { Vitals } from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { sessionIntro } from '@millrace/testkit/internal'
import { REPORT_EVERY_MS } from '@millrace/worker'
import { expect, test } from 'vitest'
import type { SessionChange } from '../readers/readRouter.ts'
import { Pulse } from './pulse.ts'

const attach = (uuid: string): SessionChange => ({ op: 'attach', session: sessionIntro(['a'], { uuid }), held: [] })
const leave = (session: string): SessionChange => ({ op: 'leave', session })

test('from the first worker to the last', async () => {
  const clock = new VirtualClock()
  const said: Vitals[] = []
  const pulse = new Pulse((vitals) => void said.push(vitals), clock)
  await clock.advance(10 * REPORT_EVERY_MS)
  expect(said).toEqual([])
  pulse.note(attach('a'))
  expect(said).toEqual([{ rssBytes: expect.any(Number) }])
  // It attaches again after a break, and another one comes.
  pulse.note(attach('a'))
  pulse.note(attach('b'))
  await clock.advance(2 * REPORT_EVERY_MS)
  expect(said).toHaveLength(3)
  expect(said[2]).toEqual({ eventLoopDelayMs: 0, rssBytes: expect.any(Number) })
  pulse.note(leave('a'))
  await clock.advance(REPORT_EVERY_MS)
  expect(said).toHaveLength(4)
  pulse.note(leave('nobody'))
  pulse.note(leave('b'))
  await clock.advance(10 * REPORT_EVERY_MS)
  expect(said).toHaveLength(4)
})
