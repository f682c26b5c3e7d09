import { systemClock } from '@millrace/worker'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { CountedClock } from '../testing/countedClock.ts'
import { BUSY, Hosts } from './hosts.ts'

const never = new AbortController().signal
const hostsOf = (perHost: number, waitMs = 60_000) => new Hosts({ perHost, waitMs, clock: systemClock })

test('no more than perHost of a host at a time, all of them in the end, and nothing is kept', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 }),
      async (perHost, calls) => {
        const hosts = hostsOf(perHost)
        const running: Record<string, number> = { a: 0, b: 0, c: 0 }
        let done = 0
        await Promise.all(
          calls.map((host) =>
            hosts.run(host, never, async () => {
              running[host] = (running[host] as number) + 1
              expect(running[host]).toBeLessThanOrEqual(perHost)
              await new Promise((resolve) => setImmediate(resolve))
              running[host] = (running[host] as number) - 1
              done++
            }),
          ),
        )
        expect(done).toBe(calls.length)
        await new Promise((resolve) => setImmediate(resolve))
        expect(hosts.size).toBe(0)
      },
    ),
    { numRuns: runs(50) },
  )
})

test('whose turn does not come has done nothing; an abort is told with its reason; neither takes a place', async () => {
  const hosts = hostsOf(1, 5)
  const gate = Promise.withResolvers<void>()
  const first = hosts.run('a', never, () => gate.promise)
  let ran = 0
  const work = async () => void ran++
  expect(await hosts.run('a', never, work)).toBe(BUSY)
  await expect(hosts.run('a', AbortSignal.abort(new Error('over')), work)).rejects.toThrow('over')
  expect(await hosts.run('b', never, async () => 'b')).toBe('b')
  expect(ran).toBe(0)
  gate.resolve()
  await first
  expect(await hosts.run('a', never, async () => 'next')).toBe('next')
  await new Promise((resolve) => setImmediate(resolve))
  expect(hosts.size).toBe(0)
})

test('what the work throws is thrown, and its place is free', async () => {
  const hosts = hostsOf(1)
  for (let count = 0; count < 3; count++) {
    await expect(hosts.run('a', never, () => Promise.reject(new Error(`no ${count}`)))).rejects.toThrow(`no ${count}`)
  }
})

test('a turn that has come, was given up or was aborted leaves no timer', async () => {
  const clock = new CountedClock()
  const hosts = new Hosts({ perHost: 1, waitMs: 30_000, clock })
  const gate = Promise.withResolvers<void>()
  const leaving = new AbortController()
  const first = hosts.run('a', never, () => gate.promise)
  const others = [hosts.run('a', never, async () => clock.open), hosts.run('a', never, () => Promise.reject(new Error('failed')))]
  const aborted = hosts.run('a', leaving.signal, async () => {})
  expect(clock.open).toBe(3)
  leaving.abort(new Error('over'))
  await expect(aborted).rejects.toThrow('over')
  expect(clock.open).toBe(2)
  gate.resolve()
  await first
  const [running, failed] = await Promise.allSettled(others)
  // The one behind it waits yet.
  expect(running).toMatchObject({ value: 1 })
  expect(failed).toMatchObject({ reason: new Error('failed') })
  expect(clock.open).toBe(0)
})
