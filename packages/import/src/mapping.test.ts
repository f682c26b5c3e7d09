import { readFileSync } from 'node:fs'
import { LIMITS, nameOption } from '@millrace/core'
import { expect, test } from 'vitest'
import { FEATURES as AGENDA } from './agenda/job.ts'
import { FEATURES as BULLMQ } from './bullmq/job.ts'
import { addressOf, attemptsLeft, dataOf, keyOf, priorityOf, scheduleId } from './mapping.ts'
import { FEATURES as GRAPHILE } from './postgres/graphileJob.ts'
import { FEATURES as PG_BOSS } from './postgres/pgBossJob.ts'

test.each(Object.entries({ AGENDA, BULLMQ, GRAPHILE, PG_BOSS }))('docs/import.md has every feature of %s', (_name, features) => {
  const page = readFileSync(new URL('../../../docs/import.md', import.meta.url), 'utf8')
  const missing = Object.entries(features).filter(([feature, becomes]) => !page.includes(`| ${feature} | ${becomes} |\n`))
  expect(missing).toEqual([])
})

test('priorities are turned round by the caller, and kept within the bounds', () => {
  expect([0, -5, 7].map((number) => priorityOf(number))).toEqual([0, -5, 7].map((priority) => ({ priority, beyond: false })))
  expect(Object.is(priorityOf(-0).priority, 0)).toBe(true)
  expect(priorityOf(-2_097_151)).toEqual({ priority: -LIMITS.priority, beyond: true })
  expect(priorityOf(2 ** 31)).toEqual({ priority: LIMITS.priority, beyond: true })
})

test('a job has at least one attempt left, and not more than the engine takes', () => {
  expect([attemptsLeft(5, 2), attemptsLeft(1, 3), attemptsLeft(0, 0), attemptsLeft(1e9, 0)]).toEqual([3, 1, 1, LIMITS.maxAttempts])
})

test('data that JavaScript would change is refused, and so is what is not JSON', () => {
  expect(dataOf('{"a":[1,null]}')).toEqual({ a: [1, null] })
  expect(() => dataOf('[9007199254740993]')).toThrow(/9007199254740993/)
  expect(() => dataOf('{')).toThrow(/its data is not JSON/)
})

test('ids of schedules stay as they are if they can; otherwise a hash tells them apart', () => {
  expect(scheduleId('mail', 'nightly')).toBe('mail:nightly')
  expect(scheduleId('mail', '')).toBe('mail')
  const ids = [scheduleId('a b'), scheduleId('a-b'), scheduleId('a+b'), scheduleId('x'.repeat(129)), scheduleId('x'.repeat(130))]
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(nameOption('id', id)).toBe(id)
})

test('keys name the source and the id, and are hashes if that is too long', () => {
  expect(keyOf('bullmq', 'bull:mail:1:2')).toBe('millrace:import:bullmq:bull:mail:1:2')
  const [long, other] = [keyOf('bullmq', 'x'.repeat(600)), keyOf('bullmq', 'x'.repeat(601))]
  expect(long).toMatch(/^millrace:import:bullmq:sha256:[0-9a-f]{64}$/)
  expect(other).not.toBe(long)
  expect(keyOf('bullmq', '\ud800')).toMatch(/sha256/)
})

test('addresses have no password', () => {
  expect(addressOf('redis://user:secret@host:6379')).toBe('redis://host:6379')
  expect(addressOf('postgres://u:p@db/app?sslmode=require&password=p')).toBe('postgres://db/app')
  expect(addressOf('mongodb://u:p@a:1,b:2/app?authSource=admin')).toBe('mongodb://a:1,b:2/app')
})
