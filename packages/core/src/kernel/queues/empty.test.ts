/** Tests the event of a queue that has run empty: with the commit that ends its last live job, and at no other time. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { isFinal } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'

const ERROR = { name: 'E', message: 'm' }

function world(): World {
  const made = new World()
  made.configure('q', { empties: 'event' })
  made.run(attaching('s', ['a'], { minConcurrency: 2, maxConcurrency: 2 }))
  return made
}

const emptiesOf = (of: World, ...commands: readonly Command[]) =>
  of.run(...commands).systemEvents.flatMap((event) => (event.type === 'queue.empty' ? [event.queue] : []))

const live = ({ store, tables }: World) =>
  [...store.rows.values()].filter(({ state, laneId }) => !isFinal(state) && tables.laneOf(laneId).queue.name === 'q').length

describe('queue.empty', () => {
  test('comes with the end of the last live job, and not while a job is to be tried again, scheduled or blocked', () => {
    const of = world()
    expect(emptiesOf(of, enqueueing({ name: 'a', queue: 'q' }, { name: 'a', queue: 'q', delay: 60_000 }, { name: 'a' }))).toEqual([])
    expect(emptiesOf(of, { op: 'fail', seq: 1, run: 1, error: ERROR, retry: 5 })).toEqual([])
    of.pass(5)
    expect(emptiesOf(of)).toEqual([])
    expect(emptiesOf(of, { op: 'complete', seq: 1, run: 2, output: null })).toEqual([])
    of.reload()
    expect(emptiesOf(of, { op: 'cancel', id: of.row({ seq: 2 }) })).toEqual(['q'])
    expect(emptiesOf(of, enqueueing({ name: 'b' }))).toEqual([])
    expect(emptiesOf(of, { op: 'delete', id: of.row({ seq: 2 }) })).toEqual([])
  })

  test('comes again each time, and never for a queue that does not ask for it, or is empty when it asks', () => {
    const of = world()
    for (const seq of [1, 2]) {
      expect(emptiesOf(of, enqueueing({ name: 'a', queue: 'q' }))).toEqual([])
      expect(emptiesOf(of, { op: 'complete', seq, run: 1, output: null })).toEqual(['q'])
    }
    expect(emptiesOf(of, { op: 'configure', queue: 'q', changes: { empties: null } })).toEqual([])
    expect(emptiesOf(of, enqueueing({ name: 'a', queue: 'q' }))).toEqual([])
    expect(emptiesOf(of, { op: 'complete', seq: 3, run: 1, output: null })).toEqual([])
    expect(emptiesOf(of, { op: 'configure', queue: 'q', changes: { empties: 'event' } })).toEqual([])
    expect(emptiesOf(of, enqueueing({ name: 'b' }))).toEqual([])
  })
})

type Act = { readonly op: 'enqueue' | 'complete' | 'fail' | 'cancel' | 'retry' | 'delete' | 'pass' | 'reload'; readonly pick: number }

function commandOf({ op, pick }: Act, of: World): Command | undefined {
  const rows = [...of.store.rows.values()]
  const row = rows[pick % Math.max(1, rows.length)]
  if (op === 'enqueue')
    return enqueueing({ name: pick % 3 === 0 ? 'b' : 'a', queue: pick % 4 === 0 ? 'p' : 'q', ...(pick % 5 === 0 && { delay: 3 }) })
  if (row === undefined) return undefined
  const { seq, run } = row
  if (op === 'complete') return { op, seq, run, output: null }
  if (op === 'fail') return { op, seq, run, error: ERROR, retry: pick % 2 === 0 ? 3 : false }
  return op === 'cancel' || op === 'retry' || op === 'delete' ? { op, id: row } : undefined
}

test('it comes in each turn that leaves no live job of those that there were, and in no other', () => {
  const act = fc.record({
    op: fc.constantFrom<Act['op'][]>('enqueue', 'enqueue', 'complete', 'complete', 'fail', 'cancel', 'retry', 'delete', 'pass', 'reload'),
    pick: fc.nat(99),
  })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const of = world()
      for (const each of acts) {
        if (each.op === 'pass') of.pass(each.pick % 5)
        if (each.op === 'reload') of.reload()
        const command = commandOf(each, of)
        const before = live(of)
        expect(emptiesOf(of, ...(command === undefined ? [] : [command]))).toEqual(before > 0 && live(of) === 0 ? ['q'] : [])
      }
    }),
    { numRuns: runs(100) },
  )
})
