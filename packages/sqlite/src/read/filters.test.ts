/** Every filter in every order, page by page while jobs change: held against a naive look at all rows. */
import type { JobRow, ListQuery, ScanBound } from '@millrace/core/kernel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { openTestStore } from '../testing/files.ts'
import { type Asked, asked, Changing, change, naive } from '../testing/filters.ts'
import { Turns } from '../testing/jobs.ts'
import { listed } from '../testing/lists.ts'

const START = 1_700_000_000_000
const changes = (count: number) => fc.array(change, { minLength: count / 2, maxLength: count })
const bound: fc.Arbitrary<ScanBound> = fc
  .tuple(fc.constantFrom(1, 3, 40, 1_000_000), fc.boolean())
  .map(([rows, late]) => ({ rows, late: () => late }))

function open(before: Parameters<Changing['take']>[0][]) {
  const store = openTestStore({ file: ':memory:' })
  const turns = new Turns(store, START)
  const changing = new Changing(turns)
  for (const each of before) changing.take(each)
  changing.commit()
  return { store, changing }
}

type Opened = ReturnType<typeof open>

/** All rows that fit, in their order. */
function expected({ store, changing }: Opened, question: Asked): JobRow[] {
  return naive(store, listed(store), question).toSorted((one, other) => {
    const [[at, seq], [otherAt, otherSeq]] = [changing.placeOf(one, question), changing.placeOf(other, question)]
    return otherAt - at || otherSeq - seq
  })
}

test('pages of any size, within any bound, have all that fit, in their order', () => {
  fc.assert(
    fc.property(changes(100), asked(START, 20), fc.integer({ min: 1, max: 30 }), bound, (before, question, limit, looking) => {
      const opened = open(before)
      const found: number[] = []
      let place: Pick<ListQuery, 'before' | 'beforeAt'> | null = {}
      for (let pages = 0; place !== null; pages++) {
        expect(pages).toBeLessThan(1_000)
        const { rows, next, nextAt }: ReturnType<typeof opened.store.list> = opened.store.list({ ...question, limit, ...place }, looking)
        expect(rows.length).toBeLessThanOrEqual(limit)
        found.push(...rows.map(({ seq }) => seq))
        place = next === null ? null : { before: next, ...(nextAt !== undefined && { beforeAt: nextAt }) }
      }
      expect(found).toEqual(expected(opened, question).map(({ seq }) => seq))
      opened.store.close()
    }),
    { numRuns: runs(200) },
  )
})

test('while jobs change between two pages, none is shown twice in its place, and none that stays is missed', () => {
  const between = fc.array(changes(12), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(
      changes(120),
      asked(START, 20),
      fc.integer({ min: 1, max: 9 }),
      bound,
      between,
      (before, question, limit, looking, later) => {
        const opened = open(before)
        const { store, changing } = opened
        changing.touched.clear()
        const stays = new Set(expected(opened, question).map(({ seq }) => seq))
        const shown = new Map<number, string>()
        let place: Pick<ListQuery, 'before' | 'beforeAt'> | null = {}
        for (let pages = 0; place !== null; pages++) {
          expect(pages).toBeLessThan(1_000)
          const fit = new Set(expected(opened, question).map(({ seq }) => seq))
          const { rows, next, nextAt }: ReturnType<typeof store.list> = store.list({ ...question, limit, ...place }, looking)
          for (const row of rows) {
            const at = String(changing.placeOf(row, question))
            expect(fit.has(row.seq)).toBe(true)
            expect(shown.get(row.seq)).not.toBe(at)
            shown.set(row.seq, at)
          }
          place = next === null ? null : { before: next, ...(nextAt !== undefined && { beforeAt: nextAt }) }
          for (const each of later[pages] ?? []) changing.take(each)
          changing.commit()
        }
        for (const seq of stays) if (!changing.touched.has(seq)) expect(shown.has(seq)).toBe(true)
        store.close()
      },
    ),
    { numRuns: runs(200) },
  )
})
