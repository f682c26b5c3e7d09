/** Tests which finished jobs retention may take: the oldest first, those that are still finished, and no others. Part of the suite. */
import { CANCELLED, COMPLETED, DEFAULT_RETENTION, type Enqueued, FAILED, LIMITS, type StateCode } from '@millrace/core'
import type { ListQuery } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { seqsOf, UNBOUNDED } from './image.ts'
import { standBy } from './standBy.ts'
import { keyOfJob, type StoreTurns } from './storeTurns.ts'

const ALL = Number.MAX_SAFE_INTEGER

/** Jobs that completed one by one, ten milliseconds apart. */
function completed(turns: StoreTurns, count: number): readonly number[] {
  turns.attach('w', ['a'])
  return Array.from({ length: count }, () => {
    const { seq } = turns.enqueue('a')
    turns.pass(10)
    turns.complete({ seq })
    return seq
  })
}

function prunable(turns: StoreTurns, state: StateCode, before: number, limit = 99, lastEvent?: number, own = false): readonly number[] {
  const { queue } = turns.lane('a')
  const query = { queueId: queue.id, state, before, limit: ALL, lastEvent, own }
  return turns.store.prunable([query], limit).flatMap(({ rows }) => seqsOf(rows))
}

/** Jobs that completed in turns of their own, each with its own time to be kept. */
function kept(turns: StoreTurns, ...keeps: readonly (number | undefined)[]): readonly number[] {
  turns.attach('w', ['a'])
  return keeps.map((keep) => {
    const { seq } = turns.enqueue('a', keep === undefined ? {} : { keep })
    turns.complete({ seq })
    return seq
  })
}

function ownOf(turns: StoreTurns, before: number, limit?: number, lastEvent?: number): readonly number[] {
  return prunable(turns, COMPLETED, before, limit, lastEvent, true)
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
    for (const { seq } of turns.enqueueAll({ name: 'b', queue: 'q' }, { name: 'b', queue: 'q' })) turns.complete({ seq })
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
    turns.run(...jobs.map((job) => ({ op: 'cancel' as const, id: keyOfJob(job) })))
    expect(prunable(turns, CANCELLED, ALL)).toEqual(seqsOf(jobs))
    turns.retry(jobs[0])
    expect(prunable(turns, CANCELLED, ALL)).toEqual([jobs[1]?.seq])
    turns.pass(10)
    turns.cancel(jobs[0])
    expect(prunable(turns, CANCELLED, ALL)).toEqual([jobs[1]?.seq, jobs[0]?.seq])
    turns.delete(jobs[1])
    expect(prunable(turns, CANCELLED, ALL)).toEqual([jobs[0]?.seq])
    assertBystanders()
  })

  test('jobs with a time of their own are offered apart, by the time that is over first, up to a time, a limit and an event', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const { wall } = turns.now
    const [plain, late, soon, next] = kept(turns, undefined, 500, 20, 30) as [number, number, number, number]
    expect(prunable(turns, COMPLETED, ALL)).toEqual([plain])
    expect(ownOf(turns, ALL)).toEqual([soon, next, late])
    expect([ownOf(turns, wall + 30), ownOf(turns, wall + 31), ownOf(turns, wall + 20)]).toEqual([[soon], [soon, next], []])
    expect(ownOf(turns, ALL, 2)).toEqual([soon, next])
    const end = turns.store.ends(0, 99, ALL).ends.find(({ jobSeq }) => jobSeq === soon)?.seq as number
    expect(ownOf(turns, ALL, 99, end + 1)).toEqual([soon])
    expect(prunable(turns, FAILED, ALL, 99, undefined, true)).toEqual([])
    assertBystanders()
  })

  test('jobs of one turn with several times go each at its own, and a batch that is cut keeps its rest', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const jobs = turns.enqueueAll(...[30, 10, 30, undefined, 10, 30].map((keep) => ({ name: 'a', ...(keep !== undefined && { keep }) })))
    turns.run(...jobs.map((job) => ({ op: 'cancel' as const, id: keyOfJob(job) })))
    const own = (limit?: number) => prunable(turns, CANCELLED, ALL, limit, undefined, true)
    const seqs = (...places: readonly number[]) => places.map((place) => jobs[place]?.seq)
    expect(own()).toEqual(seqs(1, 4, 0, 2, 5))
    expect(own(3)).toEqual(seqs(1, 4, 0))
    turns.pass(11)
    turns.prune({})
    expect(own()).toEqual(seqs(0, 2, 5))
    expect(turns.store.load().kept).toMatchObject([{ cancelled: 3 }])
    turns.pass(20)
    turns.prune({})
    expect(turns.store.jobs(seqsOf(jobs)).map(({ seq }) => seq)).toEqual(seqs(3))
    expect(turns.store.load().kept).toEqual([])
    assertBystanders()
  })

  test('a slice of jobs with a time of their own leaves the rest of its batch', () => {
    const turns = under()
    const count = LIMITS.sliceRows + 3
    const jobs = turns.enqueueAll(...Array.from({ length: count }, () => ({ name: 'a', keep: 5 })))
    turns.run(...jobs.map((job) => ({ op: 'cancel' as const, id: keyOfJob(job) })))
    turns.pass(6)
    turns.pruning = DEFAULT_RETENTION
    turns.turn()
    turns.pruning = undefined
    expect(seqsOf(turns.rows())).toEqual(seqsOf(jobs.slice(-3)))
    expect(prunable(turns, CANCELLED, ALL, 99, undefined, true)).toEqual(seqsOf(jobs.slice(-3)))
  })

  test('a job that has finished twice within a millisecond is offered by its last end, and once', () => {
    const turns = under()
    const [job, bystander] = turns.enqueueAll({ name: 'a', keep: 40 }, { name: 'a', keep: 40 }) as [Enqueued, Enqueued]
    for (const op of ['cancel', 'retry', 'cancel'] as const) turns.run({ op, id: keyOfJob(job) })
    turns.cancel(bystander)
    expect(prunable(turns, CANCELLED, ALL, 99, undefined, true)).toEqual([job.seq, bystander.seq])
    // A definition gives a job that comes back another time to be kept.
    const plain = turns.enqueue('a')
    turns.cancel(plain)
    turns.attach('w', [], { handlers: [{ name: 'a', defaults: { keep: 70 } }], maxConcurrency: 1 })
    turns.retry(plain)
    turns.run({ op: 'cancel', id: keyOfJob(plain) }, { op: 'giveBack', seq: plain.seq, run: 1, started: true })
    expect(prunable(turns, CANCELLED, ALL)).toEqual([])
    expect(prunable(turns, CANCELLED, ALL, 99, undefined, true)).toEqual([job.seq, bystander.seq, plain.seq])
    expect(turns.store.load().kept).toMatchObject([{ cancelled: 3 }])
  })

  test('jobs with a time of their own are in every list', () => {
    const turns = under()
    standBy(turns)
    const seqs = kept(turns, undefined, 900, 5, undefined, 30).toReversed()
    const listed = (query: Partial<ListQuery>) =>
      seqsOf(turns.store.list({ filter: { state: COMPLETED, name: 'a' }, limit: 3, ...query }, UNBOUNDED).rows)
    expect(listed({})).toEqual(seqs.slice(0, 3))
    const first = turns.store.list({ filter: { state: COMPLETED, name: 'a' }, limit: 3, order: 'finished' }, UNBOUNDED)
    expect(seqsOf(first.rows)).toEqual(seqs.slice(0, 3))
    expect(listed({ order: 'finished', before: first.next as number, beforeAt: first.nextAt as number })).toEqual(seqs.slice(3))
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
