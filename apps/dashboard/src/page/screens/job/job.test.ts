import { describe, expect, test } from 'vitest'
import type { FlowAnswer } from '../../api/answers.ts'
import { parseJson } from '../../parts/json/parse.ts'
import { writeJson } from '../../parts/json/write.ts'
import { before, jobOf, NOW } from '../../testing/inputs.ts'
import { causeText } from './causes.ts'
import { changesOf, localTime } from './change.ts'
import { curlOf } from './curl.ts'
import { neighboursOf } from './neighbours.ts'
import { offsetsOf, timelineOf } from './timeline.ts'

const attempt = (run: number, from: number, to: number | undefined, failed = true) => ({
  ...{ run, attempt: run, worker: 'w', logs: [], startedAt: before(from) },
  ...(to !== undefined && { endedAt: before(to) }),
  ...(failed && to !== undefined && { error: { name: 'E', message: 'm' } }),
})

describe('a timeline', () => {
  const kinds = (job: Parameters<typeof timelineOf>[0]) => timelineOf(job, NOW).segments.map(({ kind, label }) => `${kind} ${label}`)

  test('is what it waited for, its runs, and the pauses between them', () => {
    const attempts = [attempt(1, 9_000, 8_958), attempt(2, 7_000, 6_979), attempt(3, 3_000, 2_979)]
    const job = jobOf({ state: 'failed', enqueuedAt: before(10_000), finishedAt: before(2_979), attempts })
    expect(kinds(job)).toEqual([
      'waited waited 1.0 s',
      'bad 42 ms',
      'backoff backoff 2.0 s',
      'bad 21 ms',
      'backoff backoff 4.0 s',
      'bad 21 ms',
    ])
    expect(timelineOf(job, NOW)).toMatchObject({ from: NOW - 10_000, to: NOW - 2_979, ranMs: 84 })
  })

  test('of a run that goes on reaches until now, and one that waits for its next attempt until then', () => {
    const enqueuedAt = before(2_000)
    expect(kinds(jobOf({ state: 'active', enqueuedAt, attempts: [attempt(1, 1_000, undefined)] }))).toEqual([
      'waited waited 1.0 s',
      'running 1.0 s',
    ])
    const retrying = { state: 'scheduled' as const, attempt: 1, enqueuedAt, runAt: before(-500), attempts: [attempt(1, 1_000, 900)] }
    expect(kinds(jobOf(retrying)).at(-1)).toBe('backoff backoff 1.4 s')
    expect(timelineOf(jobOf(retrying), NOW).to).toBe(NOW + 500)
  })

  test('of a job without a run is the time that it waits, or waited', () => {
    const enqueuedAt = before(2_000)
    expect(kinds(jobOf({ enqueuedAt }))).toEqual(['waited waits 2.0 s'])
    expect(kinds(jobOf({ state: 'scheduled', enqueuedAt, runAt: before(-1_000) }))).toEqual(['scheduled scheduled 3.0 s'])
    expect(kinds(jobOf({ state: 'cancelled', enqueuedAt, finishedAt: before(500) }))).toEqual(['waited waited 1.5 s'])
  })

  test('counts what has passed, not what is yet to come', () => {
    const passed = (job: Parameters<typeof timelineOf>[0], now = NOW) => timelineOf(job, now).passedMs
    const due = jobOf({ state: 'scheduled', enqueuedAt: before(240_000), runAt: before(-7_200_000) })
    expect([passed(due), timelineOf(due, NOW).to - NOW]).toEqual([240_000, 7_200_000])
    expect(passed(jobOf({ enqueuedAt: before(2_000) }))).toBe(2_000)
    expect(passed(jobOf({ state: 'cancelled', enqueuedAt: before(2_000), finishedAt: before(500) }), 0)).toBe(1_500)
  })

  test('never goes backwards where clocks differ', () => {
    const job = jobOf({ state: 'completed', enqueuedAt: before(0), finishedAt: before(90), attempts: [attempt(1, 100, 90, false)] })
    const { from, to, segments } = timelineOf(job, NOW)
    expect(to).toBeGreaterThan(from)
    expect(segments.every((segment) => segment.to >= segment.from)).toBe(true)
  })

  test('has round times below it', () => {
    expect(offsetsOf(7_440, 4)).toEqual([2_000, 4_000, 6_000])
    expect(offsetsOf(3, 5)).toEqual([1, 2, 3])
    expect(offsetsOf(86_400_000 * 3, 4)).toEqual([64_800_000, 129_600_000, 194_400_000, 259_200_000])
  })
})

