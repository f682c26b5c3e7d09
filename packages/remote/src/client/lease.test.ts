/** Whose a run is, by this process's own clock: every rule of the lease, with time in the test's hand. */
import type { Delivery, Grant, Notice, Reply, Request } from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { expect, test } from 'vitest'
import { Lease } from './lease.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

function start() {
  const clock = new VirtualClock()
  const sent: Request[] = []
  const lapses: number[] = []
  const lease = new Lease({ clock, send: (requests) => void sent.push(...requests), lapsed: (ms) => void lapses.push(ms) })
  lease.opened(clock.read().mono)
  let id = 1
  /** Sends an attach through the lease, and answers its request. */
  const attach = (uuid: string) => {
    const request = { id: id++, command: { op: 'attach', session: { uuid }, held: [] } } as unknown as Request
    return { id: request.id, left: lease.outgoing([request]) }
  }
  return {
    clock,
    lease,
    sent,
    lapses,
    attach,
    renewals: () => sent.flatMap(({ command }) => (command.op === 'renew' ? command.renewal : [])),
  }
}

function delivery(renewal: number, parts: Partial<Delivery> = {}): Delivery {
  return { replies: [], grants: [], notices: [], events: [], ...parts, renewal }
}

/** As an engine answers an attach. */
const attached = (id: number): Partial<Delivery> => ({ replies: [{ id, value: { lost: [] } }] })
const grantOf = (seq: number, heartbeatTimeout: number) => ({ seq, run: 1, session: 's', heartbeatTimeout }) as Grant

test('a renewal leaves before every attach, in the same post', () => {
  const { attach } = start()
  expect(attach('s').left.map(({ id, command: { op } }) => [id, op])).toEqual([
    [-1, 'renew'],
    [1, 'attach'],
  ])
  expect(attach('t').left[0]?.command).toEqual({ op: 'renew', renewal: 2 })
})

test('the figures of the process ride in renewals, as often as they are due, and are measured while there is a session', async () => {
  const clock = new VirtualClock()
  const sent: Request[] = []
  const measured: string[] = []
  let reports = 0
  let due = true
  const lease = new Lease({
    clock,
    send: (requests) => void sent.push(...requests),
    lapsed: () => {},
    vitals: {
      begin: () => void measured.push('begin'),
      end: () => void measured.push('end'),
      takeDue: () => (due ? { rssBytes: ++reports } : undefined),
    },
  })
  lease.opened(clock.read().mono)
  expect(measured).toEqual([])
  const attach = { id: 1, command: { op: 'attach', session: { uuid: 's' }, held: [] } } as unknown as Request
  expect(lease.outgoing([attach])[0]?.command).toEqual({ op: 'renew', renewal: 1, vitals: { rssBytes: 1 } })
  lease.incoming(delivery(1, attached(1)))
  due = false
  await clock.advance(15 * SECOND)
  due = true
  await clock.advance(15 * SECOND)
  expect(sent.map(({ command }) => command)).toEqual([
    { op: 'renew', renewal: 2 },
    { op: 'renew', renewal: 3, vitals: { rssBytes: 2 } },
  ])
  // Another connection knows of no report.
  lease.broken()
  lease.opened(clock.read().mono)
  lease.outgoing([{ id: 2, command: { op: 'leave', session: 's' } }])
  expect(measured).toEqual(['begin', 'begin', 'end'])
})

test('nothing else is added, and without a session nothing is renewed', async () => {
  const { clock, lease, sent } = start()
  const requests: Request[] = [{ id: 1, command: { op: 'stats' } }]
  expect(lease.outgoing(requests)).toBe(requests)
  await clock.advance('10m')
  expect(sent).toEqual([])
})

test('renewals leave at least every 15 s, and a quarter of the shortest lease apart', async () => {
  const { clock, lease, attach, renewals } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, attached(id)))
  await clock.advance(44 * SECOND)
  expect(renewals()).toEqual([2, 3])
  lease.incoming(delivery(3, { grants: [grantOf(1, 20 * SECOND)] }))
  await clock.advance(10 * SECOND)
  expect(renewals()).toEqual([2, 3, 4, 5])
  lease.incoming(delivery(5, { grants: [grantOf(2, 100)] }))
  await clock.advance(500)
  // At most every 50 ms.
  expect(renewals().length).toBeGreaterThanOrEqual(4 + 9)
  expect(renewals().length).toBeLessThanOrEqual(4 + 11)
})

