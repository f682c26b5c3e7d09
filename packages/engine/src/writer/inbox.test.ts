// The owner takes entries from an inbox in requests, and looks again later. The store and the actor are lists of the test.
import type { CheckedForward, Refusal, Request } from '@millrace/core'
import { type InboxRow, StoreFailure } from '@millrace/core/kernel'
import { VirtualClock } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { Deliver } from '../actor/connections.ts'
import { watchInbox } from './inbox.ts'

type Outcome = 'taken' | Refusal['code']

/** @param decide returns the outcome of a request, by the numbers of its entries; entries that are left stay in the inbox */
function watched(
  ids: readonly number[],
  decide: (ids: readonly number[], unfit: ReadonlyMap<number, unknown>) => Outcome,
  left: readonly number[] = [],
) {
  const clock = new VirtualClock()
  const entries = new Set(ids)
  const looks: number[] = []
  const marked: (readonly [id: number, code: string])[] = []
  const requests: { readonly at: number; readonly ids: readonly number[] }[] = []
  let failing = false
  let deliver: Deliver = () => {}
  const stop = watchInbox({
    read: (except, most = 1_000) => {
      looks.push(clock.read().mono)
      if (failing) throw new StoreFailure('before', 'io', 'the server is away')
      return [...entries]
        .filter((id) => !except.includes(id))
        .slice(0, most)
        .map((id): InboxRow => ({ id, node: id, at: 0, name: 'a', data: null, options: id === 13 ? '{"priorty":1}' : '{"delay":5}' }))
    },
    actor: {
      connect: (given) => {
        deliver = given
        return {} as never
      },
      receive: (_connection, [request]: readonly Request[]) => {
        const { id, command } = request as Request & { readonly command: CheckedForward }
        const asked = (command.inbox ?? []).map((entry) => entry.id)
        requests.push({ at: clock.read().mono, ids: asked })
        const unfit = new Map((command.inbox ?? []).flatMap((entry) => (entry.unfit === undefined ? [] : [[entry.id, entry.unfit.code]])))
        const outcome = decide(asked, unfit)
        if (outcome === 'taken') marked.push(...unfit)
        if (outcome === 'taken') for (const each of asked) if (!left.includes(each)) entries.delete(each)
        // After this call, as a turn answers.
        clock.setTimer(0, () =>
          deliver({
            replies: [outcome === 'taken' ? { id, body: {} } : { id, refusal: { code: outcome, message: 'no' } }],
          } as unknown as Parameters<Deliver>[0]),
        )
      },
    },
    wake: () => {},
    clock,
  })
  onTestFinished(stop)
  return { clock, entries, requests, looks, marked, stop, fail: (now: boolean) => (failing = now) }
}

test('entries are taken in order, in one request', async () => {
  const { clock, entries, requests } = watched([1, 2, 3], () => 'taken')
  await clock.advance(100)
  expect(requests.map(({ ids }) => ids)).toEqual([[1, 2, 3]])
  expect(entries.size).toBe(0)
})

test('a request that is refused is repeated after a second, and not before', async () => {
  const outcomes: Outcome[] = ['STORAGE', 'DISK_FULL', 'taken']
  const { clock, requests } = watched([1, 2], () => outcomes.shift() ?? 'taken')
  await clock.advance(900)
  expect(requests).toHaveLength(1)
  await clock.advance(2_000)
  expect(requests.map(({ ids }) => ids)).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ])
  const [first, second, third] = requests.map(({ at }) => at) as [number, number, number]
  expect([second - first >= 1_000, third - second >= 1_000]).toEqual([true, true])
})

test.each<Outcome>(['TOO_LARGE', 'VALIDATION'])(
  'one entry that the store cannot keep (%s) is refused, and keeps no other from being taken',
  async (code) => {
    const ids = Array.from({ length: 40 }, (_, index) => index + 1)
    const { clock, entries, marked } = watched(ids, (asked, unfit) => (asked.includes(7) && !unfit.has(7) ? code : 'taken'))
    await clock.advance(2_500)
    expect([...entries]).toEqual([])
    expect(marked).toContainEqual([7, code])
  },
)

test('one entry that cannot be decided keeps no other from being taken', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => index + 1)
  const { clock, entries } = watched(ids, (asked) => (asked.includes(7) ? 'INTERNAL' : 'taken'))
  await clock.advance(900)
  expect([...entries]).toEqual([7])
})

test('an entry without room is passed by others, and tried again after a second', async () => {
  const { clock, entries, requests } = watched([1, 2, 3], () => 'taken', [2])
  await clock.advance(500)
  expect([...entries]).toEqual([2])
  expect(requests).toHaveLength(1)
  entries.add(4)
  await clock.advance(200)
  expect(requests.at(-1)?.ids).toEqual([4])
  await clock.advance(1_000)
  expect(requests.at(-1)?.ids).toEqual([2])
})

test('a look that fails is repeated after a second', async () => {
  const { clock, entries, looks, fail } = watched([1], () => 'taken')
  fail(true)
  await clock.advance(500)
  expect(looks).toHaveLength(1)
  fail(false)
  await clock.advance(1_000)
  expect(entries.size).toBe(0)
})

test('nothing is looked at once it is stopped', async () => {
  const { clock, looks, stop } = watched([], () => 'taken')
  await clock.advance(100)
  const before = looks.length
  stop()
  await clock.advance(1_000)
  expect(looks.length).toBe(before)
  expect(before).toBeGreaterThan(2)
})
