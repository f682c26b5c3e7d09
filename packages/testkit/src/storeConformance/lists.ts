/** Tests lists: pages by every filter, searches by text, slices of bulk calls. Part of the suite. */
import {
  ACTIVE,
  BLOCKED,
  CANCELLED,
  COMPLETED,
  type Enqueued,
  FAILED,
  LIMITS,
  type ListFilter,
  type ManyResult,
  SCHEDULED,
  STATES,
  type StateCode,
  statesOf,
  WAITING,
} from '@millrace/core'
import type { JobRow, ListQuery, Matching } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { plain, seqsOf, UNBOUNDED } from './image.ts'
import type { StoreTurns } from './storeTurns.ts'

/** Sixty jobs of three names in two queues, in all states but blocked, some of them tagged. Newest first. */
function populate(turns: StoreTurns): readonly JobRow[] {
  turns.attach('w', ['n0'], { minConcurrency: 99, maxConcurrency: 99 })
  const jobs = turns.enqueueAll(
    ...Array.from({ length: 60 }, (_, index) => ({
      name: `n${index % 3}`,
      queue: `q${index % 2}`,
      data: `"data ${index}"`,
      ...(index % 5 === 0 && { tags: ['five', `t${index}`] }),
      ...(index % 7 === 0 && { delay: index + 1 }),
    })),
  )
  for (const row of jobs.map((job) => turns.row(job))) {
    if (row.state === ACTIVE && row.seq % 4 === 0) turns.complete(row)
    else if (row.state === ACTIVE && row.seq % 4 === 1) turns.fail(row, { retry: false })
    else if (row.seq % 6 === 2) turns.cancel(row)
  }
  return turns.rows().toReversed()
}

function fits(turns: StoreTurns, { state, states, queue, name, tag }: ListFilter): (row: JobRow) => boolean {
  return (row) => {
    const lane = turns.tables.lanesById.get(row.laneId)
    const tagged = tag === undefined || row.extras?.tags?.includes(tag) === true
    return (
      (state ?? row.state) === row.state &&
      states?.includes(row.state) !== false &&
      (queue ?? lane?.queue.name) === lane?.queue.name &&
      (name ?? lane?.name) === lane?.name &&
      tagged
    )
  }
}

const SEVERAL: readonly (readonly StateCode[])[] = [
  [FAILED, CANCELLED],
  [SCHEDULED, WAITING, FAILED],
  [ACTIVE, COMPLETED],
  [SCHEDULED, WAITING, ACTIVE, BLOCKED],
  [],
]

const FILTERS: readonly ListFilter[] = [
  {},
  ...[...STATES.keys()].map((state) => ({ state: state as StateCode })),
  ...SEVERAL.map((states) => ({ states })),
].flatMap((states) =>
  [{}, { queue: 'q1' }, { name: 'n2' }, { tag: 'five' }, { queue: 'q0', name: 'n0', tag: 'five' }, { queue: 'none' }, { tag: 'none' }].map(
    (filter) => ({ ...filter, ...states }),
  ),
)

