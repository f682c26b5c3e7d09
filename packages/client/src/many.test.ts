/** Slice after slice, until there is nothing left or enough is done. */
import { type CommandOf, formatId, LIMITS, type ManyFilter, type Slice, StorageError, validateListOptions } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import { Mailbox } from './mailbox.ts'
import { runMany } from './many.ts'
import { readPage } from './page.ts'
import { PayloadCodec } from './payloadCodec.ts'
import { FakePort } from './testing/fakePort.ts'

let port: FakePort
let mailbox: Mailbox

beforeEach(() => {
  port = new FakePort()
  mailbox = new Mailbox(port)
  port.listen({
    deliver: ({ replies }) => {
      for (const reply of replies) mailbox.answer(reply)
      mailbox.settle()
    },
    broken: () => {},
    lapsed: () => {},
    reopened: () => {},
    ended: () => {},
  })
})

/** Slices to answer with, in order. */
function answering(...slices: readonly (Slice | StorageError)[]): void {
  const left = [...slices]
  port.answer('deleteMany', () => left.shift() as Slice)
}

const slice = (changed: number, next: number | null, skipped: Slice['skipped'] = {}): Slice => {
  return { matched: changed + Object.values(skipped).reduce((sum, count) => sum + count, 0), changed, skipped, next }
}
const asked = () => port.of('deleteMany').map(({ command }) => command as CommandOf<'deleteMany'>)

test('goes on where the slice before has come to, also where that found nothing, and sums up', async () => {
  answering(slice(500, 900, { active: 1 }), slice(0, 700), slice(2, null, { active: 1 }))
  expect(await runMany(mailbox, { op: 'deleteMany' }, { tag: 't' }, undefined)).toEqual({
    matched: 504,
    changed: 502,
    skipped: { active: 2 },
  })
  expect(asked()).toEqual([
    { op: 'deleteMany', filter: { tag: 't' }, limit: LIMITS.sliceRows, dryRun: false },
    { op: 'deleteMany', filter: { tag: 't' }, limit: LIMITS.sliceRows, dryRun: false, before: 900 },
    { op: 'deleteMany', filter: { tag: 't' }, limit: LIMITS.sliceRows, dryRun: false, before: 700 },
  ])
})

test('stops at its limit', async () => {
  answering(slice(500, 900), slice(100, 800))
  expect(await runMany(mailbox, { op: 'deleteMany' }, { all: true }, { limit: 600 })).toMatchObject({ changed: 600 })
  expect(asked().map(({ limit }) => limit)).toEqual([500, 100])
})

test('ids go in parts, each once; what is no id is not found', async () => {
  answering(slice(99, null, { notFound: 1 }), slice(50, null))
  const ids = Array.from({ length: 150 }, (_, index) => formatId({ seq: index + 1, node: 1, enqueuedAt: 1_700_000_000_000 }))
  const done = await runMany(mailbox, { op: 'deleteMany' }, { ids: [...ids, ids[0] as string, 'no id'] }, { dryRun: true })
  expect(done).toEqual({ matched: 150, changed: 149, skipped: { notFound: 2 } })
  expect(asked().map((command) => [command.ids?.length, command.dryRun])).toEqual([
    [100, true],
    [50, true],
  ])
})

test('no ids are no jobs', async () => {
  expect(await runMany(mailbox, { op: 'deleteMany' }, { ids: [] }, undefined)).toEqual({ matched: 0, changed: 0, skipped: {} })
  expect(asked()).toEqual([])
})

test('an error between slices says what is done', async () => {
  answering(slice(500, 900), new StorageError('no'))
  await expect(runMany(mailbox, { op: 'deleteMany' }, { all: true }, undefined)).rejects.toMatchObject({
    code: 'STORAGE',
    done: { matched: 500, changed: 500, skipped: {} },
  })
})

test('data that a codec encodes is matched by nothing: the call is refused, unasked, and meta is not', async () => {
  const codec = new PayloadCodec({ encode: (bytes) => bytes, decode: (bytes) => bytes }, 1_000)
  const many = (filter: ManyFilter) => runMany(mailbox, { op: 'deleteMany' }, filter, undefined, codec)
  await expect(many({ data: { customer: 7 } })).rejects.toMatchObject({ code: 'OPTION_TYPE', option: 'data' })
  await expect(readPage(mailbox, validateListOptions({ data: { customer: 7 } }), codec)).rejects.toMatchObject({ option: 'data' })
  expect(port.requests).toEqual([])
  answering(slice(1, null))
  expect(await many({ meta: { by: 'ann' } })).toMatchObject({ changed: 1 })
})
