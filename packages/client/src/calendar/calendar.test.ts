/** Cron in the zones of the world, against a calendar that looks at every minute; and the days on which clocks change. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { systemCalendar } from './calendar.ts'
import { zoneOf } from './zone.ts'

const MINUTE = 60_000

function ticks(cron: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = []
  for (let at = Date.parse(from); found.length < count; found.push(new Date(at).toISOString())) at = systemCalendar.next(cron, timezone, at)
  return found
}

describe('clocks go back: what they show twice fires the first time', () => {
  test('New York, an hour', () => {
    expect(ticks('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 3)).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-02T06:30:00.000Z',
      '2026-11-03T06:30:00.000Z',
    ])
    expect(ticks('*/30 * * * *', 'America/New_York', '2026-11-01T04:30:00Z', 4)).toEqual([
      '2026-11-01T05:00:00.000Z',
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T07:00:00.000Z',
      '2026-11-01T07:30:00.000Z',
    ])
  })

  test('dst-fold-lord-howe-once: half an hour', () => {
    expect(ticks('45 1 * * *', 'Australia/Lord_Howe', '2026-04-03T12:00:00Z', 3)).toEqual([
      '2026-04-03T14:45:00.000Z',
      '2026-04-04T14:45:00.000Z',
      '2026-04-05T15:15:00.000Z',
    ])
    expect(ticks('*/15 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:30:00Z', 3)).toEqual([
      '2026-04-04T14:45:00.000Z',
      '2026-04-04T15:30:00.000Z',
      '2026-04-04T15:45:00.000Z',
    ])
  })

  test('asked within the second showing, too', () => {
    expect(ticks('* * * * * *', 'Europe/Berlin', '2026-10-25T01:10:00.500Z', 1)).toEqual(['2026-10-25T02:00:00.000Z'])
    expect(ticks('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', 1)).toEqual(['2026-10-26T01:30:00.000Z'])
  })
})

describe('clocks go forward: what they skip fires at the change', () => {
  test('New York, an hour', () => {
    expect(ticks('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00:00.000Z',
      '2026-03-09T06:30:00.000Z',
    ])
    // All of them together once, and with what is due then anyway.
    expect(ticks('*/15 * * * *', 'America/New_York', '2026-03-08T06:45:00Z', 2)).toEqual([
      '2026-03-08T07:00:00.000Z',
      '2026-03-08T07:15:00.000Z',
    ])
  })

  test('Lord Howe, half an hour; Samoa, a whole day', () => {
    expect(ticks('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2)).toEqual([
      '2026-10-03T15:30:00.000Z',
      '2026-10-04T15:15:00.000Z',
    ])
    expect(ticks('0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00:00Z', 3)).toEqual([
      '2011-12-29T22:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T22:00:00.000Z',
    ])
  })
})

test('5 fields, 6 with seconds in front, and names; nothing else', () => {
  const next = (cron: string) => new Date(systemCalendar.next(cron, 'UTC', Date.UTC(2026, 0, 31, 23, 59, 58))).toISOString()
  expect(next('* * * * *')).toBe('2026-02-01T00:00:00.000Z')
  expect(next('* * * * * *')).toBe('2026-01-31T23:59:59.000Z')
  expect(next('@daily')).toBe('2026-02-01T00:00:00.000Z')
  expect(next('0 0 L * *')).toBe('2026-02-28T00:00:00.000Z')
  expect(next('0 9 * * MON')).toBe('2026-02-02T09:00:00.000Z')
  expect(next('0 0 29 2 *')).toBe('2028-02-29T00:00:00.000Z')
  expect(next('30 0 12 24 12 * 2027')).toBe('2027-12-24T12:00:30.000Z')
  expect(next('0 0 9 * * MON 2028-2029')).toBe('2028-01-03T09:00:00.000Z')
  expect(systemCalendar.next('0 0 0 1 1 * 2025', 'UTC', Date.UTC(2026, 0, 1))).toBe(0)
  expect(systemCalendar.next('0 0 30 2 *', 'UTC', 0)).toBe(0)
  for (const wrong of [
    '',
    '* * * *',
    '* * * * * * * *',
    '0 0 0 1 1 * 10000',
    '61 * * * *',
    'a b c d e',
    '@reboot',
    '2026-12-01T00:00:00Z',
    '0 0 * * 9',
  ])
    expect(() => systemCalendar.next(wrong, 'UTC', 0), wrong).toThrow()
  expect(() => systemCalendar.next('* * * * *', 'No/Where', 0)).toThrow()
})

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Africa/Casablanca',
  'Asia/Gaza',
]

test('as a calendar that looks at every minute would have it', () => {
  const field = (max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.nat({ max }).map(String),
      fc.constantFrom(2, 5, 15).map((step) => `*/${step}`),
    )
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), field(59), field(23), fc.nat({ max: 365 * 3 }), (timezone, minute, hour, day) => {
      const from = Date.UTC(2025, 0, 1) + day * 1_440 * MINUTE
      const zone = zoneOf(timezone)
      const fits = (of: string, value: number) =>
        of === '*' || (of.startsWith('*/') ? value % Number(of.slice(2)) === 0 : value === Number(of))
      const expected: number[] = []
      let shown = zone.shownUntil(from)
      for (let at = from + MINUTE; at <= from + 3 * 1_440 * MINUTE; at += MINUTE) {
        // All minutes that clocks show for the first time, or skip, between the last one and this.
        const wall = at + zone.offset(at)
        let due = false
        for (let each = Math.floor(shown / MINUTE) * MINUTE + MINUTE; each <= wall; each += MINUTE) {
          const date = new Date(each)
          due ||= fits(minute, date.getUTCMinutes()) && fits(hour, date.getUTCHours())
        }
        shown = Math.max(shown, wall)
        if (due) expected.push(at)
      }
      const found: number[] = []
      for (let at = from; ; found.push(at)) {
        at = systemCalendar.next(`${minute} ${hour} * * *`, timezone, at)
        if (at > from + 3 * 1_440 * MINUTE) break
      }
      expect(found).toEqual(expected)
    }),
    { numRuns: runs(60) },
  )
})
