// Each look reads a bounded number of processes, each once, however many sessions they have.
import type { Tables } from '@millrace/core/kernel'
import { VirtualClock } from '@millrace/testkit'
import { processKey } from '@millrace/worker/process'
import { expect, test } from 'vitest'
import { watchDeaths } from './deaths.ts'

const SPACE = processKey().split(':').slice(0, 2).join(':')
const ELSEWHERE = 'boot:space'

/** Watches sessions of which each process has `each`. Processes of odd numbers are dead. */
function watch(processes: number, each: number, space = SPACE) {
  const present = new Map<string, { process: string }>()
  for (let session = 0; session < each; session++)
    for (let pid = 0; pid < processes; pid++) present.set(`${session} of ${pid}`, { process: `${space}:${pid}:1` })
  const tables = { present, sessions: new Map() } as unknown as Tables
  const reads: string[] = []
  const clock = new VirtualClock()
  let wakes = 0
  const stop = watchDeaths({
    actor: { tables, declareDead: (sessions) => sessions.forEach((uuid) => void present.delete(uuid)) },
    wake: () => wakes++,
    clock,
    isDead: (key) => {
      reads.push(key)
      return Number(key.split(':')[2]) % 2 === 1
    },
  })
  return { present, reads, clock, stop, wakes: () => wakes, taken: () => reads.splice(0).length }
}

test.each([
  ['one process with many sessions', 1, 5_000, SPACE, [1], 5_000],
  ['few processes with many sessions', 4, 1_000, SPACE, [4], 2_000],
  ['as many processes as one look reads', 64, 1, SPACE, [64], 32],
  ['more processes than one look reads', 150, 10, SPACE, [64, 64, 22], 750],
  ['processes of another machine', 150, 10, ELSEWHERE, [0], 1_500],
  ['none', 0, 0, SPACE, [0], 0],
])('%s: each process is read once in a round', async (_what, processes, each, space, looks, left) => {
  const watched = watch(processes, each, space)
  const read = [watched.reads.length]
  for (const _next of looks.slice(1)) {
    const before = watched.reads.length
    await watched.clock.advance(10)
    read.push(watched.reads.length - before)
  }
  expect(read).toEqual(looks)
  expect(new Set(watched.reads).size).toBe(watched.reads.length)
  expect(watched.present.size).toBe(left)
  watched.stop()
})

test('a process that lives is read again in the next round, a dead one no more; without any left, nothing is', async () => {
  const { clock, present, taken, wakes, stop } = watch(4, 3)
  expect([taken(), wakes()]).toEqual([4, 1])
  await clock.advance(999)
  expect(taken()).toBe(0)
  await clock.advance(1)
  expect([taken(), wakes()]).toEqual([2, 1])
  present.clear()
  await clock.advance(10_000)
  expect(taken()).toBe(0)
  stop()
})
