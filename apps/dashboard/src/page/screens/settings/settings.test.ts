import { describe, expect, test } from 'vitest'
import type { StatsAnswer } from '../../api/answers.ts'
import { NOW, statsOf, writerOf } from '../../testing/inputs.ts'
import { auditRows, boundsOf, type Token, tokenRows } from './rows.ts'
import { storageFacts } from './storage.ts'

const AT = '2026-11-26T03:20:41.000Z'
const token = (id: string, change: Partial<Token> = {}): Token => ({ id, name: id, scopes: ['read'], createdAt: AT, ...change })

test('tokens in use come first, the newest before the others', () => {
  const rows = tokenRows([token('a'), token('b', { revokedAt: AT }), token('c'), token('d', { revokedAt: AT })])
  expect(rows.map(({ id }) => id)).toEqual(['c', 'a', 'd', 'b'])
})

test('a token says what its workers may serve', () => {
  expect(boundsOf(token('a', { names: ['resize'], queues: ['media', 'mail'] }))).toBe('queue:media queue:mail name:resize')
  expect(boundsOf(token('a'))).toBeUndefined()
})

describe('the storage', () => {
  const facts = (store?: StatsAnswer['store']) =>
    storageFacts(statsOf({ writer: writerOf({ journalBytes: 2_000 }), ...(store !== undefined && { store }) })).map(
      ({ name, value, at }) => [name, value, at],
    )

  test('of a file says its name, its size, what the disk has left, and since when there are events', () => {
    const store = { file: 'jobs.db', bytes: 4_000_000, freeBytes: 1_000_000, walBytes: 0, diskFreeBytes: 7e10, oldestEventAt: NOW }
    expect(facts(store).slice(0, 5)).toEqual([
      ['File', 'jobs.db', undefined],
      ['Database', '4 MB, 1 MB of it free', undefined],
      ['Left on the disk', '70 GB', undefined],
      ['Write-ahead log', '0 B', undefined],
      ['Events', '2 kB, the oldest from', NOW],
    ])
  })

  test('in memory has neither a file nor a disk, and an older engine says nothing of its room', () => {
    expect(
      facts({ bytes: 4_000_000, freeBytes: 0, walBytes: 0 })
        .map(([name]) => name)
        .slice(0, 3),
    ).toEqual(['File', 'Database', 'Write-ahead log'])
    expect(facts()[0]).toEqual(['Write-ahead log', '0 B', undefined])
  })
})

describe('an entry of the audit', () => {
  const entry = {
    at: AT,
    who: 'ada',
    via: 'http',
    operation: 'pauseQueue',
    target: { name: 'mail', ids: 3 },
    outcome: 'done',
    status: 200,
  } as const

  test('shows its target as words, and the status or the code', () => {
    const { status: _, ...plain } = entry
    expect(auditRows([entry, { ...plain, via: 'socket', outcome: 'refused', code: 'FORBIDDEN' }])).toMatchObject([
      { who: 'ada', operation: 'pauseQueue', outcome: 'done', code: '200', target: 'name: mail, ids: 3' },
      { outcome: 'refused', code: 'FORBIDDEN' },
    ])
  })

  test('has an id of its own, also within a millisecond', () => {
    expect(new Set(auditRows([entry, entry, entry]).map(({ id }) => id)).size).toBe(3)
  })
})
