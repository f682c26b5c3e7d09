/** When a process reports its figures to the writer: while it has workers, at once and at intervals. */
import type { Request, Vitals } from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { REPORT_EVERY_MS } from '@millrace/worker'
import { expect, test } from 'vitest'
import { Pulse } from './pulse.ts'

const attach = (uuid: string) => [{ id: 1, command: { op: 'attach', session: { uuid }, held: [] } }] as unknown as readonly Request[]
const leave = (session: string): readonly Request[] => [{ id: 2, command: { op: 'leave', session } }]

test('from the first worker to the last', async () => {
  const clock = new VirtualClock()
  const said: Vitals[] = []
  const pulse = new Pulse((vitals) => void said.push(vitals), clock)
  pulse.note([{ id: 1, command: { op: 'stats' } }])
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
