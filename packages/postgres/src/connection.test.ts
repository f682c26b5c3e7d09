import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import type { Bridge } from './bridge/bridge.ts'
import type { Statement } from './bridge/statement.ts'
import { Connection } from './connection.ts'

/** A server that answers each statement with its own text and values, and counts the round trips. */
function echo() {
  const trips: (readonly Statement[])[] = []
  const bridge = {
    run(statements: readonly Statement[]) {
      trips.push(statements)
      return { rows: statements.map(({ text, values }) => [[text, ...values]]), error: undefined }
    },
  }
  return { trips, connection: new Connection(bridge as unknown as Bridge) }
}

/** Asks as often as it is told, each time for what it has got so far, and returns all of it. */
function readOf(connection: Connection, name: string, depth: number): string {
  let got = name
  for (let step = 0; step < depth; step++) {
    const [[row]] = connection.many([{ text: name, values: [got.length, step] }]) as [[unknown[]]]
    got += `,${row.join(' ')}`
  }
  return got
}

test('reads that are run side by side return what each returns alone, in as many round trips as the longest needs', () => {
  const depths = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 })
  fc.assert(
    fc.property(depths, (each) => {
      const alone = echo()
      const expected = each.map((depth, index) => readOf(alone.connection, `read ${index}`, depth))
      const { trips, connection } = echo()
      expect(connection.together(each.map((depth, index) => () => readOf(connection, `read ${index}`, depth)))).toEqual(expected)
      expect(trips).toHaveLength(Math.max(0, ...each))
      expect(trips.flat()).toHaveLength(alone.trips.flat().length)
    }),
    { numRuns: runs(200) },
  )
})

test('an error of one read is that of all, and the connection reads on', () => {
  const { connection } = echo()
  const broken = () => {
    throw new Error('broken')
  }
  expect(() => connection.together([() => readOf(connection, 'a', 2), broken])).toThrow('broken')
  expect(readOf(connection, 'a', 1)).toBe('a,a 1 0')
})

test('a read may return undefined', () => {
  const { connection } = echo()
  expect(connection.together([() => undefined, () => connection.pluck('a')])).toEqual([undefined, ['a']])
})