test('they end with the last session', async () => {
  const { clock, lease, attach, sent } = start()
  attach('s')
  lease.outgoing([{ id: 9, command: { op: 'leave', session: 's' } }])
  await clock.advance('10m')
  expect(sent).toEqual([])
})

test('answers to its own requests are heard by nobody else', () => {
  const { lease, attach } = start()
  attach('s')
  const own: Reply = { id: -1, value: true }
  const others: Reply = { id: 1, value: { lost: [] } }
  expect(lease.incoming(delivery(1, { replies: [own, others] }))?.replies).toEqual([others])
  expect(lease.incoming(delivery(1, { replies: [{ id: 2, value: true }] }))?.replies).toHaveLength(1)
})

test('a delivery with nothing but such answers is not passed on', () => {
  const { lease, attach } = start()
  attach('s')
  expect(lease.incoming(delivery(1, { replies: [{ id: -1, value: true }] }))).toBeUndefined()
})

test('a grant whose lease has passed on the way goes back, with a newer renewal before it', async () => {
  const { clock, lease, attach, sent } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, attached(id)))
  await clock.advance(9_500)
  const passed = lease.incoming(delivery(1, { grants: [grantOf(1, 10 * SECOND), grantOf(2, MINUTE)] }))
  expect(passed?.grants.map(({ seq }) => seq)).toEqual([2])
  expect(sent.map(({ command }) => command)).toEqual([
    { op: 'renew', renewal: 2 },
    { op: 'giveBack', seq: 1, run: 1 },
  ])
  expect(lease.incoming(delivery(2, { grants: [grantOf(1, 10 * SECOND)] }))?.grants).toHaveLength(1)
})

test('its age counts from when the renewal was sent, whenever it was counted', async () => {
  const { clock, lease, attach } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, attached(id)))
  await clock.advance(15 * SECOND)
  // Renewal 2 was sent now, and is counted and answered a long time later.
  await clock.advance(9_499)
  expect(lease.incoming(delivery(2, { grants: [grantOf(1, 10 * SECOND)] }))?.grants).toHaveLength(1)
  await clock.advance(1)
  expect(lease.incoming(delivery(2, { grants: [grantOf(2, 10 * SECOND)] }))).toBeUndefined()
})

test('a job with heartbeatTimeout 0 has the usual lease', async () => {
  const { clock, lease, attach } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, attached(id)))
  await clock.advance(113_999)
  expect(lease.incoming(delivery(1, { grants: [grantOf(1, 0)] }))?.grants).toHaveLength(1)
})

test('silence ends runs, the shortest leases first, each before its time', async () => {
  const { clock, lease, attach, lapses } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, attached(id)))
  lease.incoming(delivery(1, { grants: [grantOf(1, 10 * SECOND), grantOf(2, MINUTE), grantOf(3, 0)] }))
  const endedAt = (leaseMs: number) => lapses.findIndex((ms) => ms >= leaseMs) >= 0
  await clock.advance(9_499)
  expect(lapses).toEqual([])
  await clock.advance(1)
  expect([endedAt(10 * SECOND), endedAt(MINUTE)]).toEqual([true, false])
  await clock.advance(45 * SECOND)
  expect(endedAt(MINUTE)).toBe(false)
  await clock.advance(5 * SECOND)
  expect([endedAt(MINUTE), endedAt(120 * SECOND)]).toEqual([true, false])
  await clock.advance(60 * SECOND)
  expect(endedAt(120 * SECOND)).toBe(true)
})

test('silence counts from when the last counted renewal was sent, however late it is heard of', async () => {
  const { clock, lease, attach, lapses, renewals } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 20 * SECOND)] }))
  await clock.advance(5 * SECOND)
  expect(renewals()).toEqual([2])
  await clock.advance(10 * SECOND)
  lease.incoming(delivery(2, { replies: [{ id: -2, value: true }] }))
  await clock.advance(8_999)
  expect(lapses).toEqual([])
  await clock.advance(1)
  expect(lapses).toHaveLength(1)
})

test('the more so without a connection', async () => {
  const { clock, lease, attach, lapses } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 10 * SECOND)] }))
  await clock.advance(5 * SECOND)
  lease.broken()
  await clock.advance(4_500)
  expect(lapses.length).toBe(1)
})

