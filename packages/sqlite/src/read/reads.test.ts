import { ACTIVE, BLOCKED, CANCELLED, COMPLETED, FAILED, LIMITS, SCHEDULED, type StateCode, WAITING } from '@millrace/core'
import { type Job, type JobRow, type Lane, type Matching, newKey, newKeyBacklog } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { openReader } from '../reader.ts'
import { attemptsOf, type Crowd, openCrowd } from '../testing/crowd.ts'
import { openTestStore } from '../testing/files.ts'
import { listed } from '../testing/lists.ts'

const seqsOf = (rows: readonly { seq: number }[]) => rows.map(({ seq }) => seq)

describe('load', () => {
  test('an empty file', () => {
    const { node, load, deadlines } = openTestStore()
    expect(load()).toEqual({
      node,
      nextSeq: 1,
      nextEvent: 1,
      nextSession: 1,
      nextLane: 1,
      nextQueue: 1,
      queues: [],
      pauseEnds: [],
      backlogs: [],
      buckets: [],
      lanes: [],
      active: [],
      present: [],
      definitions: [],
      exports: [],
      freed: [],
      flowWork: false,
      minutes: [],
      kept: [],
      paused: false,
    })
    expect(deadlines()).toEqual({ dueAt: 0, expiresAt: 0, fireAt: 0 })
  })

  test('the numbers, lanes and active jobs, without their payloads', () => {
    const { store, turns } = openCrowd()
    const session = turns.session('worker-5', 'uuid-5')
    const job = turns.insert({ data: '"large"' })
    turns.start(job, session)
    turns.commit()
    const loaded = store.load()
    expect(loaded).toMatchObject({ nextSeq: turns.nextSeq, nextEvent: turns.nextEvent, nextSession: turns.nextSession })
    expect(loaded.lanes.map(({ queue, name }) => `${queue}/${name}`)).toEqual(['by/stand', 'default/work'])
    expect(loaded.active).toHaveLength(3)
    expect(loaded.active.at(-1)).toMatchObject({
      seq: job.seq,
      state: ACTIVE,
      run: 1,
      sessionUuid: 'uuid-5',
      worker: 'worker-5',
      logLines: 0,
      data: null,
    })
  })

  test('the counters are what the rows say', () => {
    const { store, db } = openCrowd()
    for (const lane of store.load().lanes) {
      const counted = [0, 1, 2, 3, 4, 5, 6].map((state) =>
        db.prepare('SELECT count(*) FROM job WHERE lane = ? AND state = ?').pluck().get(lane.id, state),
      )
      expect(lane.counts).toEqual(counted)
    }
  })
})

