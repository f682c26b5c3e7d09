// `share: true`: processes on one file, of which one owns it, until another has to.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { describe, expect, test } from 'vitest'
import { temporaryFile, temporaryFolder } from '../temporary.ts'
import { type Fact, Member } from './members.ts'

const acknowledged = (n: number) => (fact: Fact) => fact['acknowledged'] === n
const ran = (n: number) => (fact: Fact) => fact['ran'] === n

test('the first owns the file, later ones attach to it, and all work on the same jobs', async () => {
  const file = temporaryFile()
  const owner = await Member.start(file, 'producer')
  const worker = await Member.start(file, 'worker')
  const producer = await Member.start(file, 'producer')
  for (const [n, member] of [owner, worker, producer].entries()) member.say({ enqueue: n })
  for (const [n, member] of [owner, worker, producer].entries()) await member.until(acknowledged(n))
  for (const n of [0, 1, 2]) await worker.until(ran(n))
  expect(statSync(`${file}-share`).mode & 0o777).toBe(0o700)
  await expect(openEngine({ file })).rejects.toMatchObject({ code: 'ALREADY_OPEN' })
})

test('the owner is killed: within two seconds another serves, nothing is lost, and what runs elsewhere keeps its run', async () => {
  const file = temporaryFile()
  const owner = await Member.start(file, 'producer')
  const worker = await Member.start(file, 'worker')
  const producer = await Member.start(file, 'producer')
  producer.say({ enqueue: 1, ms: 2_500 })
  await worker.until((fact) => fact['started'] === 1)
  await owner.kill()
  const killedMono = performance.now()
  producer.say({ enqueue: 2 })
  await producer.until(acknowledged(2))
  expect(performance.now() - killedMono).toBeLessThan(2_000)
  await worker.until(ran(2))
  expect(await worker.until(ran(1))).toEqual({ ran: 1, run: 1 })
  expect(worker.facts.filter((fact) => fact['started'] === 1)).toHaveLength(1)
})

test('an owner that stops hands the file over', async () => {
  const file = temporaryFile()
  const owner = await Member.start(file, 'producer')
  const worker = await Member.start(file, 'worker')
  owner.say({ enqueue: 1 })
  await worker.until(ran(1))
  await owner.stop()
  worker.say({ enqueue: 2 })
  await worker.until(ran(2))
  const late = await Member.start(file, 'producer')
  late.say({ enqueue: 3 })
  await worker.until(ran(3))
})

test('owners are killed in a loop under load: all that was acknowledged runs, and completes once', async () => {
  const file = temporaryFile()
  const told: Fact[] = []
  const hear = (fact: Fact) => void told.push(fact)
  const members = [
    await Member.start(file, 'worker', hear),
    await Member.start(file, 'worker', hear),
    await Member.start(file, 'worker', hear),
  ]
  const last = await Member.start(file, 'producer', hear)
  let next = 0
  for (let round = 0; round < 3; round++) {
    for (let call = 0; call < 200; call++) last.say({ enqueue: next++ })
    // In the middle of it: some are acknowledged, some are not.
    await last.until(acknowledged(next - 150))
    await members.shift()?.kill()
    members.push(await Member.start(file, 'worker', hear))
  }
  for (let n = 0; n < next; n++) await last.until(acknowledged(n))
  for (;;) {
    const before = last.facts.length
    last.say({ stats: true })
    const { stats } = await last.until((fact) => 'stats' in fact && last.facts.indexOf(fact) >= before)
    const { completed, failed } = stats as Record<string, number>
    expect(failed).toBe(0)
    if (completed === next) break
  }
  const ranOnes = new Set(told.flatMap((fact) => ('ran' in fact ? [fact['ran']] : [])))
  expect(ranOnes.size).toBe(next)
})

describe('in one process', () => {
  test('a second opening is the same engine, and the last stop closes it', async () => {
    const file = temporaryFile()
    const [one, two] = await Promise.all([openEngine({ file, share: true }), openEngine({ file, share: true })])
    expect(two).toBe(one)
    await one.stop()
    expect((await two.enqueue('a')).created).toBe(true)
    await two.stop()
    await expect(two.enqueue('a')).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
    const again = await openEngine({ file })
    expect((await again.stats()).states.waiting).toBe(1)
    await again.stop()
  })

  test('a file that is open without it is not shared', async () => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    await expect(openEngine({ file, share: true })).rejects.toMatchObject({ code: 'ALREADY_OPEN', pid: process.pid })
    await engine.stop()
  })

  test('a path that is too long for a socket moves to the runtime folder', async () => {
    const file = join(temporaryFolder(), `${'x'.repeat(90)}.db`)
    const owner = await Member.start(file, 'producer')
    const engine = await openEngine({ file, share: true })
    const job = defineJob({ name: 'here' })
    const worker = engine.work([job.handler(() => 7)])
    expect(await (await engine.enqueue(job)).result()).toBe(7)
    await worker.stop()
    await engine.stop()
    await owner.stop()
  })
})