test('what is counted in time keeps them', async () => {
  const { clock, lease, attach, lapses, renewals } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 10 * SECOND)] }))
  for (let at = 0; at < 10; at++) {
    await clock.advance(5 * SECOND)
    lease.incoming(delivery(renewals().at(-1) ?? 1, { replies: [{ id: -1, value: true }] }))
  }
  expect(lapses).toEqual([])
})

test('a process that was stopped finds out before it greets an engine anew', () => {
  const { clock, lease, attach, lapses } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 10 * SECOND)] }))
  lease.broken()
  clock.stall(20 * SECOND)
  lease.opened(clock.read().mono)
  expect(lapses).toHaveLength(1)
  expect(lapses[0]).toBeGreaterThanOrEqual(20 * SECOND)
})

test('a process that was stopped finds out before anything is delivered, timers or not', () => {
  const { clock, lease, attach, lapses } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 10 * SECOND)] }))
  clock.stall(20 * SECOND)
  lease.incoming(delivery(1, { replies: [{ id: 7, value: true }] }))
  expect(lapses).toHaveLength(1)
  expect(lapses[0]).toBeGreaterThanOrEqual(20 * SECOND)
})

test('on a new connection nothing counts until every session has attached again', async () => {
  const { clock, lease, attach, lapses } = start()
  const [s, t] = [attach('s').id, attach('t').id]
  lease.incoming(
    delivery(2, { replies: [...(attached(s).replies ?? []), ...(attached(t).replies ?? [])], grants: [grantOf(1, 20 * SECOND)] }),
  )
  lease.broken()
  await clock.advance(10 * SECOND)
  lease.opened(clock.read().mono)
  const [again, late] = [attach('s').id, attach('t').id]
  lease.incoming(delivery(2, attached(again)))
  await clock.advance(9 * SECOND)
  expect(lapses).toHaveLength(1)
  lease.incoming(delivery(2, attached(late)))
  await clock.advance(1 * SECOND)
  expect(lapses).toHaveLength(1)
})

test('a session that has attached again gets jobs, whatever the others do', async () => {
  const { clock, lease, attach } = start()
  const [s, t] = [attach('s').id, attach('t').id]
  lease.incoming(delivery(2, { replies: [...(attached(s).replies ?? []), ...(attached(t).replies ?? [])] }))
  lease.broken()
  await clock.advance(30 * SECOND)
  lease.opened(clock.read().mono)
  const again = attach('s').id
  attach('t')
  expect(lease.incoming(delivery(1, { ...attached(again), grants: [grantOf(1, 20 * SECOND)] }))?.grants).toHaveLength(1)
})

test('a greeting is no renewal: what only names 0 keeps no run', async () => {
  const { clock, lease, attach, lapses } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 20 * SECOND)] }))
  lease.broken()
  await clock.advance(15 * SECOND)
  lease.opened(clock.read().mono)
  attach('s')
  lease.incoming(delivery(0, { replies: [{ id: 50, value: true }] }))
  await clock.advance(4 * SECOND)
  expect(lapses).toHaveLength(1)
})

test('an engine that loads its tables anew knows no session until it has attached again', async () => {
  const { clock, lease, attach, lapses, renewals } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 20 * SECOND)] }))
  const reattach: Notice = { kind: 'reattach' }
  lease.incoming(delivery(1, { notices: [reattach] }))
  await clock.advance(10 * SECOND)
  lease.incoming(delivery(renewals().at(-1) ?? 1, { replies: [{ id: -2, value: true }] }))
  await clock.advance(9 * SECOND)
  expect(lapses).toHaveLength(1)
})

test('a session that is refused is not known to live', async () => {
  const { clock, lease, attach, lapses, renewals } = start()
  const { id } = attach('s')
  lease.incoming(delivery(1, { ...attached(id), grants: [grantOf(1, 20 * SECOND)] }))
  lease.broken()
  lease.opened(clock.read().mono)
  const again = attach('s').id
  lease.incoming(delivery(1, { replies: [{ id: again, refusal: { code: 'FORBIDDEN', message: '' } }] }))
  await clock.advance(15 * SECOND)
  lease.incoming(delivery(renewals().at(-1) ?? 1, { replies: [{ id: 77, value: true }] }))
  await clock.advance(4 * SECOND)
  expect(lapses).toHaveLength(1)
})

test('closed, it has no timer left', async () => {
  const { clock, lease, attach, sent, lapses } = start()
  attach('s')
  lease.close()
  await clock.advance('1h')
  expect([sent, lapses]).toEqual([[], []])
})
