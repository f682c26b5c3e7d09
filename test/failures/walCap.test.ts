// A reader that never ends keeps SQLite from folding the write-ahead log into the file: it must not grow without end.
import { statSync } from 'node:fs'
import { LIMITS } from '@millrace/core'
import { defineJob, StorageBusyError } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { afterAll, expect, test } from 'vitest'
import { holdRead } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../temporary.ts'

const { walBytes } = LIMITS
// Above what a log grows to by itself before a commit folds it in.
Object.assign(LIMITS, { walBytes: 2 ** 25 })
afterAll(() => void Object.assign(LIMITS, { walBytes }))

const job = defineJob<string>({ name: 'a' })
const PAYLOAD = 'x'.repeat(300_000)
/** Of what one turn may add once the bound is passed, and of what is kept of the log's file. */
const SLACK_BYTES = 2 ** 22

test('31: wal-cap: new work is refused while a reader keeps the log long, completions go on, and service resumes', async () => {
  const file = temporaryFile()
  const walSize = () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const warned: string[] = []
  const warn = (message: string) => void warned.push(message)
  await using t = createTestEngine({ file, logger: { debug() {}, info() {}, warn, error() {} } })
  const { promise: held, resolve: finish } = Promise.withResolvers<void>()
  let completed = 0
  t.engine.on('completed', () => completed++)
  t.engine.work([job.handler(() => held)], { concurrency: 4 })
  for (let count = 0; count < 4; count++) await t.engine.enqueue(job, PAYLOAD)
  const endRead = holdRead(file)
  let refusal: unknown
  let enqueued = 0
  for (; refusal === undefined && enqueued < 1_000; enqueued++) {
    await t.engine.enqueue(job, PAYLOAD).catch((error) => {
      refusal = error
    })
    await t.advance(100)
  }
  expect(refusal).toBeInstanceOf(StorageBusyError)
  expect(refusal).toMatchObject({ retryable: true, message: expect.stringContaining('End the long read') })
  expect(walSize()).toBeGreaterThan(LIMITS.walBytes)
  expect(walSize()).toBeLessThan(LIMITS.walBytes + SLACK_BYTES)
  // Nothing that runs is kept from completing.
  finish()
  await t.advance(100)
  expect(completed).toBeGreaterThanOrEqual(4)
  await expect(t.engine.enqueue(job, PAYLOAD)).rejects.toThrow(StorageBusyError)
  expect((await t.engine.stats()).writer.draining).toBe(true)
  endRead()
  await t.advance(1_000)
  await t.engine.enqueue(job, PAYLOAD)
  expect((await t.engine.stats()).writer.draining).toBe(false)
  expect(walSize()).toBeLessThan(SLACK_BYTES)
  expect(warned).toEqual([expect.stringMatching(/End the long read/), 'new jobs are accepted again'])
})
