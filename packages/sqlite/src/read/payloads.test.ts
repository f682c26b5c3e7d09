/** Payloads that are cut where they are read: by bytes, and at the end of a character. */
import { LIMITS } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutRow } from '../../../core/src/testing/memoryLists.ts'
import { setLimits } from '../../../core/src/testing/smallLimits.ts'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { openCrowd } from '../testing/crowd.ts'
import { listed } from '../testing/lists.ts'

test('a cut row has the beginnings of its payloads, and their sizes; the memory store cuts the same', () => {
  const { store, turns } = openCrowd()
  const payload = fc.oneof(
    fc.constant(null),
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)),
    fc.uint8Array({ maxLength: 40 }),
  )
  fc.assert(
    fc.property(payload, payload, payload, fc.nat({ max: 50 }), (data, checkpoint, output, bytesMax) => {
      const job = turns.insert({ data, runAt: turns.at + 1_000 })
      job.checkpoint = checkpoint
      job.output = output
      turns.commit()
      const plain = (rows: readonly object[]) => rows.map((row) => JSON.parse(JSON.stringify(row)))
      const expected = plain(store.jobs([job.seq]).map((row) => cutRow(row, bytesMax)))
      expect(plain(store.jobs([job.seq], bytesMax))).toEqual(expected)
      expect(plain(listed(store, { limit: 1, payloadBytes: bytesMax }))).toEqual(expected)
    }),
    { numRuns: runs(60) },
  )
})

test('a page of large jobs ends at a bound of bytes, and goes on behind it', () => {
  expect(LIMITS.pageBytes).toBe(64 * 2 ** 20)
  setLimits({ pageBytes: 64_000 })
  const { store, turns } = openCrowd()
  const seqs = Array.from({ length: 3 }, () => turns.insert({ lane: turns.lane('large'), data: 'x'.repeat(30_000) }).seq)
  turns.commit()
  const page = (before?: number, payloadBytes?: number) =>
    store.list(
      { filter: { name: 'large' }, limit: 3, ...(before !== undefined && { before }), ...(payloadBytes !== undefined && { payloadBytes }) },
      { rows: 1, late: () => true },
    )
  const first = page()
  expect([first.rows.map(({ seq }) => seq), first.next]).toEqual([[seqs[2], seqs[1]], seqs[1]])
  const last = page(first.next ?? undefined)
  expect([last.rows.map(({ seq }) => seq), last.next]).toEqual([[seqs[0]], null])
  expect(page(undefined, 512).rows).toHaveLength(3)
})
