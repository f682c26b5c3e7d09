/** Tests what is known of the durable calls of jobs: their results, and the waits that are open. Part of the suite. */
import { type CommandOf, START } from '@millrace/core'
import { expect, test } from 'vitest'
import { plain } from './image.ts'
import { standBy } from './standBy.ts'
import { ERROR, type StoreTurns } from './storeTurns.ts'

type Recorded = Partial<Omit<CommandOf<'step'>, 'op' | 'seq' | 'run'>>

/** A job that runs. */
function running(turns: StoreTurns) {
  turns.attach('w', ['a'])
  const { seq } = turns.enqueue('a', { maxAttempts: 1 })
  const record = (...results: readonly Recorded[]) =>
    turns.run(
      ...results.map((result, index) => {
        const number = index + 1
        const named = { name: `n${number}`, kind: 'step', startedAt: 5, value: null } as const
        return { op: 'step', ...turns.runOf({ seq }), number, asked: number, ...named, ...result } as const
      }),
    )
  const page = (after = 0, limit = 100, bytes = 1e6) => turns.store.steps(seq, after, limit, bytes)
  const numbers = () => page().results.map(({ number }) => number)
  return { seq, record, page, numbers }
}

export function stepsConformance(under: () => StoreTurns): void {
  test('are kept with all that is known of them, in the order of their numbers, and the first one of a number counts', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { record, page } = running(turns)
    const bytes = new Uint8Array([0, 255])
    const endedAt = turns.now.wall
    record(
      { value: '"é😀"', name: 'a %_\\ "\'\u0001' },
      { value: bytes, asked: 1 },
      { error: { ...ERROR, code: 'C', cause: [{ name: 'Inner', message: 'deep' }] } },
      { kind: 'change', value: 'true' },
    )
    turns.pass(7)
    record({ value: '"again"' })
    const common = { run: 1, startedAt: 5, endedAt }
    expect(plain(page())).toEqual({
      complete: true,
      results: [
        { ...common, number: 1, asked: 1, name: 'a %_\\ "\'\u0001', kind: 'step', value: '"é😀"' },
        { ...common, number: 2, asked: 1, name: 'n2', kind: 'step', value: plain(bytes) },
        {
          ...{ ...common, number: 3, asked: 3, name: 'n3', kind: 'step', value: null },
          error: { ...ERROR, code: 'C', cause: [{ name: 'Inner', message: 'deep' }] },
        },
        { ...common, number: 4, asked: 4, name: 'n4', kind: 'change', value: 'true' },
      ],
    })
    assertBystanders()
  })

  test('come page by page, and a page has one at least however large it is', () => {
    const { record, page } = running(under())
    record(...Array.from({ length: 5 }, () => ({ value: `"${'x'.repeat(100)}"` })))
    const pageOf = (...rest: [after: number, limit: number, bytes: number]) => {
      const { results, complete } = page(...rest)
      return [results.map(({ number }) => number), complete]
    }
    expect(pageOf(0, 2, 1e6)).toEqual([[1, 2], false])
    expect(pageOf(2, 3, 1e6)).toEqual([[3, 4, 5], true])
    expect(pageOf(0, 5, 250)).toEqual([[1, 2], false])
    expect(pageOf(0, 5, 1)).toEqual([[1], false])
    expect(pageOf(5, 5, 1)).toEqual([[], true])
  })

  test('are forgotten from the first failed one on, from one of a name, or all; the others stay', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq, record, numbers } = running(turns)
    record({}, { error: ERROR }, { asked: 2 })
    expect(turns.store.step(seq)).toEqual({ number: 2, asked: 2, name: 'n2' })
    expect(turns.store.step(seq, 'n1')).toEqual({ number: 1, asked: 1, name: 'n1', next: 'n2' })
    expect(turns.store.step(seq, 'n9')).toBeUndefined()
    turns.fail({ seq })
    turns.retry({ seq })
    // The third was asked for before the second had failed.
    expect(numbers()).toEqual([1, 3])
    turns.fail({ seq })
    turns.run({ op: 'retry', id: turns.keyOf({ seq }), from: 'n1' })
    expect(numbers()).toEqual([])
    turns.run({ op: 'step', seq, run: 3, number: 1, asked: 1, name: 'n1', kind: 'step', startedAt: 1, value: null })
    turns.fail({ seq })
    turns.run({ op: 'retry', id: turns.keyOf({ seq }), from: START })
    expect([numbers(), turns.row({ seq }).extras]).toEqual([[], { steps: { generation: 1 } }])
    assertBystanders()
  })

  test('go with their job, whether it is deleted or pruned', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq, record, numbers } = running(turns)
    const [second, third] = turns.enqueueAll({ name: 'a' }, { name: 'a' })
    turns.run({ op: 'step', seq: second.seq, run: 1, number: 1, asked: 1, name: 'n', kind: 'step', startedAt: 1, value: null })
    record({})
    turns.complete({ seq })
    turns.complete(second)
    turns.complete(third)
    turns.delete({ seq })
    turns.pass(2)
    turns.prune({ completed: { ageMs: 1e9, count: 1 } })
    expect([numbers(), turns.store.steps(second.seq, 0, 9, 9).results, turns.stateOf(second)]).toEqual([[], [], 'gone'])
    assertBystanders()
  })

  test('of waits are recorded as their job becomes due, after a new start as well', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq, record, page } = running(turns)
    record({})
    const waits = [
      { name: 'long', asked: 2, delay: 5_000 },
      { name: 'short', asked: 2, delay: 30 },
    ]
    turns.run({ op: 'wait', seq, run: 1, settled: 1, waits, end: true })
    turns.reload('w', 'bystander')
    turns.attach('w', ['a'])
    expect(turns.stateOf({ seq })).toBe('scheduled')
    expect(turns.after(29).grants).not.toContainEqual(expect.objectContaining({ seq }))
    expect(turns.after(1).grants).toContainEqual(expect.objectContaining({ seq, run: 2, attempt: 1 }))
    expect(page().results).toMatchObject([{ number: 1 }, { number: 2, name: 'short', kind: 'sleep', value: null, run: 1 }])
    assertBystanders()
  })

  test('messages are kept as they were sent, in their order, and each is taken once', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq, page } = running(turns)
    const id = turns.keyOf({ seq })
    const kept = (name?: string, limit = 9, bytes = 1e6) => turns.store.messages(seq, name, limit, bytes)
    const send = (value: string | Uint8Array, more: object = {}) => ({ op: 'send', id, name: 'm', value, ...more }) as const
    const bytes = new Uint8Array([0, 255])
    turns.run(send('"é😀"', { by: 'ops', name: 'a %_\\ "' }), send(bytes), send('null'))
    const at = turns.now.wall
    const rows = [
      { number: 1, name: 'a %_\\ "', at, value: '"é😀"', by: 'ops' },
      { number: 2, name: 'm', at, value: plain(bytes) },
      { number: 3, name: 'm', at, value: 'null' },
    ]
    expect(plain(kept())).toEqual(rows)
    expect(plain(kept('m', 1))).toEqual([rows[1]])
    // One at least, however small the bytes that may come.
    expect([plain(kept(undefined, 9, 1)), kept('other')]).toEqual([[rows[0]], []])
    const wait = { op: 'wait', seq, run: 1, end: true } as const
    turns.run({ ...wait, settled: 0, waits: [{ name: 'w', asked: 1, message: 'm' }] }, send('"new"'))
    expect(page().results).toMatchObject([{ number: 1, name: 'w', kind: 'message' }])
    expect(kept().map(({ number }) => number)).toEqual([1, 3, 4])
    turns.reload('w', 'bystander')
    turns.attach('w', ['a'])
    turns.complete({ seq })
    turns.delete({ seq })
    expect(kept()).toEqual([])
    assertBystanders()
  })

  test('a job that sleeps until a message wakes with it after a new start, and is due at no time', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { seq, page } = running(turns)
    turns.run({ op: 'wait', seq, run: 1, settled: 0, waits: [{ name: 'w', asked: 1, message: 'm' }], end: true })
    turns.reload('w', 'bystander')
    turns.attach('w', ['a'])
    turns.after(5_000)
    expect(turns.stateOf({ seq })).toBe('scheduled')
    turns.run({ op: 'send', id: turns.keyOf({ seq }), name: 'm', value: '"1"' })
    expect(page().results).toMatchObject([{ name: 'w', kind: 'message', value: '"1"' }])
    assertBystanders()
  })
}
