/** Tests how entries of journals become jobs: each once, in order, with the ids that the journal states. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { CheckedForward, ForwardCommand, NewJob, SourceEntry } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import { formatId, PLACE_LIMIT, parseId, sourcedNode } from '../../id.ts'
import type { Forwarded } from '../../replies.ts'
import { codeOf, World } from '../../testing/world.ts'

const NUMBER = 4711
const AT = Date.UTC(2029, 11, 31)

const entry = (...jobs: NewJob[]): SourceEntry => ({ at: AT, jobs })
const plain = (data: number): NewJob => ({ name: 'a', data: String(data) })
const forwarding = (first: number, entries: readonly SourceEntry[], source = 'source'): ForwardCommand => ({
  op: 'forward',
  source,
  number: NUMBER,
  first,
  entries,
})

function forwarded(world: World, command: CheckedForward): Forwarded {
  const reply = world.turn(command).replies[0]
  if (reply instanceof Refused) throw new Error(reply.refusal.code)
  return reply as Forwarded
}

/** What was created, by the data of the jobs. */
const created = ({ store }: World) => [...store.rows.values()].map(({ data }) => Number(data))

describe('forwarding the entries of a journal', () => {
  test('N3: a forwarded job has the id that its journal has given it', () => {
    const world = new World()
    const bystander = world.enqueue('a', { data: '"bystander"' })
    const before = world.row(bystander)
    expect(forwarded(world, forwarding(1, [entry(plain(1)), entry(plain(2), plain(3))]))).toEqual({ mark: 3, merged: [] })
    const rows = [...world.store.rows.values()].slice(1)
    expect(rows.map(({ seq, node, enqueuedAt, data }) => [seq, node, enqueuedAt, data])).toEqual([
      [2, sourcedNode(1, NUMBER), AT, '1'],
      [3, sourcedNode(2, NUMBER), AT, '2'],
      [4, sourcedNode(3, NUMBER), AT, '3'],
    ])
    expect(rows.map((row) => parseId(formatId(row)))).toEqual([1, 2, 3].map((seq) => ({ seq, node: NUMBER, enqueuedAt: AT })))
    expect(world.row(bystander)).toEqual(before)
  })

  test('a forwarded job is found by the id that its journal states, and by the key of its row', () => {
    const world = new World()
    forwarded(world, forwarding(1, [entry(plain(1)), entry(plain(2))]))
    const said = { seq: 2, node: NUMBER, enqueuedAt: AT }
    expect(world.turn({ op: 'update', id: said, changes: { data: '9' } }).replies).toEqual([true])
    expect(created(world)).toEqual([1, 9])
    expect(world.turn({ op: 'cancel', id: { seq: 2, node: sourcedNode(2, NUMBER), enqueuedAt: AT } }).replies).toEqual(['cancelled'])
    expect(codeOf(world.turn({ op: 'delete', id: { ...said, enqueuedAt: AT + 1 } }).replies[0])).toBe('JOB_NOT_FOUND')
    expect(codeOf(world.turn({ op: 'delete', id: { ...said, seq: 3 } }).replies[0])).toBe('JOB_NOT_FOUND')
    expect(world.turn({ op: 'delete', id: said }).replies).toEqual([true])
    expect(created(world)).toEqual([1])
  })

  test('an entry with invalid data is refused at its place, and later entries can follow', () => {
    const world = new World()
    const refusal = { code: 'VALIDATION', message: 'the data is wrong' } as const
    const unfit = new Map([2, 3].map((place) => [place, refusal]))
    const entries = [entry(plain(1)), entry(plain(2)), entry(plain(3)), entry(plain(4))]
    expect(forwarded(world, { ...forwarding(1, entries), unfit })).toEqual({ mark: 1, merged: [], refused: { place: 2, refusal } })
    const again = { ...forwarding(3, entries.slice(2)), unfit }
    expect(forwarded(world, again)).toEqual({ mark: 1, merged: [], refused: { place: 3, refusal } })
    expect(forwarded(world, { ...forwarding(4, entries.slice(3)), unfit })).toEqual({ mark: 4, merged: [] })
    expect(created(world)).toEqual([1, 4])
  })

  test('an entry that was accepted before its schema was known is skipped, and not refused', () => {
    const world = new World()
    const entries = [entry(plain(1)), entry(plain(2))]
    forwarded(world, forwarding(1, entries))
    const unfit = new Map([[1, { code: 'VALIDATION', message: 'the data is wrong' } as const]])
    expect(forwarded(world, { ...forwarding(1, [...entries, entry(plain(3))]), unfit })).toEqual({ mark: 3, merged: [] })
    expect(created(world)).toEqual([1, 2, 3])
  })

  test('a forwarded job is found by later commands of the same turn', () => {
    const world = new World()
    const { replies } = world.turn(forwarding(1, [entry(plain(1))]), { op: 'cancel', id: { seq: 1, node: NUMBER, enqueuedAt: AT } })
    expect(replies).toEqual([{ mark: 1, merged: [] }, 'cancelled'])
  })

  test('two journals with the same number have jobs that differ by their time', () => {
    const world = new World()
    forwarded(world, forwarding(1, [entry(plain(1))], 'one'))
    forwarded(world, forwarding(1, [{ at: AT + 1, jobs: [plain(2)] }], 'other'))
    expect(world.turn({ op: 'delete', id: { seq: 1, node: NUMBER, enqueuedAt: AT + 1 } }).replies).toEqual([true])
    expect(created(world)).toEqual([1])
  })

  test('an entry at or before the mark is skipped, whatever has become of its job, also after a reload', () => {
    const world = new World()
    forwarded(world, forwarding(1, [entry(plain(1)), entry(plain(2))]))
    world.turn({ op: 'delete', id: { seq: 1, node: NUMBER, enqueuedAt: AT } })
    world.reload()
    expect(forwarded(world, forwarding(1, [entry(plain(1)), entry(plain(2)), entry(plain(3))]))).toEqual({ mark: 3, merged: [] })
    expect(forwarded(world, forwarding(2, [entry(plain(2))]))).toEqual({ mark: 3, merged: [] })
    expect(created(world)).toEqual([2, 3])
    expect(forwarded(world, forwarding(1, [entry(plain(4))], 'another source')).mark).toBe(1)
  })

  test('an entry that is sent twice in one turn creates its jobs once', () => {
    const world = new World()
    const again = forwarding(1, [entry(plain(1), plain(2))])
    const { replies } = world.turn(again, again, forwarding(3, [entry(plain(3))]))
    expect(replies).toEqual([
      { mark: 2, merged: [] },
      { mark: 2, merged: [] },
      { mark: 3, merged: [] },
    ])
    expect(created(world)).toEqual([1, 2, 3])
  })

  test('an idempotency key merges a forwarded job with an earlier one, which the reply names', () => {
    const world = new World()
    const first = world.enqueue('a', { idempotencyKey: 'k' })
    const keyed = { ...plain(2), idempotencyKey: 'k' }
    const reply = forwarded(world, forwarding(1, [entry(plain(1), keyed)]))
    expect(reply).toEqual({ mark: 2, merged: [{ place: 2, job: { seq: first.seq, node: first.node, enqueuedAt: first.enqueuedAt } }] })
  })

  test('a refused entry creates none of its jobs and stops the journal, which can continue behind it', () => {
    const world = new World()
    const unique = { ...plain(7), unique: { key: 'u', onConflict: 'error' } as const }
    world.turn({ op: 'enqueue', jobs: [unique] })
    const entries = [entry(plain(1)), entry(plain(2), unique), entry(plain(4))]
    const reply = forwarded(world, forwarding(1, entries))
    expect(reply).toMatchObject({ mark: 1, refused: { place: 2, refusal: { code: 'UNIQUE_CONFLICT' } } })
    expect(created(world)).toEqual([7, 1])
    expect(forwarded(world, forwarding(4, entries.slice(2)))).toEqual({ mark: 4, merged: [] })
    expect(created(world)).toEqual([7, 1, 4])
    // What was passed over does not come back.
    expect(forwarded(world, forwarding(2, entries.slice(1)))).toEqual({ mark: 4, merged: [] })
  })

  test('the ttl of a forwarded job counts from the time of its entry: a job whose ttl is over never runs', () => {
    const world = new World()
    world.attach('s', ['a'])
    const { grants } = world.turn(
      forwarding(1, [
        {
          at: world.now.wall - 1_000,
          jobs: [
            { ...plain(1), ttl: 500 },
            { ...plain(2), ttl: 5_000 },
          ],
        },
      ]),
    )
    expect(grants.map(({ data }) => data)).toEqual(['2'])
    world.run()
    expect(world.stateOf({ seq: 1 })).toBe('failed')
  })

  test('a journal entry beyond the last possible place is refused', () => {
    const world = new World()
    const last = PLACE_LIMIT - 1
    expect(forwarded(world, forwarding(last, [entry(plain(1))]))).toEqual({ mark: last, merged: [] })
    expect(forwarded(world, forwarding(last, [entry(plain(1)), entry(plain(2))]))).toMatchObject({
      mark: last,
      refused: { refusal: { code: 'TOO_LARGE' } },
    })
    const [row] = world.store.rows.values()
    expect(Number.isSafeInteger(row?.node)).toBe(true)
  })

  test('each entry is created once and in order, however often parts of its journal are sent, with reloads between', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 })
    const sends = fc.array(fc.record({ from: fc.nat(), count: fc.nat(), reload: fc.boolean() }), { maxLength: 20 })
    fc.assert(
      fc.property(sizes, sends, (counts, attempts) => {
        const world = new World()
        let data = 0
        const entries = counts.map((count) => entry(...Array.from({ length: count }, () => plain(++data))))
        const places = counts.map((_, index) => 1 + counts.slice(0, index).reduce((sum, count) => sum + count, 0))
        let sent = 0
        for (const { from, count, reload } of [...attempts, { from: sent, count: 99, reload: false }]) {
          // Never past what was not sent yet: a journal is sent in order.
          const start = count === 99 ? sent : from % (sent + 1)
          const some = entries.slice(start, start + 1 + count)
          if (some.length === 0) continue
          forwarded(world, forwarding(places[start] as number, some))
          sent = Math.max(sent, start + some.length)
          if (reload) world.reload()
          expect(created(world)).toEqual(
            Array.from({ length: places[sent] === undefined ? data : (places[sent] as number) - 1 }, (_, index) => index + 1),
          )
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('a producer that states the id of a job that is not its own', () => {
  const idsOf = ({ store }: World) => [...store.rows.values()].map((row) => formatId(row))

  test.each<[string, (world: World) => ForwardCommand]>([
    [
      'of a job in another journal',
      (world) => {
        forwarded(world, forwarding(1, [entry(plain(1))], 'victim'))
        return forwarding(1, [entry(plain(9))], 'forger')
      },
    ],
    [
      'of a job in another journal of the same turn',
      (world) => {
        world.turn(forwarding(1, [entry(plain(1))], 'victim'), forwarding(1, [entry(plain(8))], 'forger'))
        return forwarding(2, [entry(plain(9))], 'forger')
      },
    ],
    [
      'of a row in the file',
      (world) => {
        const { seq, node, enqueuedAt } = world.enqueue('a', { data: '1' })
        return { ...forwarding(seq, [{ at: enqueuedAt, jobs: [plain(9)] }], 'forger'), number: node }
      },
    ],
    [
      'of a future row in the file',
      (world) => ({ ...forwarding(2, [{ at: world.now.wall, jobs: [plain(9)] }], 'forger'), number: world.tables.node }),
    ],
  ])('a job with the id %s gets an id of the engine, which the reply names, and no job is lost', (_what, prepare) => {
    const world = new World()
    const command = prepare(world)
    const before = idsOf(world)
    const { mark, merged, refused } = forwarded(world, command)
    expect([mark, refused]).toEqual([command.first, undefined])
    const made = [...world.store.rows.values()].at(-1)
    expect(made).toMatchObject({ data: '9' })
    if (merged.length > 0)
      expect(merged).toEqual([{ place: command.first, job: { seq: made?.seq, node: made?.node, enqueuedAt: made?.enqueuedAt } }])
    world.enqueue('a', { data: '3' })
    const ids = idsOf(world)
    expect(new Set(ids).size).toBe(before.length + 2)
    expect(ids.slice(0, before.length)).toEqual(before)
  })

  test('the first two jobs of one place keep the ids that many journals with one number state, so that a lookup reads no more rows', () => {
    const world = new World()
    for (let source = 0; source < 5; source++) forwarded(world, forwarding(1, [{ at: AT + source, jobs: [plain(source)] }], `s${source}`))
    expect([...world.store.rows.values()].map(({ node }) => node === sourcedNode(1, NUMBER))).toEqual([true, true, false, false, false])
    expect(new Set(idsOf(world)).size).toBe(5)
  })

  test('the id of a job that was deleted is free again', () => {
    const world = new World()
    forwarded(world, forwarding(1, [entry(plain(1))], 'one'))
    world.turn({ op: 'delete', id: { seq: 1, node: NUMBER, enqueuedAt: AT } })
    expect(forwarded(world, forwarding(1, [entry(plain(2))], 'two'))).toEqual({ mark: 1, merged: [] })
  })
})

test('a producer whose clock is more than a day ahead loses no job: the job gets an id of the engine, which the reply names', () => {
  const world = new World()
  const at = (ahead: number): SourceEntry => ({ at: world.now.wall + ahead, jobs: [plain(ahead)] })
  const all = forwarding(1, [at(86_400_000), at(86_400_001), at(0)])
  const { seq, node, enqueuedAt } = { seq: 2, node: world.tables.node, enqueuedAt: world.now.wall }
  expect(forwarded(world, all)).toEqual({ mark: 3, merged: [{ place: 2, job: { seq, node, enqueuedAt } }] })
  expect(created(world)).toEqual([86_400_000, 86_400_001, 0])
  expect(forwarded(world, all)).toEqual({ mark: 3, merged: [] })
  expect(created(world)).toHaveLength(3)
})