export function listsConformance(under: () => StoreTurns): void {
  /** Reads all pages of a list, whatever they are cut by. */
  function pages(query: Partial<ListQuery>, rows = Number.POSITIVE_INFINITY): readonly JobRow[] {
    const found: JobRow[] = []
    for (let before: number | null | undefined; before !== null; ) {
      const page = under().store.list(
        { filter: {}, limit: 7, ...query, ...(before !== undefined && { before }) },
        { rows, late: () => false },
      )
      expect(page.rows.length).toBeLessThanOrEqual(query.limit ?? 7)
      found.push(...page.rows)
      before = page.next
    }
    return found
  }

  test.each([3, 40, 500])('pages of %i have what the filter says, newest first', (limit) => {
    const turns = under()
    const all = populate(turns)
    for (const filter of FILTERS) expect(pages({ filter, limit }), JSON.stringify(filter)).toEqual(all.filter(fits(turns, filter)))
  })

  test.each([3, 500])('pages of %i have the same, oldest first', (limit) => {
    const turns = under()
    const all = populate(turns).toReversed()
    for (const filter of FILTERS) {
      for (const rows of [5, 1_000]) {
        const found = pages({ filter, limit, ascending: true }, rows)
        expect(found, JSON.stringify(filter)).toEqual(all.filter(fits(turns, filter)))
      }
    }
  })

  test.each([1, 1_000])('oldest first, jobs that arrive or leave between two pages move no other, after looks at %i rows', (rows) => {
    const turns = under()
    populate(turns)
    const filter: ListFilter = { states: [SCHEDULED, WAITING], tag: 'five' }
    const stays = turns.rows().filter(fits(turns, filter))
    const found: number[] = []
    let arrived: readonly Enqueued[] = []
    for (let before: number | null | undefined; before !== null; ) {
      const page = turns.store.list(
        { filter, limit: 1, ascending: true, ...(before !== undefined && { before }) },
        { rows, late: () => false },
      )
      found.push(...seqsOf(page.rows))
      before = page.next
      if (found.length !== 1 || arrived.length > 0) continue
      turns.delete(stays[0] as JobRow)
      turns.delete(stays[2] as JobRow)
      arrived = turns.enqueueAll({ name: 'n1', tags: ['five'] }, { name: 'n1' })
    }
    expect(found).toEqual([...seqsOf(stays.filter((_, index) => index !== 2)), arrived[0]?.seq])
  })

  test('a page has each job with its last run, if that is asked for', () => {
    const turns = under()
    const all = populate(turns)
    expect(pages({ lastRun: true })).toEqual(turns.store.withLastRuns(all))
    const [cut] = turns.store.list({ filter: {}, limit: 1, lastRun: true, payloadBytes: 2 }, UNBOUNDED).rows
    expect(plain(cut)).toEqual(plain(turns.store.withLastRuns(turns.store.jobs([cut?.seq ?? 0], 2))[0]))
  })

  test.each([1, 3, 1_000])('jobs whose data or meta contains some JSON, in looks at %i rows, for lists and for bulk calls', (rows) => {
    const turns = under()
    const stored = [
      '{"customer":7,"of":{"kind":"new","items":[1,2]}}',
      '{ "customer" : 7.0, "of": {"kind": "n\\u0065w"} }',
      '{"customer":70}',
      '["customer",7]',
      '"customer"',
      'no JSON {"customer":7}',
      '{"customer":7,"path":"C:\\\\new\\n","nul":"\\u0000","half":"\\ud800"}',
      `{"customer":7,"long":"${'x'.repeat(700_000)}"}`,
      '{"customer":1e400}',
      '{"of":{"kind":"newer"}}',
    ]
    const jobs = turns.enqueueAll(
      ...stored.map((data, index) => ({ name: 'a', data, meta: data.length > 100 ? '{"y":2}' : data, ...(index < 2 && { tags: ['x'] }) })),
      { name: 'a', data: new TextEncoder().encode('{"customer":7}') },
      { name: 'b', data: '{"customer":7}' },
    )
    // Its data is not in memory any more.
    turns.attach('w', ['b'], { minConcurrency: 1, maxConcurrency: 1 })
    const found = (filter: ListFilter, ascending = false) =>
      seqsOf(pages({ filter, limit: 2, payloadBytes: 0, ...(ascending && { ascending }) }, rows)).map((seq) =>
        jobs.findIndex((job) => job.seq === seq),
      )
    const matched = (filter: ListFilter) =>
      (turns.turn({ op: 'cancelMany', filter, limit: 99, dryRun: true }).replies[0] as ManyResult).matched
    for (const [wanted, expected] of [
      ['{"customer":7}', [0, 1, 6, 7, 11]],
      ['{"of":{"kind":"new"}}', [0, 1]],
      ['{"of":{"items":[2]}}', [0]],
      ['"customer"', [3, 4]],
      ['[7]', [3]],
      ['{"path":"C:\\\\new\\n"}', [6]],
      ['{"nul":"\\u0000"}', [6]],
      ['{"customer":"7"}', []],
      ['{"of":{}}', [0, 1, 9]],
    ] as const) {
      expect(found({ data: wanted }), wanted).toEqual(expected.toReversed())
      expect(found({ data: wanted, tag: 'x' }, true), wanted).toEqual(expected.filter((index) => index < 2))
      expect(matched({ data: wanted }), wanted).toBe(expected.length)
      const short = expected.filter((index) => index !== 7 && index !== 11)
      expect(found({ meta: wanted }), wanted).toEqual(short.toReversed())
      expect(matched({ meta: wanted, name: 'a' }), wanted).toBe(short.length)
    }
    expect(found({ data: '{"customer":7}', meta: '{"y":2}' })).toEqual([7])
    // Neither a bulk call in the turn of a change nor one behind it has the data of before.
    const [changed] = turns
      .turn(
        { op: 'update', id: turns.row(jobs[0] as Enqueued), changes: { data: '{"customer":8}' } },
        { op: 'cancelMany', filter: { data: '{"customer":7}' }, limit: 99, dryRun: true },
        { op: 'deleteMany', filter: { data: '{"customer":70}' }, limit: 99, dryRun: false },
      )
      .replies.slice(1) as ManyResult[]
    expect(changed?.matched).toBe(4)
    expect(found({ data: '{"customer":70}' })).toEqual([])
    expect(found({ data: '{"customer":7}' })).toEqual([11, 7, 6, 1])
  })

  describe('a search', () => {
    test('finds the jobs that contain a text, whatever the case of ASCII letters', () => {
      const turns = under()
      const jobs = turns.enqueueAll(
        { name: 'Resize.Image' },
        { name: 'a', data: '"a needle"' },
        { name: 'a', data: new TextEncoder().encode('needle') },
        { name: 'a', tags: ['x', 'NEEDLE-1'] },
        { name: 'a', idempotencyKey: 'of needle' },
        { name: 'a', unique: { key: 'needle!', onConflict: 'error' } },
        { name: 'a', concurrencyKey: 'needle' },
        { name: 'a', meta: '{"needle":1}' },
        { name: 'a', data: '"É ü"' },
        { name: 'a', data: '"100 % _ \\\\ \\"q\\""' },
      )
      const found = (search: string, filter: ListFilter = {}) =>
        seqsOf(pages({ search, filter })).map((seq) => jobs.findIndex((job) => job.seq === seq))
      expect(found('needle')).toEqual([6, 5, 4, 3, 1])
      expect(found('nEEdle', { tag: 'x' })).toEqual([3])
      expect(found('resize')).toEqual([0])
      expect(found('.IMAGE', { name: 'a' })).toEqual([])
      expect([found('É'), found('é')]).toEqual([[8], []])
      expect([found('%'), found('_'), found('100 %')]).toEqual([[9], [9], [9]])
      expect(found('none')).toEqual([])
    })

    test('and bulk calls find the same, however a string has to be escaped', () => {
      const turns = under()
      const texts = ['say "hi"', 'C:\\new', 'two\nLines', '\\nLines', 'É é', 'tab\t\u0001\u007f', 'nul\0', '100 % _', '😀 \u2028']
      const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
      const jobs = texts.flatMap((text) => [
        { name: 'a', data: JSON.stringify({ [text]: [text] }) },
        { name: text, data: null },
        { name: 'a', data: null, tags: ['other', text] },
        { name: 'a', data: null, idempotencyKey: text },
        { name: 'a', data: null, unique: { key: text, onConflict: 'error' as const } },
        { name: 'a', data: null, concurrencyKey: text },
      ])
      const searches = [
        ...new Set([...texts, ...texts.map(escaped), '"', '\\', '\\\\', '\n', '\\n', '\nl', '\\u0001', '\0', 'é', 'éÉ', ':["']),
      ]
      const bulk = searches.map((search) => ({ op: 'cancelMany', filter: {}, search, limit: 99, dryRun: true }) as const)
      const matched = (replies: readonly unknown[]) => replies.map((reply) => (reply as ManyResult).matched)
      // A call in the turn that creates the jobs judges them in memory; later ones ask the store first.
      const { replies } = turns.turn({ op: 'enqueue', jobs }, ...bulk)
      const first = (replies[0] as readonly Enqueued[])[0]?.seq as number
      const found = searches.map((search) => seqsOf(pages({ search, limit: 99 })).map((seq) => seq - first))
      const counts = (numbers: readonly number[]) => Object.fromEntries(searches.map((search, index) => [search, numbers[index]]))
      expect(counts(matched(replies.slice(1)))).toEqual(counts(found.map(({ length }) => length)))
      expect(counts(matched(turns.turn(...bulk).replies))).toEqual(counts(found.map(({ length }) => length)))
      const places = Object.fromEntries(searches.map((search, index) => [search, found[index]]))
      for (const [index, text] of texts.entries()) {
        const own = [5, 4, 3, 2, 1, 0].map((place) => 6 * index + place)
        expect(places[text], JSON.stringify(text)).toEqual(expect.arrayContaining(own))
      }
      // The stored form of data is found as well: a line end is `\n` there, and other places have none.
      expect(places['say \\"hi\\"']).toEqual([0])
      expect(places['two\\nLines']).toEqual([12])
      expect(places[':["']).toEqual(texts.map((_, index) => 6 * index).toReversed())
      expect(places['éÉ']).toEqual([])
    })

    test.each([1, 5, 1_000])('goes on from where it was stopped, after %i rows', (rows) => {
      const turns = under()
      const all = populate(turns)
      const wanted = all.filter(({ data }) => String(data).includes('data 1'))
      expect(seqsOf(pages({ search: 'DATA 1', limit: 4 }, rows))).toEqual(seqsOf(wanted))
      const tagged = wanted.filter(fits(turns, { tag: 'five', queue: 'q0' }))
      expect(seqsOf(pages({ search: 'data 1', filter: { tag: 'five', queue: 'q0' } }, rows))).toEqual(seqsOf(tagged))
    })
  })

  test('the slices of a bulk call have what the filter says, by whatever way they are found', () => {
    const turns = under()
    const all = populate(turns)
    const lanes = [...turns.tables.lanesById.keys()]
    const slices = (filter: Matching, limit: number) => {
      const found: number[] = []
      for (let next: number | null = Number.MAX_SAFE_INTEGER; next !== null; ) {
        const slice = turns.store.matching(filter, next, limit)
        expect(slice.rows.length).toBeLessThanOrEqual(limit)
        found.push(...seqsOf(slice.rows))
        next = slice.next
      }
      return found
    }
    for (const laneIds of [undefined, lanes.slice(0, 1), lanes]) {
      for (const filter of FILTERS.filter(({ queue, name }) => queue === undefined && name === undefined)) {
        const meant = all.filter((row) => fits(turns, filter)(row) && laneIds?.includes(row.laneId) !== false)
        for (const limit of [1, 7, LIMITS.sliceRows]) expect(slices({ laneIds, filter, indexed: false }, limit)).toEqual(seqsOf(meant))
        const states = statesOf(filter)
        const hasIndexes = states?.every((state) => state !== ACTIVE && state !== BLOCKED) === true
        const indexed = laneIds !== undefined && filter.tag === undefined && hasIndexes
        if (indexed) expect(slices({ laneIds, filter, indexed }, 7)).toEqual(seqsOf(meant))
      }
    }
    expect(all.some(({ state }) => state === CANCELLED)).toBe(true)
  })
}
