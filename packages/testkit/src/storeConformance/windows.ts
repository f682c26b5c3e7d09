/** Tests the order of jobs that wait, in windows and backlogs, and of what time alone causes; with cursors and bounds. Part of the suite. */
import { CANCELLED, FAILED, type NewJob, WAITING } from '@millrace/core'
import { DROPPED, type JobRow, type LaneCursor } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { seqsOf } from './image.ts'
import { standBy } from './standBy.ts'
import { keyOfJob, type StoreTurns } from './storeTurns.ts'

const ALL = Number.MAX_SAFE_INTEGER

type Page = { readonly rows: readonly JobRow[]; readonly complete: boolean }

/** Reads to the end, by pages behind one another. */
function walk(read: (after: LaneCursor | undefined) => Page): readonly JobRow[] {
  const rows: JobRow[] = []
  for (;;) {
    const page = read(rows.at(-1))
    rows.push(...page.rows)
    if (page.complete) return rows
    expect(page.rows.length).toBeGreaterThan(0)
  }
}

/** Jobs of several priorities and due times, which came in no order. Returns them in the order in which they run. */
function line(turns: StoreTurns, options: Partial<NewJob> = {}): readonly JobRow[] {
  const jobs = [...Array(24).keys()].map((index) => {
    const runAt = turns.now.wall - ((index * 7) % 5)
    return { ...options, name: 'line', data: `"${'x'.repeat(index % 4)}"`, priority: (index % 3) - 1, runAt }
  })
  const seqs = new Set(seqsOf(turns.enqueueAll(...jobs)))
  const inOrder = (a: JobRow, b: JobRow) => b.priority - a.priority || a.runAt - b.runAt || a.seq - b.seq
  return turns
    .rows()
    .filter(({ seq }) => seqs.has(seq))
    .toSorted(inOrder)
}

