/** A text that a job contains, found by looking; bounded, and going on where it stopped. */
import { FAILED, LIMITS, type ListFilter } from '@millrace/core'
import type { Lane, ListRows, ScanBound } from '@millrace/core/kernel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setLimits } from '../../../core/src/testing/smallLimits.ts'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { openReader } from '../reader.ts'
import { openCrowd } from '../testing/crowd.ts'
import { listed, UNBOUNDED } from '../testing/lists.ts'

const crowd = () => {
  const { store, turns } = openCrowd()
  const found = (text: string, filter: ListFilter = {}) => listed(store, { filter, search: text }).map(({ seq }) => seq)
  return { store, turns, found }
}

test('each place in which it may be, and none else', () => {
  const { turns, found } = crowd()
  const data = turns.insert({ data: '{"path":"Needle.png"}' })
  const named = turns.insert({ lane: turns.lane('needle-work') })
  const tagged = turns.insert({ extras: { tags: ['x', 'a needle'] } })
  const keyed = (['idempotencyKey', 'uniqueKey', 'concurrencyKey'] as const).map((key) => turns.insert({ extras: { [key]: 'k-needle' } }))
  turns.insert({ extras: { meta: '{"x":"needle"}' }, data: new Uint8Array(Buffer.from('needle')) })
  turns.insert({ extras: { tags: ['idempotencyKey'] }, data: null })
  turns.commit()
  const expected = [data, named, tagged, ...keyed].map(({ seq }) => seq).reverse()
  expect(found('needle')).toEqual(expected)
  expect(found('NEEDLE')).toEqual(expected)
  expect(found('uniqueKey')).toEqual([])
  expect(found('haystack')).toEqual([])
})

test.each(['100%', 'a_b', 'back\\slash', 'say "hi"', "it's", 'é😀', 'two\nlines', '"path":"x"', '*?[a]'])(
  '%j is itself, no pattern',
  (text) => {
    const { turns, found } = crowd()
    const decoys = { path: '100x axb backslash', tags: ['1000', 'ab'] }
    const inData = turns.insert({ data: text.startsWith('"path"') ? '{"path":"x"}' : JSON.stringify({ note: `<${text}>` }) })
    const inTag = turns.insert({ extras: { tags: [`<${text}>`] } })
    turns.insert({ data: JSON.stringify(decoys), extras: { tags: decoys.tags } })
    turns.commit()
    expect(found(text)).toEqual([inTag.seq, inData.seq])
  },
)

test('with a filter: both hold', () => {
  const { turns, found } = crowd()
  const lane = turns.lane('work', 'q')
  const failed = turns.insert({ lane, data: '"needle"', extras: { tags: ['t'] } })
  failed.finishedAt = turns.at
  turns.move(failed, FAILED)
  const waiting = turns.insert({ data: '"needle"', extras: { tags: ['t', 'u'] } })
  turns.insert({ lane, data: '"other"', extras: { tags: ['t'] } })
  turns.commit()
  expect(found('needle', { state: FAILED })).toEqual([failed.seq])
  expect(found('needle', { queue: 'q' })).toEqual([failed.seq])
  expect(found('needle', { queue: 'default', name: 'work' })).toEqual([waiting.seq])
  expect(found('needle', { tag: 't' })).toEqual([waiting.seq, failed.seq])
  expect(found('needle', { tag: 'u', name: 'work' })).toEqual([waiting.seq])
  expect(found('needle', { queue: 'none' })).toEqual([])
})

test('page by page, within any bound, it finds what one look finds', () => {
  const { store, turns, found } = crowd()
  for (let n = 0; n < 300; n++)
    turns.insert({
      // Over several blocks of tags.
      seq: turns.nextSeq + (n % 50 === 49 ? 4_096 : 0),
      data: JSON.stringify(n % 7 === 0 ? 'needle' : n),
      ...(n % 2 && { extras: { tags: ['odd'] } }),
    })
  turns.commit()
  const pages = (filter: ListFilter, limit: number, bound: ScanBound, ascending: boolean) => {
    const seqs: number[] = []
    for (let [next, count]: [number | undefined | null, number] = [undefined, 0]; next !== null; count++) {
      expect(count).toBeLessThan(400)
      const page: ListRows = store.list(
        { filter, search: 'needle', limit, ...(next !== undefined && { before: next }), ...(ascending && { ascending }) },
        bound,
      )
      expect(page.rows.length).toBeLessThanOrEqual(limit)
      seqs.push(...page.rows.map(({ seq }) => seq))
      next = page.next
    }
    return ascending ? seqs.reverse() : seqs
  }
  const [whole, odd] = [found('needle'), found('needle', { tag: 'odd' })]
  expect([whole.length, odd.length]).toEqual([43, 21])
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 400 }),
      fc.boolean(),
      fc.boolean(),
      (limit, rows, late, ascending) => {
        expect(pages({}, limit, { rows, late: () => late }, ascending)).toEqual(whole)
        expect(pages({ tag: 'odd' }, limit, { rows, late: () => late }, ascending)).toEqual(odd)
      },
    ),
    { numRuns: runs(20) },
  )
})

test('a look says how many places it has passed, by numbers of rows or by an index', () => {
  const { store, turns } = crowd()
  const failed = Array.from({ length: 6 }, () => turns.insert({ data: '"hay"' })).slice(0, 4)
  turns.commit()
  for (const job of failed) {
    job.finishedAt = turns.at
    turns.move(job, FAILED)
  }
  turns.commit()
  const scanned = (filter: ListFilter, rows: number) =>
    store.list({ filter, search: 'needle', limit: 9 }, { rows, late: () => false }).scanned
  const ofState = listed(store, { filter: { state: FAILED } }).length
  expect([scanned({}, 2), scanned({}, 5), scanned({ state: FAILED }, 1_000)]).toEqual([2, 5, ofState])
  expect(store.list({ filter: {}, limit: 9 }, UNBOUNDED)).not.toHaveProperty('scanned')
})

test('large jobs make short pages', () => {
  expect(LIMITS.pageBytes).toBe(64 * 2 ** 20)
  setLimits({ pageBytes: 64_000 })
  const { store, turns } = crowd()
  const seqs = Array.from({ length: 3 }, () => turns.insert({ lane: turns.lane('large') as Lane, data: 'x'.repeat(30_000) }).seq)
  turns.commit()
  const page = store.list({ filter: { name: 'large' }, search: 'large', limit: 200 }, UNBOUNDED)
  expect([page.rows.map(({ seq }) => seq), page.next]).toEqual([[seqs[2], seqs[1]], seqs[1]])
})

test('a reader finds the same', () => {
  const { store, turns, found } = crowd()
  const job = turns.insert({ data: '"needle"' })
  turns.commit()
  const reader = openReader(store.file)
  expect(listed(reader, { search: 'needle' }).map(({ seq }) => seq)).toEqual([job.seq])
  expect(found('needle')).toEqual([job.seq])
  reader.close()
})
