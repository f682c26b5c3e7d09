// A broken invariant fails its turn. The tables are loaded again, each command is decided alone, and no acknowledged job is lost.
import type { Loaded } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { startFaulty } from './faulty.ts'

const DATA = { name: 'a', data: null }
const SCHEDULED = 0
const ACTIVE = 2

test('tables that are broken are loaded again, and every command of the turn succeeds', async () => {
  const warnings: unknown[] = []
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, error: quiet, warn: (_message: string, details: unknown) => void warnings.push(details) }
  const { probe, inThread, expectTablesAsStored } = startFaulty(logger)
  await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
  const running = await probe.enqueue('a')
  const { actor } = inThread
  const lane = actor.tables.lanesById.get(1)
  if (lane !== undefined) lane.counts[ACTIVE] = 0
  const replies = await probe.settle([
    { op: 'enqueue', jobs: [DATA] },
    { op: 'complete', seq: running.seq, run: 1, output: '"done"' },
    { op: 'enqueue', jobs: [DATA] },
    { op: 'stats' },
  ])
  expect(replies.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined, undefined])
  expect(replies[3]?.value).toMatchObject({ states: { waiting: 2, active: 0, completed: 1 } })
  expect(actor.meter.stats({ mailboxDepth: 0, walBytes: 0, journalBytes: 0, draining: false })).toMatchObject({
    reloads: 1,
    failedTurns: 1,
  })
  await expectTablesAsStored()
  expect(warnings).toEqual([{ invariant: expect.stringMatching(/lane 1 has -1 jobs in state 2/) }])
})

test('a turn of timers alone is taken again with the new tables, and the engine lives on', async () => {
  const { probe, inThread, clock, expectTablesAsStored } = startFaulty()
  await probe.settle([{ op: 'enqueue', jobs: [{ ...DATA, delay: 1_000 }] }])
  const lane = inThread.actor.tables.lanesById.get(1)
  if (lane !== undefined) lane.counts[SCHEDULED] = 0
  await clock.advance('1s')
  const { jobs } = await probe.call<'list'>({ op: 'list', filter: {}, limit: 10 })
  expect(jobs.map(({ state }) => state)).toEqual(['waiting'])
  await expectTablesAsStored()
})

test('if the store itself is broken, the command that meets it is refused as INTERNAL, and the jobs beside it are kept', async () => {
  const { probe, store, inThread } = startFaulty()
  await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
  const running = await probe.enqueue('a')
  const load = store.load.bind(store)
  store.load = () => withoutActive(load())
  const lane = inThread.actor.tables.lanesById.get(1)
  if (lane !== undefined) lane.counts[ACTIVE] = 0
  const replies = await probe.settle([
    { op: 'enqueue', jobs: [DATA] },
    { op: 'complete', seq: running.seq, run: 1, output: '"done"' },
    { op: 'enqueue', jobs: [DATA] },
  ])
  expect(replies.map(({ refusal }) => refusal?.code)).toEqual([undefined, 'INTERNAL', undefined])
  expect(replies[1]?.refusal?.message).toMatch(/broken invariant: lane 1 has -1 jobs in state 2/)
  const { jobs } = await probe.call<'list'>({ op: 'list', filter: {}, limit: 10 })
  expect(jobs.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'active'])
})

/** The rows of a store whose counters have lost a job that runs. */
function withoutActive(loaded: Loaded): Loaded {
  return { ...loaded, lanes: loaded.lanes.map((lane) => ({ ...lane, counts: lane.counts.with(ACTIVE, 0) as never })) }
}