export function windowsConformance(under: () => StoreTurns): void {
  describe('a lane', () => {
    test('has its jobs by priority, due time and row; from each place on, in pages of any size', () => {
      const turns = under()
      standBy(turns)
      const jobs = line(turns)
      const { id } = turns.lane('line')
      expect(turns.store.window(id, undefined, ALL, ALL)).toEqual({ rows: jobs, complete: true })
      for (const size of [1, 2, 7, 24, 25]) expect(walk((after) => turns.store.window(id, after, size, ALL))).toEqual(jobs)
      for (const [index, job] of jobs.entries()) expect(turns.store.window(id, job, 3, ALL).rows).toEqual(jobs.slice(index + 1, index + 4))
      expect(turns.store.window(999, undefined, ALL, ALL)).toEqual({ rows: [], complete: true })
      expect(turns.store.oldestWaiting(id)).toBe(Math.min(...jobs.map(({ runAt }) => runAt)))
      expect(turns.store.oldestWaiting(999)).toBe(0)
    })

    test('gives at most so many jobs and bytes, but one at least', () => {
      const turns = under()
      turns.enqueueAll(...['aaaa', 'bbbb', 'cccc'].map((data) => ({ name: 'line', data })))
      const { id } = turns.lane('line')
      const page = (jobs: number, bytes: number) => {
        const { rows, complete } = turns.store.window(id, undefined, jobs, bytes)
        return [rows.map(({ data }) => data).join(), complete]
      }
      expect(page(ALL, 0)).toEqual(['aaaa', false])
      expect(page(ALL, 7)).toEqual(['aaaa', false])
      expect(page(ALL, 8)).toEqual(['aaaa,bbbb', false])
      expect(page(2, ALL)).toEqual(['aaaa,bbbb', false])
      expect(page(3, 12)).toEqual(['aaaa,bbbb,cccc', true])
    })

    test('loses the jobs that start, and gets back those that are released', () => {
      const turns = under()
      const jobs = line(turns)
      const { id } = turns.lane('line')
      turns.attach('w', ['line'], { minConcurrency: 3, maxConcurrency: 3 })
      expect(turns.store.window(id, undefined, ALL, ALL).rows).toEqual(jobs.slice(3))
      turns.run({ op: 'pauseAll', paused: true }, { op: 'leave', session: 'w' })
      expect(seqsOf(turns.store.window(id, undefined, ALL, ALL).rows)).toEqual(seqsOf(jobs))
    })
  })

  describe('a backlog', () => {
    test('has the jobs of a key that are held back, in the order of their lane, which has them no more', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.configure('default', { perKeyLimit: 1 })
      turns.attach('w', ['line'], { minConcurrency: 5, maxConcurrency: 5 })
      const jobs = line(turns, { concurrencyKey: 'k' })
      const [backlog] = turns.store.load().backlogs
      if (backlog === undefined) throw new Error('no job was parked')
      expect(backlog).toMatchObject({ laneId: turns.lane('line').id, key: 'k' })
      const parked = jobs.map(({ seq }) => turns.row({ seq })).filter(({ backlogId }) => backlogId === backlog.id)
      expect(backlog.parked).toBe(parked.length)
      for (const size of [1, 5, 30]) expect(walk((after) => turns.store.parked(backlog.id, after, size, ALL))).toEqual(parked)
      const inWindow = turns.store.window(backlog.laneId, undefined, ALL, ALL).rows
      expect(inWindow.filter(({ backlogId }) => backlogId !== 0)).toEqual([])
      expect(turns.store.oldestParked(backlog.id)).toBe(Math.min(...parked.map(({ runAt }) => runAt)))
      expect([turns.store.oldestParked(999), turns.store.parked(999, undefined, 1, 1)]).toEqual([0, { rows: [], complete: true }])
      assertBystanders()
    })

    test('of a queue that keeps an order gives the job whose turn it is: the one that has it, or the first that came', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.configure('default', { keyOrder: 'strict' })
      turns.attach('w', ['line'])
      const [first, second] = line(turns, { concurrencyKey: 'k', queue: 'default' }).toSorted((a, b) => a.seq - b.seq)
      if (first === undefined || second === undefined) throw new Error('there are no jobs')
      const { queue } = turns.lane('line')
      const query = () => ({ queueId: queue.id, key: 'k', backlogIds: turns.store.load().backlogs.map(({ id }) => id) })
      const [now, ...none] = turns.store.turns([query()], ALL)
      expect([now?.row?.seq, now?.taken, none]).toEqual([first.seq, true, []])
      turns.run({ op: 'pauseAll', paused: true }, { op: 'complete', seq: first.seq, run: 1, output: null })
      const [next] = turns.store.turns([query()], ALL)
      expect(next?.row?.seq).toBe(second.seq)
      expect(turns.store.turns([query(), query()], 0)).toHaveLength(1)
      expect(turns.store.turns([{ queueId: queue.id, key: 'none', backlogIds: [] }], 0)).toEqual([{ row: undefined, taken: false }])
      assertBystanders()
    })
  })

  describe('a queue that drops its oldest', () => {
    test('has the jobs that came under that setting and are yet to start, by arrival and without payload', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.enqueue('a', { queue: 'short' })
      turns.configure('short', { maxLength: 4, onFull: 'drop-oldest' })
      const [first, second] = turns.enqueueAll(
        { name: 'a', queue: 'short', priority: 9, data: 'x' },
        { name: 'b', queue: 'short', delay: 1e6 },
      )
      turns.attach('w', ['c'])
      turns.enqueue('c', { queue: 'short' })
      const { queue } = turns.lane('a', 'short')
      const { rows, complete } = turns.store.arrivals(queue.id, 9, ALL)
      expect([seqsOf(rows), complete]).toEqual([[first?.seq, second?.seq], true])
      expect(rows[0]).toMatchObject({ data: null, dropped: false })
      expect(turns.store.arrivals(queue.id, 1, ALL)).toMatchObject({ rows: [{ seq: first?.seq }], complete: false })
      expect(turns.store.arrivals(queue.id, 9, 0).rows.length).toBeGreaterThan(0)
      // What came before the queue was told so is not dropped: the job that came first under the setting is.
      turns.enqueueAll({ name: 'a', queue: 'short' }, { name: 'a', queue: 'short' })
      expect(turns.row({ seq: first?.seq ?? 0 })).toMatchObject({ state: CANCELLED, dropped: true, data: 'x' })
      expect(seqsOf(turns.store.arrivals(queue.id, 9, ALL).rows)).not.toContain(first?.seq)
      expect(turns.store.attempts([turns.row({ seq: first?.seq ?? 0 })])[0]).toMatchObject([{ attempt: 0, error: DROPPED }])
      assertBystanders()
    })
  })

  describe('time', () => {
    test('makes jobs due, the earliest first, up to a limit', () => {
      const turns = under()
      const { wall } = turns.now
      const [a, b, c, d] = turns.enqueueAll(...[30, 10, 20, 10].map((delay) => ({ name: 'a', delay }))).map(({ seq }) => seq)
      expect(turns.store.deadlines().dueAt).toBe(wall + 10)
      expect(seqsOf(turns.store.due(wall + 9, 10))).toEqual([])
      expect(seqsOf(turns.store.due(wall + 20, 10))).toEqual([b, d, c])
      expect(seqsOf(turns.store.due(wall + 30, 3))).toEqual([b, d, c])
      expect(seqsOf(turns.store.due(wall + 30, 10))).toEqual([b, d, c, a])
      turns.after(10)
      expect(turns.store.deadlines().dueAt).toBe(wall + 20)
      expect(turns.row({ seq: b as number }).state).toBe(WAITING)
    })

    test('ends jobs that have not started, and no others', () => {
      const turns = under()
      turns.attach('w', ['run'])
      const { wall } = turns.now
      const [waiting, scheduled] = turns.enqueueAll({ name: 'a', ttl: 5 }, { name: 'a', ttl: 3, delay: 99 }, { name: 'run', ttl: 1 })
      expect(turns.store.deadlines().expiresAt).toBe(wall + 3)
      expect(turns.store.expired(wall + 2, 10)).toEqual([])
      expect(seqsOf(turns.store.expired(wall + 5, 10))).toEqual([scheduled?.seq, waiting?.seq])
      expect(seqsOf(turns.store.expired(wall + 5, 1))).toEqual([scheduled?.seq])
    })
  })

  test('failed jobs come by the time of their failure, of some lanes, behind a place', () => {
    const turns = under()
    turns.attach('w', ['a', 'b', 'c'])
    const jobs = turns.enqueueAll({ name: 'a' }, { name: 'b' }, { name: 'c' })
    for (const index of [1, 2, 0]) {
      turns.pass(10)
      turns.fail({ seq: jobs[index]?.seq as number }, { retry: false })
    }
    const [a, b, c] = jobs.map(({ seq }) => turns.row({ seq })) as [JobRow, JobRow, JobRow]
    const lanes = [a, b, c].map(({ laneId }) => laneId)
    const none = { finishedAt: -1, seq: -1 }
    expect(seqsOf(turns.store.failed(lanes, none, 10))).toEqual([b.seq, c.seq, a.seq])
    expect(seqsOf(turns.store.failed([a.laneId, c.laneId], none, 10))).toEqual([c.seq, a.seq])
    expect(seqsOf(turns.store.failed(lanes, none, 2))).toEqual([b.seq, c.seq])
    expect(seqsOf(turns.store.failed(lanes, c, 2))).toEqual([a.seq])
    expect(turns.store.failed([], none, 2)).toEqual([])
    turns.run({ op: 'leave', session: 'w' }, { op: 'retry', id: keyOfJob(c) })
    expect(seqsOf(turns.store.failed(lanes, none, 10))).toEqual([b.seq, a.seq])
    expect(turns.row(b).state).toBe(FAILED)
  })
}
