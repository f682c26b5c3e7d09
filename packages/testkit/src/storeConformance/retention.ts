/** Tests which finished jobs retention may take: the oldest first, those that are still finished, and no others. Part of the suite. */
import { CANCELLED, COMPLETED, FAILED, type StateCode } from '@millrace/core'
import { expect, test } from 'vitest'
import { seqsOf } from './image.ts'
import { standBy } from './standBy.ts'
import { keyOf, type StoreTurns } from './storeTurns.ts'

const ALL = Number.MAX_SAFE_INTEGER

/** Jobs that completed one by one, ten milliseconds apart. */
function completed(turns: StoreTurns, count: number): readonly number[] {
  turns.attach('w', ['a'])
  return Array.from({ length: count }, () => {
    const { seq } = turns.enqueue('a')
    turns.pass(10)
    turns.run({ op: 'complete', seq, run: 1, output: null })
    return seq
  })
}

function prunable(turns: StoreTurns, state: StateCode, before: number, limit = 99, lastEvent?: number): readonly number[] {
  const { queue } = turns.lane('a')
  return turns.store.prunable([{ queueId: queue.id, state, before, limit: ALL, lastEvent }], limit).flatMap(({ rows }) => seqsOf(rows))
}

export function retentionConformance(under: () => StoreTurns): void {
  test('finished jobs are offered by queue and state, the oldest first, up to a time, a limit and an event', () => {
    const turns = under()
    standBy(turns)
    const { wall } = turns.now
    const seqs = completed(turns, 4)
    expect(prunable(turns, COMPLETED, ALL)).toEqual(seqs)
    expect(prunable(turns, COMPLETED, wall + 30)).toEqual(seqs.slice(0, 2))
    expect(prunable(turns, COMPLETED, ALL, 3)).toEqual(seqs.slice(0, 3))
    expect([prunable(turns, FAILED, ALL), prunable(turns, CANCELLED, ALL)]).toEqual([[], []])
    const ends = turns.store.ends(0, 99, ALL).ends.filter(({ jobSeq }) => seqs.includes(jobSeq))
    expect(prunable(turns, COMPLETED, ALL, 99, (ends[1]?.seq as number) + 1)).toEqual(seqs.slice(0, 2))
  })

  test('several queries share the limit of a slice, each within its own', () => {
    const turns = under()
    const seqs = completed(turns, 3)
    turns.attach('other', ['b'])
    for (const { seq } of turns.enqueueAll({ name: 'b', queue: 'q' }, { name: 'b', queue: 'q' }))
      turns.run({ op: 'complete', seq, run: 1, output: null })
    const [a, b] = [turns.lane('a').queue.id, turns.lane('b', 'q').queue.id]
    const ask = (limit: number) =>
      turns.store
        .prunable(
          [
            { queueId: a, state: COMPLETED, before: ALL, limit: 2 },
            { queueId: b, state: COMPLETED, before: ALL, limit: 9 },
          ],
          limit,
        )
        .map(({ rows }) => rows.length)
    expect([ask(9), ask(3), ask(1)]).toEqual([[2, 2], [2, 1], [1]])
    expect(seqs).toHaveLength(3)
  })

  test('jobs go with what is known of them, and others stay', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const seqs = completed(turns, 5)
    const rows = turns.store.jobs(seqs)
    turns.prune({ completed: { ageMs: 1e9, count: 2 } })
    expect(turns.store.jobs(seqs)).toEqual(rows.slice(3))
    expect(turns.store.attempts(rows).map((attempts) => attempts.length)).toEqual([1, 1, 1, 1, 1])
    expect(prunable(turns, COMPLETED, ALL)).toEqual(seqs.slice(3))
    assertBystanders()
  })

  test('a job that was brought back is not offered, until it has finished again', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const jobs = turns.enqueueAll({ name: 'a' }, { name: 'a' })
    turns.run(...jobs.map((job) => ({ op: 'cancel' as const, id: keyOf(job) })))
    expect(prunable(turns, CANCELLED, ALL)).toEqual(seqsOf(jobs))
    turns.run({ op: 'retry', id: keyOf(jobs[0] as never) })
    expect(prunable(turns, CANCELLED, ALL)).toEqual([jobs[1]?.seq])
    turns.pass(10)
    turns.run({ op: 'cancel', id: keyOf(jobs[0] as never) })
    expect(prunable(turns, CANCELLED, ALL)).toEqual([jobs[1]?.seq, jobs[0]?.seq])
    turns.run({ op: 'delete', id: keyOf(jobs[1] as never) })
    expect(prunable(turns, CANCELLED, ALL)).toEqual([jobs[0]?.seq])
    assertBystanders()
  })

  test('jobs that an export has yet to get stay', () => {
    const turns = under()
    turns.run({ op: 'export', name: 'e', limit: 1 })
    const seqs = completed(turns, 3)
    const [first] = turns.store.ends(0, 1, ALL).ends
    turns.prune({ completed: { ageMs: 0, count: 0 } })
    expect(turns.store.jobs(seqs)).toHaveLength(3)
    turns.run({ op: 'export', name: 'e', limit: 1, upTo: (first?.seq as number) + 1 })
    turns.prune({ completed: { ageMs: 0, count: 0 } })
    expect(seqsOf(turns.store.jobs(seqs))).toEqual(seqs.slice(1))
    turns.run({ op: 'deleteExport', name: 'e' })
    turns.prune({ completed: { ageMs: 0, count: 0 } })
    expect(turns.store.jobs(seqs)).toEqual([])
  })
}
