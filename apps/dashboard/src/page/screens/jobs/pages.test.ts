import { describe, expect, test } from 'vitest'
import { jobOf } from '../../testing/inputs.ts'
import { ROWS_MAX } from '../../window/rows.ts'
import { withFirst, withNext } from './pages.ts'

const jobs = (...ids: readonly string[]) => ids.map((id) => jobOf({ id }))
const idsOf = ({ jobs: all }: { readonly jobs: readonly { readonly id: string }[] }) => all.map(({ id }) => id).join('')

describe('the first page', () => {
  const known = { jobs: jobs('d', 'c', 'b', 'a'), next: 'behind a', isBehind: false, scanned: 4 }

  test('is the list at first, and wherever it is all there is', () => {
    expect(withFirst(undefined, { jobs: jobs('b', 'a'), next: 'n' }, false)).toMatchObject({ next: 'n', isBehind: false })
    expect(idsOf(withFirst(known, { jobs: jobs('x') }, true))).toBe('x')
  })

  test('comes before what is loaded: new jobs are on top, those that left are gone', () => {
    const merged = withFirst(known, { jobs: jobs('f', 'e', 'c'), next: 'behind c' }, false)
    expect([idsOf(merged), merged.next]).toEqual(['fecba', 'behind a'])
  })

  test('is the whole list again if nothing lies behind it', () => {
    const merged = withFirst(known, { jobs: jobs('f', 'a'), next: 'new' }, false)
    expect([idsOf(merged), merged.next]).toEqual(['fa', 'new'])
  })

  test('that does not meet the list begins it anew, unless it is held', () => {
    const first = { jobs: jobs('z', 'y'), next: 'behind y' }
    expect(withFirst(known, first, false)).toMatchObject({ jobs: first.jobs, isBehind: false })
    expect(withFirst(known, first, true)).toEqual({ ...known, isBehind: true })
  })

  test('of a search that ended at its bound does not lose what was found behind it', () => {
    const merged = withFirst(known, { jobs: jobs('e'), next: 'bound', partial: true }, false)
    expect([idsOf(merged), merged.next]).toEqual(['edcba', 'behind a'])
    const over = withFirst({ ...known, next: undefined }, { jobs: [], next: 'bound', partial: true }, false)
    expect([idsOf(over), over.next]).toEqual(['dcba', undefined])
  })
})

test('a further page follows; a job is there once, and the list has an end', () => {
  const list = { jobs: jobs('c', 'b'), next: 'n', isBehind: false, scanned: 2 }
  const longer = withNext(list, { jobs: jobs('b', 'a') })
  expect([idsOf(longer), longer.next]).toEqual(['cba', undefined])
  const full = { jobs: Array.from({ length: ROWS_MAX - 1 }, (_, id) => jobOf({ id: `${id}` })), next: 'n', isBehind: false, scanned: 0 }
  const most = withNext(full, { jobs: jobs('x', 'y'), next: 'more' })
  expect([most.jobs.length, most.next]).toEqual([ROWS_MAX, undefined])
})

test('a search sums up how many jobs it has scanned, from its first page on', () => {
  const first = withFirst(undefined, { jobs: [], next: 'n', partial: true, scanned: 2_000 }, false)
  const longer = withNext(first, { jobs: jobs('a'), next: 'm', partial: true, scanned: 1_500 })
  expect([first.scanned, longer.scanned]).toEqual([2_000, 3_500])
  // The first page is asked for again: it passes the same jobs.
  expect(withFirst(longer, { jobs: [], next: 'n', partial: true, scanned: 2_000 }, false).scanned).toBe(3_500)
})