describe('a window', () => {
  /** Jobs of one lane in the order in which they are to run. */
  function line(crowd: Crowd, count: number): Job[] {
    const lane = crowd.turns.lane('line')
    const at = crowd.turns.at
    const jobs = Array.from({ length: count }, (_, index) =>
      crowd.turns.insert({
        lane,
        state: WAITING,
        priority: [0, -3, 9][index % 3] as number,
        runAt: at - (index % 4),
        data: 'x'.repeat(100),
      }),
    )
    crowd.turns.commit()
    return jobs.toSorted((a, b) => b.priority - a.priority || a.runAt - b.runAt || a.seq - b.seq)
  }

  test.each([1, 2, 7, 24, 100])('gives the lane in order, %i at a time', (size) => {
    const crowd = openCrowd()
    const jobs = line(crowd, 24)
    const laneId = jobs[0]?.lane.id as number
    const found: JobRow[] = []
    for (let rounds = 0; rounds < 30; rounds++) {
      const { rows, complete } = crowd.store.window(laneId, found.at(-1), size, 2 ** 20)
      found.push(...rows)
      expect(rows.length).toBe(complete ? rows.length : size)
      if (complete) break
    }
    expect(seqsOf(found)).toEqual(seqsOf(jobs))
  })

  test('says that it is all of it where it ends exactly', () => {
    const crowd = openCrowd()
    const jobs = line(crowd, 6)
    const laneId = jobs[0]?.lane.id as number
    expect(crowd.store.window(laneId, undefined, 6, 2 ** 20)).toMatchObject({ complete: true, rows: { length: 6 } })
    expect(crowd.store.window(laneId, undefined, 5, 2 ** 20)).toMatchObject({ complete: false, rows: { length: 5 } })
    expect(crowd.store.window(laneId, jobs.at(-1), 5, 2 ** 20)).toEqual({ complete: true, rows: [] })
    expect(crowd.store.window(999, undefined, 5, 2 ** 20)).toEqual({ complete: true, rows: [] })
  })

  test('is bounded by bytes, but has at least one job', () => {
    const crowd = openCrowd()
    const jobs = line(crowd, 10)
    const laneId = jobs[0]?.lane.id as number
    expect(crowd.store.window(laneId, undefined, 10, 350)).toMatchObject({ complete: false, rows: { length: 3 } })
    expect(crowd.store.window(laneId, undefined, 10, 1)).toMatchObject({ complete: false, rows: { length: 1 } })
    // No statement is left open.
    crowd.turns.insert()
    crowd.turns.commit()
  })

  test('of large jobs is no larger than asked for', () => {
    const crowd = openCrowd()
    const lane = crowd.turns.lane('large')
    const jobs = [10, 10, 10, ...Array(40).fill(100_000)].map((bytes) => crowd.turns.insert({ lane, data: 'x'.repeat(bytes) }))
    crowd.turns.commit()
    const found: number[] = []
    let after: JobRow | undefined
    for (let complete = false; !complete; ) {
      const window = crowd.store.window(lane.id, after, 100, 500_000)
      expect(window.rows.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)).toBeLessThanOrEqual(500_000)
      found.push(...seqsOf(window.rows))
      after = window.rows.at(-1)
      complete = window.complete
    }
    expect(found).toEqual(seqsOf(jobs))
  })

  test('does not read a large batch of equal due times again and again', () => {
    const crowd = openCrowd()
    const lane = crowd.turns.lane('batch')
    const jobs = Array.from({ length: 20_000 }, () => crowd.turns.insert({ lane, data: null }))
    crowd.turns.commit()
    const begin = performance.now()
    let after: JobRow | undefined
    let read = 0
    for (;;) {
      const { rows, complete } = crowd.store.window(lane.id, after, 50, 2 ** 20)
      read += rows.length
      after = rows.at(-1)
      if (complete) break
    }
    expect(read).toBe(jobs.length)
    // 400 windows; quadratic it takes many seconds.
    expect(performance.now() - begin).toBeLessThan(2_000)
  })

  test('the longest wait of a lane is the earliest due time of any priority', () => {
    const crowd = openCrowd()
    const jobs = line(crowd, 24)
    const { id } = (jobs[0] as Job).lane
    expect(crowd.store.oldestWaiting(id)).toBe(Math.min(...jobs.map(({ runAt }) => runAt)))
    expect(crowd.store.oldestWaiting(999)).toBe(0)
  })

  test('so is that of a gate, whose jobs are none of their lane’s', () => {
    const crowd = openCrowd()
    const jobs = line(crowd, 6)
    const { lane } = jobs[0] as Job
    const gate = newKeyBacklog(1, newKey(lane.queue, 'k'), lane)
    const [parked, left] = [jobs.slice(0, 3), jobs.slice(3)]
    for (const job of parked) {
      job.parked = gate
      gate.parked++
      crowd.turns.effects.touch(job)
    }
    crowd.turns.effects.noteBacklog(gate)
    crowd.turns.commit()
    expect(crowd.store.oldestParked(gate.id)).toBe(Math.min(...parked.map(({ runAt }) => runAt)))
    expect(crowd.store.oldestWaiting(lane.id)).toBe(Math.min(...left.map(({ runAt }) => runAt)))
    expect(crowd.store.oldestParked(999)).toBe(0)
  })
})

