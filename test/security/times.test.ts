/** Attempts to store a time that no Date can hold, or an id that no call accepts: each would end an export and a list for everybody. */
import { type Command, LIMITS, OPERATIONS, type Operation } from '@millrace/core'
import { expect, test } from 'vitest'
import { tables } from '../../packages/wire/src/testing/tables.ts'
import { welcomed } from '../remote/rawClient.ts'
import { serve } from '../remote/served.ts'

const job = { name: 'a', data: null } as const
const spec = { every: 60_000, jitter: 0, overlap: 'skip', catchUp: 'latest' } as const
const run = { seq: 1, run: 1 }
const filter = { name: 'a' }

/** Each call that stores a time of its sender's. */
const STORING: Readonly<Record<string, (at: number) => Command>> = {
  enqueue: (runAt) => ({ op: 'enqueue', jobs: [{ ...job, runAt }] }),
  flow: (runAt) => ({ op: 'flow', nodes: [{ ref: 'a', job: { ...job, runAt }, parents: [], onFailure: 'fail' }] }),
  'forward at': (at) => ({ op: 'forward', source: 's', number: 1, first: 1, entries: [{ at, jobs: [job] }] }),
  'forward runAt': (runAt) => ({ op: 'forward', source: 's', number: 1, first: 1, entries: [{ at: 1, jobs: [{ ...job, runAt }] }] }),
  complete: (runAt) => ({ op: 'complete', ...run, output: null, enqueues: [{ ...job, runAt }] }),
  join: (runAt) => ({ op: 'join', ...run, name: 'j', jobs: [{ ...job, runAt }] }),
  log: (at) => ({ op: 'log', ...run, lines: [{ at, level: 'info', message: 'm' }] }),
  step: (startedAt) => ({ op: 'step', ...run, number: 1, asked: 1, name: 's', kind: 'step', startedAt, value: null }),
  wait: (until) => ({ op: 'wait', ...run, settled: 0, waits: [{ name: 'w', asked: 1, until }], end: true }),
  update: (runAt) => ({ op: 'update', id: { seq: 1, node: 1, enqueuedAt: 1 }, changes: { runAt } }),
  updateMany: (runAt) => ({ op: 'updateMany', filter, limit: 1, dryRun: false, changes: { runAt } }) as unknown as Command,
  'byKey update': (runAt) => ({ op: 'byKey', of: { kind: 'unique', name: 'a', key: 'k' }, call: 'update', changes: { runAt } }),
  'schedule startAt': (startAt) => ({ op: 'upsertSchedule', id: 's', spec: { ...spec, startAt }, job, runImmediately: false }),
  'schedule endAt': (endAt) => ({ op: 'upsertSchedule', id: 's', spec: { ...spec, endAt }, job, runImmediately: false }),
}

test.each(Object.entries(STORING))('%s takes the last instant of a Date, and is refused with a later one', async (what, commandOf) => {
  const last = what === 'forward at' ? LIMITS.idTimeMs : LIMITS.timeMs
  const { url } = await serve()
  const polite = await welcomed(url)
  const { refusal } = await polite.ask(commandOf(last))
  expect(['BAD_MESSAGE', 'INTERNAL']).not.toContain(refusal?.code)
  expect(await polite.ask(commandOf(last + 1))).toMatchObject({ refusal: { code: 'OPTION_RANGE', details: { limit: last } } })
  const { value } = await polite.ask({ op: 'list', filter: {}, limit: 200 })
  for (const { runAt, enqueuedAt } of (value as { jobs: readonly { runAt: number; enqueuedAt: number }[] }).jobs)
    expect([new Date(runAt).getTime(), enqueuedAt <= LIMITS.idTimeMs]).toEqual([runAt, true])
})

test('each command that stores a time of its sender is among them', () => {
  const all = tables()
  const wordsOf = (text: string) => text.match(/\b[A-Z][A-Za-z]+\b/g) ?? []
  // Filters and ids name times, and store none.
  const stores = (text: string): boolean =>
    /(?:\||\[) ?time(?: below 2\^48)?(?: \||;|\])/.test(text) ||
    wordsOf(text).some((word) => !['Filter', 'JobKey'].includes(word) && stores(all.get(word) ?? ''))
  const storing = (all.get('operations') as string).split('\n').flatMap((row) => {
    const [, op] = /^\| \d+ \| `(\w+)`/.exec(row) ?? []
    return op !== undefined && OPERATIONS[op as Operation].kind === 'command' && stores(row) ? [op] : []
  })
  const here = new Set(Object.values(STORING).map((commandOf) => commandOf(1).op))
  // A place among failed jobs is a cursor.
  expect(storing.filter((op) => !here.has(op as Operation))).toEqual(['redrive'])
  expect(storing).toEqual(expect.arrayContaining([...here]))
})
