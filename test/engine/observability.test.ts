// What the engine tells of how it fares: by job name, by queue and minute, by kind of failure.
import { defineJob } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const a = defineJob({ name: 'a', queue: 'q' })

let t: TestEngine
beforeEach(() => {
  t = createTestEngine()
})
afterEach(() => t[Symbol.asyncDispose]())

describe('E25: how long jobs wait and run', () => {
  test('by name: from when they were due to their hand-out, and from there to their end', async () => {
    for (let index = 0; index < 3; index++) await t.engine.enqueue(a, index)
    await t.engine.enqueue('bystander')
    await t.advance(10)
    const ends: (() => void)[] = []
    t.engine.work([a.handler(() => new Promise<void>((resolve) => void ends.push(resolve)))], { concurrency: 3 })
    await t.advance(7)
    for (const end of ends) end()
    await t.advance(1)
    const { names } = await t.engine.stats()
    expect(names).toEqual([
      {
        queue: 'q',
        name: 'a',
        started: 3,
        completed: 3,
        failed: 0,
        waitMs: { p50: 10, p95: 10, p99: 10 },
        runMs: { p50: 7, p95: 7, p99: 7 },
      },
    ])
  })

  test('the oldest waiting job may be one that its key holds back', async () => {
    await t.engine.queues.configure('q', { perKeyLimit: 1 })
    t.engine.work([a.handler(() => new Promise<void>(() => {}))], { concurrency: 5 })
    for (let index = 0; index < 3; index++) await t.engine.enqueue(a, index, { concurrencyKey: 'k' })
    await t.advance('4s')
    const { queues } = await t.engine.stats()
    expect(queues['q']).toMatchObject({ active: 1, waiting: 2, oldestWaitingMs: 4_000 })
  })

  test('the writer tells of its mailbox, its log and its journal', async () => {
    await t.engine.enqueue(a)
    const { writer } = await t.engine.stats()
    expect(writer).toMatchObject({ turns: 1, turnSizeP99: 1, failedTurns: 0, mailboxDepth: 0, walBytes: 0 })
    expect(writer.journalBytes).toBeGreaterThan(0)
  })
})