describe('finished jobs', () => {
  test('with a tag that few have come in slices too: so many blocks of jobs are asked in one', () => {
    const { store, turns } = openCrowd()
    const first = turns.insert({ extras: { tags: ['rare'] } })
    for (let n = 0; n < LIMITS.walkRows + 5; n++) turns.insert({ seq: turns.nextSeq + 4_096, extras: { tags: ['other'] } })
    turns.commit()
    const filter = { laneIds: undefined, filter: { tag: 'rare' }, indexed: false } as const
    const slice = store.matching(filter, Number.MAX_SAFE_INTEGER, 500)
    expect(slice.rows).toEqual([])
    expect(seqsOf(store.matching(filter, slice.next as number, 500).rows)).toEqual([first.seq])
    expect(store.matching(filter, slice.next as number, 500).next).toBeNull()
  })

  test('that a filter matches come in slices, by whatever way', () => {
    const { store, turns } = openCrowd()
    const lanes = [turns.lane('x'), turns.lane('y')]
    const states = [WAITING, SCHEDULED, FAILED, CANCELLED] as const
    for (let n = 0; n < LIMITS.walkRows + 600; n++) {
      const job = turns.insert({
        lane: lanes[n % 2] as Lane,
        seq: turns.nextSeq + (n % 700 === 699 ? 9_000 : 0),
        ...(n % 3 === 0 && { extras: { tags: ['third'] } }),
        ...(n % 4 === 1 && { runAt: turns.at + 60_000 }),
      })
      const state = states[n % 4] as StateCode
      if (state === FAILED || state === CANCELLED) {
        job.finishedAt = turns.at
        turns.move(job, state)
      }
    }
    turns.commit()
    const everything = listed(store)
    const slices = (filter: Matching, limit: number) => {
      const found: number[] = []
      let [next, count]: [number | null, number] = [Number.MAX_SAFE_INTEGER, 0]
      while (next !== null) {
        const slice = store.matching(filter, next, limit)
        expect(slice.rows.length).toBeLessThanOrEqual(limit)
        found.push(...seqsOf(slice.rows))
        next = slice.next
        count++
      }
      return { found, count }
    }
    const [x] = lanes as [Lane, Lane]
    for (const laneIds of [undefined, [x.id], lanes.map(({ id }) => id)]) {
      for (const state of [undefined, ...states]) {
        for (const [tag, indexed] of [
          [undefined, false],
          [undefined, true],
          ['third', false],
          ['none', false],
        ] as const) {
          if (indexed && (laneIds === undefined || state === undefined || state === CANCELLED)) continue
          const meant = everything.filter(
            (row) =>
              laneIds?.includes(row.laneId) !== false &&
              (state === undefined || row.state === state) &&
              (tag === undefined || row.extras?.tags?.includes(tag) === true),
          )
          const { found, count } = slices(
            { laneIds, filter: { ...(state !== undefined && { state }), ...(tag !== undefined && { tag }) }, indexed },
            500,
          )
          expect(found).toEqual(seqsOf(meant))
          if (meant.length > 500) expect(count).toBeGreaterThan(1)
        }
      }
    }
  })

  test('that a filter matches are fewer where they are large', () => {
    const { store, turns } = openCrowd()
    const large = Array.from({ length: 3 }, () => turns.insert({ lane: turns.lane('large'), data: 'x'.repeat(9 * 2 ** 20) }))
    turns.commit()
    const filter = { laneIds: [turns.lane('large').id], filter: { state: WAITING }, indexed: true } as const
    const slice = store.matching(filter, Number.MAX_SAFE_INTEGER, 500)
    expect(seqsOf(slice.rows)).toEqual([large[2]?.seq])
    expect(slice.next).toBe(large[2]?.seq)
    expect(seqsOf(store.matching(filter, slice.next as number, 500).rows)).toEqual([large[1]?.seq])
  })
})

describe('the runs of jobs', () => {
  const ended = { attempt: 1, startedAt: 5, endedAt: 6, worker: 'w1', error: { name: 'E', message: 'm' } }

  test('are none of what never ran, and its own of what completed at once', () => {
    const { store, turns } = openCrowd()
    const [waiting, done] = [turns.insert(), turns.insert()]
    turns.start(done, turns.session('w2'))
    turns.commit()
    turns.complete(done)
    turns.commit()
    expect(attemptsOf(store, waiting.seq)).toEqual([])
    expect(attemptsOf(store, done.seq)).toEqual([
      { run: 1, attempt: 1, startedAt: done.startedAt, endedAt: done.finishedAt, worker: 'w2', logs: [] },
    ])
    expect(store.attempts([])).toEqual([])
  })

  test('are told of many at once as of each alone: with their errors, and the lines of each run', () => {
    const { store, turns } = openCrowd()
    const [w2, w3] = [turns.session('w2'), turns.session('w3')]
    const [second, failed, active] = [turns.insert(), turns.insert(), turns.insert()]
    turns.start(second, w2)
    turns.start(active, w3)
    second.run = 2
    failed.run = 1
    turns.effects.runs.push({ seq: second.seq, run: 1, ...ended }, { seq: failed.seq, run: 1, ...ended })
    for (const [seq, run] of [
      [second.seq, 1],
      [second.seq, 2],
      [failed.seq, 1],
    ] as const)
      turns.effects.logs.push({ seq, run, number: 0, gone: -1, line: { at: 7, level: 'info', message: `${seq}.${run}` } })
    turns.commit()
    turns.complete(second)
    failed.finishedAt = turns.at
    turns.move(failed, FAILED)
    turns.commit()

    const logs = (message: string) => [{ at: 7, level: 'info', message }]
    const rows = store.jobs([failed.seq, active.seq, second.seq])
    const told = store.attempts(rows)
    expect(told).toEqual([
      [{ run: 1, ...ended, logs: logs(`${failed.seq}.1`) }],
      [{ run: 1, attempt: 1, startedAt: active.startedAt, endedAt: 0, worker: 'w3', logs: [] }],
      [
        { run: 1, ...ended, logs: logs(`${second.seq}.1`) },
        {
          run: 2,
          attempt: 2,
          startedAt: second.startedAt,
          endedAt: second.finishedAt,
          worker: 'w2',
          logs: logs(`${second.seq}.2`),
        },
      ],
    ])
    for (const [index, row] of rows.entries()) expect(store.attempts([row])).toEqual([told[index]])
  })
})