test('a cause that ends has its time as all others on the page', () => {
  const until = '2025-11-23T05:53:53.523Z'
  const cause = { message: `waits for its time until ${until}`, until }
  expect(causeText(cause, NOW, 'utc')).toBe('waits for its time until 05:53')
  expect(causeText(cause, NOW - 2 * 86_400_000, 'utc')).toBe('waits for its time until 23 Nov, 05:53')
  expect(causeText({ message: 'waits' }, NOW, 'utc')).toBe('waits')
})

describe('neighbours', () => {
  const flowJob = (id: string, state: string, ...parents: readonly string[]) => ({
    ...{ id, ref: id, name: id, queue: 'q', state, attempt: 0, runAt: before(0), onParentFailure: 'fail', parents: parents.length },
    dependsOn: parents.map((parent) => ({ id: parent, ref: parent })),
  })
  const jobs = [flowJob('a', 'completed'), flowJob('b', 'failed', 'a'), flowJob('c', 'blocked', 'b'), flowJob('d', 'blocked', 'c')]
  const flow = { id: 'f', jobs } as unknown as FlowAnswer

  test('are the jobs that it waits for, and those that wait for it', () => {
    const { before: first, after, total, failed, isWhole } = neighboursOf(flow, 'b')
    expect([first.map(({ id }) => id), after.map(({ id }) => id)]).toEqual([['a'], ['c']])
    expect([total, failed, isWhole]).toEqual([4, 1, true])
  })

  test('are few where there are many', () => {
    const many = Array.from({ length: 9 }, (_, place) => flowJob(`x${place}`, 'blocked', 'a'))
    const { after, moreAfter, isWhole } = neighboursOf({ ...flow, jobs: [jobs[0], ...many], next: 'n' } as unknown as FlowAnswer, 'a')
    expect([after.length, moreAfter, isWhole]).toEqual([4, 5, false])
  })
})

test('JSON is written as it was read', () => {
  const text = '{\n  "a": [\n    1e400,\n    "\\u2028\\n"\n  ],\n  "b": {},\n  "c": null\n}'
  const node = parseJson(text)
  expect(node && JSON.parse(writeJson(node).replace('1e400', '1'))).toEqual(JSON.parse(text.replace('1e400', '1')))
  expect(node && writeJson(node)).toContain('1e400')
})

test('a change is what differs, in the zone that is shown', () => {
  const ahead = 3_600_000
  const time = localTime(NOW, ahead)
  expect(time).toBe('2025-11-23T04:12')
  const known = { priority: 0, time }
  expect(changesOf(known, '0', time, ahead)).toEqual({})
  expect(changesOf(known, '5', '2025-11-23T05:00', ahead)).toEqual({ priority: 5, runAt: '2025-11-23T04:00:00.000Z' })
  expect(changesOf(known, '1.5', time, ahead)).toBeUndefined()
  expect(changesOf(known, '1', '', ahead)).toBeUndefined()
})

test('the command to paste quotes what it contains', () => {
  expect(curlOf('http://127.0.0.1:7410', 'a b', false)).toBe(
    `curl -H "Authorization: Bearer $QUEUE_TOKEN" 'http://127.0.0.1:7410/v1/jobs/a%20b'`,
  )
  expect(curlOf("http://h/o'brien", 'a', true)).toBe(`curl 'http://h/o'\\''brien/v1/jobs/a'`)
})
