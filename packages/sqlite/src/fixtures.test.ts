// Files that earlier versions wrote: this version opens each, with everything in it. `testing/make-fixture.ts` wrote the newest.
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isJobEvent } from '@millrace/core'
import { hourOf } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from './migrations/list.ts'
import { lookInto, openTestStore, rowsOf, temporaryFolder } from './testing/files.ts'
import { UNBOUNDED } from './testing/lists.ts'

const folder = new URL('../fixtures/', import.meta.url)
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.db'))
  .sort((one, other) => versionOf(one) - versionOf(other))

function versionOf(name: string): number {
  return Number(/\d+/.exec(name))
}

test('there is one for every schema', () => {
  expect(files).toEqual(Array.from({ length: SCHEMA_VERSION }, (_, index) => `v${index + 1}.db`))
})

describe.each(files)('%s', (name) => {
  test('opens, is brought up to date, and holds what was written', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    cpSync(new URL(name, folder), file)
    const store = openTestStore({ file })
    const db = lookInto(file)
    expect(rowsOf(db, 'meta')).toMatchObject([{ schema_version: SCHEMA_VERSION, node: store.node }])
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    const version = versionOf(name)
    const { nextSeq, saidFrom, paused, lanes, active, present, definitions, nextEvent, queues, exports, buckets } = store.load()
    if (version >= 5)
      expect(queues).toMatchObject([
        {
          name: 'by',
          paused: true,
          pausedKeys: ['by'],
          missingMs: 500,
          settings: { concurrencyLimit: 9, defaults: { timeout: Number.POSITIVE_INFINITY } },
        },
      ])
    else expect(queues).toEqual([])
    expect(paused).toBe(version >= 13)
    expect(buckets).toMatchObject(version >= 10 ? [{ key: 'by', missingMs: 250 }] : [])
    expect(store.load().kept).toMatchObject(version >= 22 ? [{ completed: 0, failed: 0, cancelled: 1 }] : [])
    expect(store.load().pauseEnds).toMatchObject(version >= 21 ? [{ part: 'key', what: 'by', until: expect.any(Number) }] : [])
    const turns = store.turns([{ queueId: lanes[0]?.queueId as number, key: 'by', backlogIds: [] }], 1_000)
    expect(turns).toMatchObject([version >= 10 ? { row: { seq: 1 }, taken: true } : { taken: false }])
    expect(store.arrivals(1, 9, 1_000).rows).toHaveLength(version >= 11 ? 2 : 0)
    expect(lanes.map(({ queue, name: job }) => `${queue}/${job}`)).toEqual(['by/stand', 'default/work'])
    for (const lane of lanes) expect(lane).toMatchObject({ counts: [1, 1, 1, 0, 1, 1, 1], totals: { enqueued: 6, completed: 1 } })
    expect(active).toHaveLength(2)
    expect(present).toMatchObject(version >= 12 ? [{ worker: 'bystander', remote: false, draining: true }] : [])
    expect(store.events(0, 1_000).filter((event) => !isJobEvent(event))).toMatchObject(
      version >= 12
        ? [
            { type: 'queue.paused', queue: 'by', key: 'by' },
            ...(version >= 13 ? [{ type: 'engine.paused' }] : []),
            { type: 'schedule.skipped', schedule: 'bystander', reason: 'late' },
          ]
        : [],
    )
    const said =
      version >= 15
        ? { session: 's', worker: 'w', host: 'h', saidAt: 1, firstSeq: 1 }
        : { session: '', worker: '', host: '', saidAt: 0, firstSeq: 1 }
    expect(definitions).toEqual([{ name: 'stand', definition: { defaults: { priority: 3 }, ...said }, settling: 0 }])
    // Of what an earlier version has enqueued nobody knows what the callers have stated.
    expect(saidFrom).toBe(version >= 15 ? 1 : nextSeq)
    expect(store.events(0, 1_000).map(({ seq }) => seq)).toEqual(Array.from({ length: nextEvent - 1 }, (_, index) => index + 1))
    expect(store.list({ filter: { tag: 'red' }, limit: 9 }, UNBOUNDED).rows).toHaveLength(2)
    expect(store.unique([{ name: 'work', key: 'u-work' }])).toHaveLength(1)
    expect(store.offsets(['bystander'])).toHaveLength(version >= 4 ? 1 : 0)
    expect(exports).toEqual(version >= 6 ? [{ name: 'bystander', cursor: 3 }] : [])
    expect(store.schedules(['bystander'])).toHaveLength(version >= 7 ? 1 : 0)
    expect(store.minutes(1, 'hour', 0)).toHaveLength(version >= 9 ? 1 : 0)
    const kinds = store.failures(undefined, 9, 'last')
    expect(kinds.map(({ count, message }) => [count, message])).toEqual(
      version >= 9
        ? [
            [1, 'no'],
            [1, 'no'],
          ]
        : [],
    )
    // Those that an earlier version has counted are older than the hours.
    for (const { hours, lastAt } of kinds) expect(hours).toEqual([{ at: hourOf(lastAt), before: version >= 19 ? 0 : 1 }])
    const failed = store.failed([1, 2], { finishedAt: -1, seq: -1 }, 9)
    expect(failed).toHaveLength(2)
    const more = version >= 16 && { code: 'E_NO', cause: [{ name: 'Error', message: 'refused', code: 'ECONNREFUSED' }] }
    const error = { name: 'Error', message: 'no', ...more }
    expect(store.attempts(failed)[0]).toMatchObject([{ run: 1, logs: [{ message: 'hello' }] }])
    expect(store.attempts(failed)[0]?.[0]?.error).toEqual(error)
    expect(store.lastError(failed[0]?.seq as number)).toEqual(error)
  })
})
