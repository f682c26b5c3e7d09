import { expect, test } from 'vitest'
import { type Webhook, webhookRows } from './rows.ts'

const AT = '2026-11-26T03:20:41.000Z'
const webhook = (id: string, change: Partial<Webhook> = {}): Webhook => ({
  ...{ id, url: 'https://example.com', events: ['completed', 'failed'], enabled: true, createdAt: AT, cursor: 90 },
  ...change,
})

test('endpoints that need a look come first', () => {
  const rows = webhookRows(
    [
      webhook('off', { enabled: false }),
      webhook('b'),
      webhook('late', { failingSince: AT }),
      webhook('gone', { enabled: false, disabledReason: 'gone' }),
      webhook('a'),
      webhook('broken', { enabled: false, disabledReason: 'failing', failingSince: AT }),
    ],
    100,
  )
  expect(rows.map(({ id, state }) => [id, state])).toEqual([
    ['broken', 'broken'],
    ['gone', 'gone'],
    ['late', 'failing'],
    ['a', 'on'],
    ['b', 'on'],
    ['off', 'off'],
  ])
})

test('an endpoint says how far behind it is, unless it is disabled', () => {
  const behind = (change: Partial<Webhook>) => webhookRows([webhook('a', change)], 100)[0]?.behind
  expect([behind({}), behind({ cursor: 100 }), behind({ cursor: 101 }), behind({ enabled: false, cursor: 1 })]).toEqual([10, 0, 0, 0])
})

test('an endpoint says what it is limited to', () => {
  expect(webhookRows([webhook('a', { queues: ['mail'], names: ['send'] })], 0)[0]).toMatchObject({
    events: 'completed, failed',
    only: 'queue:mail name:send',
  })
})
