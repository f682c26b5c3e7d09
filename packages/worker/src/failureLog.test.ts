// The log of failed attempts costs little in a flood, and counts every line that it leaves out.
import type { FailCommand, Logger, RunError } from '@millrace/core'
import { expect, test } from 'vitest'
import { FailureLog } from './failureLog.ts'
import { ManualClock } from './testing/manualClock.ts'
import { grantOf } from './testing/workbench.ts'

function start() {
  const clock = new ManualClock()
  const said = { lines: 0, leftOut: 0 }
  const line: Logger['warn'] = (_message, fields) => {
    said.lines++
    said.leftOut += Number(fields?.['leftOut'] ?? 0)
  }
  const log = new FailureLog({ debug: line, info: line, warn: line, error: line }, clock, 'w')
  const fail = (name: string, error: RunError = { name: 'Error', message: 'no' }, attempt = 1) =>
    log.tell({ grant: grantOf({ name }), aborted: undefined, attempt }, { op: 'fail', seq: 1, run: 1, error } as FailCommand)
  return { clock, said, fail }
}

/** An error that counts how often its message is read, as a fingerprint does. */
function counted() {
  const reads = { count: 0 }
  const error: RunError = {
    name: 'Error',
    get message() {
      reads.count++
      return 'no'
    },
  }
  return { reads, error }
}

test('once a second has its lines, an attempt takes no fingerprint', () => {
  const { said, fail } = start()
  for (let kind = 0; kind < 20; kind++) fail(`kind${kind}`)
  const { reads, error } = counted()
  for (let time = 0; time < 100; time++) fail('more', error)
  expect([said.lines, reads.count]).toEqual([20, 0])
})

test('a flood of one kind takes a bounded number of fingerprints, and every line left out is counted', async () => {
  const { clock, said, fail } = start()
  const { reads, error } = counted()
  for (let time = 0; time < 5_000; time++) fail('flood', error)
  expect(said.lines).toBe(3)
  expect(reads.count).toBeLessThan(510)
  fail('last', undefined, 4)
  expect(said.lines).toBe(4)
  await clock.advance(60_000)
  fail('flood', error)
  expect(said).toEqual({ lines: 5, leftOut: 4_997 })
})

test('kinds that are forgotten leave the count of their lines', async () => {
  const { clock, said, fail } = start()
  for (let time = 0; time < 7; time++) fail('first')
  for (let kind = 0; kind < 1_000; kind++) {
    await clock.advance(100)
    fail(`kind${kind}`)
  }
  expect(said).toEqual({ lines: 1_003, leftOut: 4 })
})

test('an attempt is told by what its job has recorded, and code that does not fit as what uses none', () => {
  const lines: string[] = []
  const line: Logger['warn'] = (message) => void lines.push(message)
  const log = new FailureLog({ debug: line, info: line, warn: line, error: line }, new ManualClock(), 'w')
  const grant = grantOf({ attempt: 3, maxAttempts: 3 })
  const fail = { op: 'fail', seq: 1, run: 1, error: { name: 'E', message: 'm' } } as const
  log.tell({ grant, aborted: undefined, attempt: 1 }, fail)
  log.tell({ grant, aborted: undefined, attempt: 3 }, { ...fail, changed: true })
  log.tell({ grant, aborted: undefined, attempt: 3 }, fail)
  expect(lines).toEqual([
    "job 'a' failed at attempt 1 of 3 and is tried again: E: m",
    "job 'a' is tried again later, and uses no attempt: E: m",
    "job 'a' failed permanently at attempt 3 of 3: E: m",
  ])
})