test('causes that somebody has broken hide neither the error nor the runs beside it', () => {
  const { store, turns, db } = openCrowd()
  const job = turns.insert()
  job.run = 2
  const error = { name: 'E', message: 'm', code: 'C', cause: [{ name: 'E', message: 'deep \u0000 \ud800' }] }
  for (const run of [1, 2]) turns.effects.runs.push({ seq: job.seq, run, attempt: run, startedAt: 1, endedAt: 2, worker: 'w', error })
  turns.commit()
  db.prepare("UPDATE attempt SET error_cause = '{half' WHERE seq = ? AND run = 1").run(job.seq)
  const errors = store.attempts(store.jobs([job.seq]))[0]?.map((attempt) => attempt.error)
  expect(errors).toEqual([{ name: 'E', message: 'm', code: 'C' }, error])
})

describe('a page', () => {
  function populate(): Crowd & { jobs: Job[] } {
    const crowd = openCrowd()
    const { turns } = crowd
    const session = turns.session()
    const jobs: Job[] = []
    for (let index = 0; index < 120; index++) {
      const lane = turns.lane(`n${index % 3}`, `q${index % 2}`)
      const job = turns.insert({
        lane,
        // Over several blocks of tags.
        seq: turns.nextSeq + (index % 30 === 29 ? 5_000 : 0),
        ...(index % 5 === 0 && { extras: { tags: ['five', `t${index}`] } }),
        ...(index % 7 === 0 && { runAt: turns.at + index + 1 }),
      })
      if (job.state === WAITING && index % 4 === 0) turns.start(job, session)
      else if (job.state === WAITING && index % 4 === 1) {
        job.finishedAt = turns.at
        turns.move(job, ([COMPLETED, FAILED, CANCELLED] as const)[index % 3] as StateCode)
      }
      jobs.push(job)
    }
    turns.commit()
    return { ...crowd, jobs }
  }

  const states = [undefined, SCHEDULED, WAITING, ACTIVE, BLOCKED, COMPLETED, FAILED, CANCELLED] as const

  test.each([3, 40, 500])('has what the filter says, newest first, in pages of %i', (limit) => {
    const { store, jobs } = populate()
    const ours = new Set(seqsOf(jobs))
    for (const state of states) {
      for (const queue of [undefined, 'q1', 'none']) {
        for (const name of [undefined, 'n2']) {
          for (const tag of [undefined, 'five']) {
            const filter = { ...(state !== undefined && { state }), ...(queue && { queue }), ...(name && { name }), ...(tag && { tag }) }
            const found: number[] = []
            for (let before: number | undefined; ; ) {
              const page = seqsOf(listed(store, { filter, limit, ...(before !== undefined && { before }) }))
              found.push(...page)
              if (page.length < limit) break
              before = page.at(-1)
            }
            const expected = jobs.filter(
              (job) =>
                (state === undefined || job.state === state) &&
                (queue === undefined || job.lane.queue.name === queue) &&
                (name === undefined || job.lane.name === name) &&
                (tag === undefined || job.extras?.tags?.includes(tag)),
            )
            expect(
              found.filter((seq) => ours.has(seq)),
              JSON.stringify(filter),
            ).toEqual(seqsOf(expected).toReversed())
            expect(found).toEqual(found.toSorted((a, b) => b - a))
          }
        }
      }
    }
  })

  test('of few among many is not found by walking', () => {
    const { store, turns } = openCrowd()
    const rare = turns.insert()
    rare.finishedAt = turns.at
    turns.move(rare, CANCELLED)
    const lane = turns.lane('many')
    for (let index = 0; index < 20_000; index++) turns.insert({ lane, data: null })
    turns.commit()
    const begin = performance.now()
    for (let round = 0; round < 100; round++)
      expect(listed(store, { filter: { state: CANCELLED, queue: 'default' }, limit: 10 }).at(0)?.seq).toBe(rare.seq)
    expect(performance.now() - begin).toBeLessThan(1_000)
  })
})

test('a reader sees every commit, with the same reads', () => {
  const { store, turns } = openCrowd()
  const reader = openReader(store.file)
  const job = turns.insert({ data: '"seen"' })
  turns.commit()
  expect(reader.jobs([job.seq])).toEqual(store.jobs([job.seq]))
  expect(listed(reader, { limit: 5 })).toEqual(listed(store, { limit: 5 }))
  expect(reader.events(0, 1_000)).toEqual(store.events(0, 1_000))
  expect(reader.load()).toEqual(store.load())
  reader.close()
  expect(() => openReader(':memory:')).toThrow(TypeError)
})
