import { describe, expect, test } from 'vitest'
import { auditRows, boundsOf, type Token, tokenRows } from './rows.ts'

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
