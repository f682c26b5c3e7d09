/** Tests what Ports carry beside the lives of jobs: renewals, journals, backups. Part of the conformance suite. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandOf, formatId, parseId, type SourceEntry, sourcedNode } from '@millrace/core'
import { expect, onTestFinished, test } from 'vitest'
import type { Probe } from '../probe.ts'
import type { Behind } from './behind.ts'

const NUMBER = 4_711
const AT = Date.UTC(2026, 0, 1)
/** The most that a wall clock can differ from the monotonic one while it is being set right. */
const CLOCKS_MS = 10

function forwarding(first: number, entries: readonly SourceEntry[]): CommandOf<'forward'> {
  return { op: 'forward', source: 'journal of one process', number: NUMBER, first, entries }
}

export function upkeepConformance(under: () => Probe, { inFile }: Behind): void {
  test('N4: a renewal is counted, and every delivery that follows names it', async () => {
    const probe = under()
    await probe.barrier()
    expect(probe.renewal).toBe(0)
    expect(await probe.call<'renew'>({ op: 'renew', renewal: 3 })).toBe(true)
    await probe.barrier()
    expect(probe.renewal).toBe(3)
    expect(await probe.call<'renew'>({ op: 'renew', renewal: 8 })).toBe(true)
    await probe.enqueue('a')
    expect(probe.renewal).toBe(8)
  })

  test('Q3: a worker tells when it attached, and when it was last heard', async () => {
    const probe = under()
    const seen = async () => {
      const [worker] = await probe.call<'workers'>({ op: 'workers' })
      if (worker === undefined) throw new Error('no worker is listed')
      return worker
    }
    await probe.attach(['a'], { local: false })
    const { enqueuedAt } = await probe.enqueue('a')
    const { attachedAt, lastSeenAt } = await seen()
    expect(attachedAt).toBeGreaterThan(0)
    expect(lastSeenAt).toBeGreaterThanOrEqual(attachedAt - CLOCKS_MS)
    await probe.call<'renew'>({ op: 'renew', renewal: 100 })
    const later = await seen()
    expect(later.attachedAt).toBe(attachedAt)
    expect(later.lastSeenAt).toBeGreaterThanOrEqual(Math.max(lastSeenAt, enqueuedAt) - CLOCKS_MS)
  })

  test('Q3: a worker tells the last report of its process, which is written nowhere', async () => {
    const probe = under()
    await probe.attach(['a'], { local: false, pooled: true })
    const seen = async () => (await probe.call<'workers'>({ op: 'workers' }))[0]
    const { turns } = (await probe.call<'stats'>({ op: 'stats' })).writer
    const report = { eventLoopDelayMs: 12.5, rssBytes: 2 ** 33 }
    await probe.call<'renew'>({ op: 'renew', renewal: 100, vitals: report })
    await probe.call<'renew'>({ op: 'renew', renewal: 101 })
    expect(await seen()).toMatchObject({ kind: 'threads', ...report })
    await probe.call<'renew'>({ op: 'renew', renewal: 102, vitals: { rssBytes: 4_096 } })
    const next = await seen()
    expect([next?.rssBytes, next?.eventLoopDelayMs]).toEqual([4_096, undefined])
    expect((await probe.call<'stats'>({ op: 'stats' })).writer.turns).toBe(turns)
  })

  test('a journal is forwarded: each entry once, under the ids that it was given, and one that is refused alone', async () => {
    const probe = under()
    const bystander = await probe.enqueue('a', { unique: { key: 'k', onConflict: 'error' } })
    const repeated = await probe.enqueue('a', { idempotencyKey: 'i' })
    const entries: SourceEntry[] = [
      { at: AT, jobs: [{ name: 'a', data: '1' }] },
      { at: AT, jobs: [{ name: 'a', data: '2', unique: { key: 'k', onConflict: 'error' } }] },
      {
        at: AT,
        jobs: [
          { name: 'a', data: '3' },
          { name: 'a', data: null, idempotencyKey: 'i' },
        ],
      },
    ]
    expect(await probe.call<'forward'>(forwarding(1, entries))).toMatchObject({
      mark: 1,
      merged: [],
      refused: { place: 2, refusal: { code: 'UNIQUE_CONFLICT' } },
    })
    const { seq, node, enqueuedAt } = repeated
    const rest = { mark: 4, merged: [{ place: 4, job: { seq, node, enqueuedAt } }] }
    expect(await probe.call<'forward'>(forwarding(3, entries.slice(2)))).toEqual(rest)
    expect(await probe.call<'forward'>(forwarding(1, entries))).toEqual({ mark: 4, merged: [] })
    const { jobs } = await probe.call<'list'>({ op: 'list', filter: {}, limit: 10 })
    expect(jobs.map(({ data }) => data)).toEqual(['3', '1', null, null])
    const id = parseId(formatId({ seq: 0, node: sourcedNode(1, NUMBER), enqueuedAt: AT }))
    if (id === undefined) throw new Error('an id of a journal is one')
    expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ data: '1', enqueuedAt: AT })
    expect((await probe.call<'get'>({ op: 'get', id: bystander }))?.state).toBe('waiting')
  })

  test('a backup is a whole file beside a queue that goes on, and takes no other file’s place', async () => {
    const probe = under()
    const folder = mkdtempSync(join(tmpdir(), 'millrace-conformance-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'copy.db')
    await probe.enqueue('a')
    if (!inFile) {
      await expect(probe.call<'backup'>({ op: 'backup', file })).rejects.toMatchObject({ code: 'UNSUPPORTED' })
      return
    }
    const [written] = await Promise.all([probe.call<'backup'>({ op: 'backup', file }), probe.enqueue('a')])
    expect(written.bytes).toBe(statSync(file).size)
    expect(written.bytes).toBeGreaterThan(0)
    await expect(probe.call<'backup'>({ op: 'backup', file })).rejects.toMatchObject({ code: 'NOT_WRITABLE' })
    expect(statSync(file).size).toBe(written.bytes)
    expect((await probe.call<'stats'>({ op: 'stats' })).states.waiting).toBe(2)
  })
}
