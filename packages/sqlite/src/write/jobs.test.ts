// Each way to write a job, beside bystanders that must not change.
import { ACTIVE, CANCELLED, COMPLETED, FAILED, SCHEDULED, WAITING } from '@millrace/core'
import { DIRTY_DATA, DIRTY_DELETE, type Job, StoreFailure } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { type Crowd, openCrowd } from '../testing/crowd.ts'
import { rowsOf } from '../testing/files.ts'

function rowOf({ db }: Crowd, { seq }: Job): Record<string, unknown> {
  return rowsOf(db, 'job').find((row) => row.seq === seq) as Record<string, unknown>
}

/** What changed, but for the lane's counters. */
function commit(crowd: Crowd): { gone: string[]; come: string[] } {
  const { gone, come } = crowd.commit()
  const ofJobs = (rows: string[]) => rows.filter((row) => !row.startsWith('lane '))
  return { gone: ofJobs(gone), come: ofJobs(come) }
}

function inserted(crowd: Crowd, count: number): Job[] {
  const jobs = Array.from({ length: count }, () => crowd.turns.insert())
  crowd.turns.commit()
  return jobs
}

describe('insert', () => {
  test('a plain job', () => {
    const crowd = openCrowd()
    const job = crowd.turns.insert({ data: '{"a":[1]}' })
    expect(commit(crowd)).toEqual({ gone: [], come: [`job ${job.seq}`] })
    expect(rowOf(crowd, job)).toEqual({
      seq: job.seq,
      node: crowd.store.node,
      lane: job.lane.id,
      state: WAITING,
      rank: 0,
      weight: 1,
      run_at: job.enqueuedAt,
      run: 0,
      uncounted: 0,
      session: null,
      enqueued_at: job.enqueuedAt,
      started_at: null,
      finished_at: null,
      expires_at: null,
      cancel_requested: 0,
      policy: null,
      extras: null,
      dropping: null,
      gate: null,
      data: '{"a":[1]}',
      checkpoint: null,
      progress: null,
      output: null,
    })
  })

  test('a job that starts in the same turn', () => {
    const crowd = openCrowd()
    const session = crowd.turns.session()
    const job = crowd.turns.insert({ data: new Uint8Array([1, 0, 255]) })
    crowd.turns.start(job, session)
    expect(commit(crowd).come).toEqual([`job ${job.seq}`, `session ${session.id}`])
    const { state, run, session: sessionId, started_at, data } = rowOf(crowd, job)
    expect({ state, run, sessionId, started_at }).toEqual({ state: ACTIVE, run: 1, sessionId: session.id, started_at: job.enqueuedAt })
    expect(Buffer.from(data as Uint8Array)).toEqual(Buffer.from([1, 0, 255]))
  })

  test('a job with everything', () => {
    const crowd = openCrowd()
    const extras = { tags: ['a', 'b'], meta: '{"m":1}', uniqueKey: 'u', idempotencyKey: 'i', concurrencyKey: 'c' }
    const policy = JSON.stringify({ maxAttempts: 2, timeout: null, heartbeatTimeout: 0, backoff: { type: 'fixed', delay: 5 } })
    const runAt = crowd.turns.at + 10
    const job = crowd.turns.insert({ priority: 7, weight: 3, runAt, expiresAt: runAt + 10, extras, policy, data: null })
    expect(commit(crowd).come).toEqual([`job ${job.seq}`, `tag ${job.seq}`, `tag ${job.seq}`])
    expect(rowOf(crowd, job)).toMatchObject({
      state: SCHEDULED,
      rank: -7,
      weight: 3,
      run_at: runAt,
      expires_at: runAt + 10,
      policy,
      data: null,
    })
    expect(crowd.store.jobs([job.seq])).toMatchObject([{ priority: 7, extras, policy, data: null, expiresAt: runAt + 10 }])
  })

  test.each([1, 9, 10, 49, 50, 51, 61, 137])('a batch of %i, waiting and active', (count) => {
    const crowd = openCrowd()
    const session = crowd.turns.session()
    const jobs = Array.from({ length: count * 2 }, (_, index) => crowd.turns.insert({ data: String(index) }))
    for (const job of jobs.slice(count)) crowd.turns.start(job, session)
    expect(commit(crowd).come).toEqual([...jobs.map(({ seq }) => `job ${seq}`), `session ${session.id}`])
    const rows = crowd.store.jobs(jobs.map(({ seq }) => seq))
    expect(rows.map(({ data }) => data)).toEqual(jobs.map(({ data }) => data))
    expect(rows.map(({ state }) => state)).toEqual(jobs.map(({ state }) => state))
  })

  test('a payload of a megabyte', () => {
    const crowd = openCrowd()
    const data = JSON.stringify('x'.repeat(2 ** 20))
    const job = crowd.turns.insert({ data })
    crowd.turns.commit()
    expect(crowd.store.jobs([job.seq])[0]?.data === data).toBe(true)
  })

  test('a job that was created and deleted in one turn leaves nothing', () => {
    const crowd = openCrowd()
    const job = crowd.turns.insert({ extras: { tags: ['a'], uniqueKey: 'u' } })
    crowd.turns.effects.uniqueHeld.push({ name: job.lane.name, key: 'u', seq: job.seq })
    crowd.turns.effects.runs.push({
      seq: job.seq,
      run: 1,
      attempt: 1,
      startedAt: 1,
      endedAt: 1,
      worker: '',
      error: { name: 'E', message: '' },
    })
    crowd.turns.effects.touch(job, DIRTY_DELETE)
    expect(commit(crowd)).toEqual({ gone: [], come: [] })
  })

  test('a payload that left memory too early is an error, and nothing is written', () => {
    const crowd = openCrowd()
    const job = crowd.turns.insert()
    job.data = undefined
    expect(() => crowd.turns.commit()).toThrow(/left memory/)
    expect(crowd.store.jobs([job.seq])).toEqual([])
  })
})

describe.each([1, 10, 73])('%i at a time', (count) => {
  test('start', () => {
    const crowd = openCrowd()
    const sessions = [crowd.turns.session('a'), crowd.turns.session('b')]
    const jobs = inserted(crowd, count)
    jobs.forEach((job, index) => {
      crowd.turns.start(job, sessions[index % 2] as (typeof sessions)[0])
    })
    const seqs = jobs.map(({ seq }) => `job ${seq}`)
    expect(commit(crowd)).toEqual({ gone: seqs, come: seqs })
    for (const row of crowd.store.jobs(jobs.map(({ seq }) => seq))) {
      const job = jobs.find(({ seq }) => seq === row.seq) as Job
      expect(row).toMatchObject({ state: ACTIVE, run: 1, sessionId: job.sessionId, startedAt: job.startedAt, data: '{"n":1}' })
    }
  })

  test('complete', () => {
    const crowd = openCrowd()
    const session = crowd.turns.session()
    const jobs = inserted(crowd, count)
    for (const job of jobs) crowd.turns.start(job, session)
    crowd.turns.commit()
    jobs.forEach((job, index) => {
      crowd.turns.complete(job, index % 2 === 0 ? `{"i":${index}}` : null)
    })
    const seqs = jobs.map(({ seq }) => `job ${seq}`)
    expect(commit(crowd)).toEqual({ gone: seqs, come: seqs })
    const rows = crowd.store.jobs(jobs.map(({ seq }) => seq))
    expect(rows.map(({ output }) => output)).toEqual(jobs.map(({ output }) => output))
    for (const row of rows) expect(row).toMatchObject({ state: COMPLETED, run: 1, finishedAt: jobs[0]?.finishedAt, data: '{"n":1}' })
  })

  test('delete', () => {
    const crowd = openCrowd()
    const jobs = Array.from({ length: count }, (_, index) => crowd.turns.insert({ extras: { tags: ['red'], uniqueKey: `k${index}` } }))
    const { effects } = crowd.turns
    for (const job of jobs) {
      effects.uniqueHeld.push({ name: job.lane.name, key: job.extras?.uniqueKey as string, seq: job.seq })
      effects.runs.push({ seq: job.seq, run: 1, attempt: 1, startedAt: 1, endedAt: 1, worker: '', error: { name: 'E', message: '' } })
      effects.logs.push({ seq: job.seq, run: 1, number: 0, gone: -1, line: { at: 1, level: 'info', message: 'm' } })
    }
    crowd.turns.commit()
    for (const job of jobs) {
      crowd.turns.effects.count(job.lane, job.state, -1)
      crowd.turns.effects.touch(job, DIRTY_DELETE)
    }
    const { gone, come } = commit(crowd)
    expect(come).toEqual([])
    const tables = ['job', 'tag', 'attempt', 'log'].flatMap((table) => jobs.map(({ seq }) => `${table} ${seq}`))
    const keys = jobs.map(({ seq }) => `unique_key ${seq}`)
    expect(gone.toSorted()).toEqual([...tables, ...keys].toSorted())
  })
})

test('a deleted job leaves its old unique key to who holds it now', () => {
  const crowd = openCrowd()
  const extras = { uniqueKey: 'k' }
  const [first, second] = [crowd.turns.insert({ extras }), crowd.turns.insert({ extras })]
  crowd.turns.effects.uniqueHeld.push({ name: 'work', key: 'k', seq: second.seq })
  crowd.turns.commit()
  crowd.turns.effects.touch(first, DIRTY_DELETE)
  expect(commit(crowd)).toEqual({ gone: [`job ${first.seq}`], come: [] })
  expect(crowd.store.unique([{ name: 'work', key: 'k' }])).toMatchObject([{ seq: second.seq }])
})

describe('update', () => {
  test('everything that may change, but not the payload', () => {
    const crowd = openCrowd()
    const [job] = inserted(crowd, 1) as [Job]
    Object.assign(job, {
      priority: -4,
      weight: 9,
      runAt: 77,
      run: 3,
      uncounted: 1,
      expiresAt: 88,
      sessionId: 5,
      startedAt: 66,
      finishedAt: 99,
    })
    Object.assign(job, { cancelRequested: true, checkpoint: '"half"', progress: '[0.5]', output: '"out"', data: undefined })
    crowd.turns.move(job, CANCELLED)
    expect(commit(crowd)).toEqual({ gone: [`job ${job.seq}`], come: [`job ${job.seq}`] })
    expect(rowOf(crowd, job)).toMatchObject({
      ...{ state: CANCELLED, rank: 4, weight: 9, run_at: 77, run: 3, uncounted: 1, expires_at: 88, session: 5, started_at: 66 },
      ...{ finished_at: 99, cancel_requested: 1, checkpoint: '"half"', progress: '[0.5]', output: '"out"', data: '{"n":1}' },
    })
  })

  test('the payload too, where it was touched', () => {
    const crowd = openCrowd()
    const [job, other] = inserted(crowd, 2) as [Job, Job]
    job.data = '"new"'
    crowd.turns.effects.touch(job, DIRTY_DATA)
    other.checkpoint = new Uint8Array([9])
    crowd.turns.effects.touch(other)
    expect(commit(crowd).come).toEqual([`job ${job.seq}`, `job ${other.seq}`])
    expect(rowOf(crowd, job).data).toBe('"new"')
    expect(rowOf(crowd, other).data).toBe('{"n":1}')
    expect(crowd.store.jobs([other.seq])[0]?.checkpoint).toEqual(Buffer.from([9]))
  })

  test('a job that was started and given back in one turn', () => {
    const crowd = openCrowd()
    const [job] = inserted(crowd, 1) as [Job]
    crowd.turns.start(job, crowd.turns.session())
    job.uncounted = 1
    crowd.turns.move(job, WAITING)
    crowd.turns.commit()
    expect(rowOf(crowd, job)).toMatchObject({ state: WAITING, run: 1, uncounted: 1 })
  })

  test('a revived job is as if it had never finished', () => {
    const crowd = openCrowd()
    const [job] = inserted(crowd, 1) as [Job]
    job.finishedAt = crowd.turns.at
    crowd.turns.move(job, FAILED)
    crowd.turns.commit()
    job.finishedAt = 0
    crowd.turns.move(job, WAITING)
    crowd.turns.commit()
    expect(rowOf(crowd, job)).toMatchObject({ state: WAITING, finished_at: null })
  })
})

describe('a row that is not what the tables think refuses the turn whole', () => {
  test.each([
    ['start', (crowd: Crowd, job: Job) => crowd.turns.start(job, crowd.turns.session())],
    ['update', (crowd: Crowd, job: Job) => crowd.turns.effects.touch(job)],
    ['delete', (crowd: Crowd, job: Job) => crowd.turns.effects.touch(job, DIRTY_DELETE)],
  ])('%s', (_name, change) => {
    const crowd = openCrowd()
    const [job, other] = inserted(crowd, 2) as [Job, Job]
    crowd.db.prepare('DELETE FROM job WHERE seq = ?').run(job.seq)
    change(crowd, other)
    change(crowd, job)
    let failure: unknown
    try {
      crowd.turns.commit()
    } catch (error) {
      failure = error
    }
    expect(failure).toBeInstanceOf(StoreFailure)
    expect(failure).toMatchObject({ phase: 'broken', reason: 'statement' })
    expect(rowOf(crowd, other)).toMatchObject({ state: WAITING, run: 0 })
  })

  test('start: a job that does not wait', () => {
    const crowd = openCrowd()
    const [job] = inserted(crowd, 1) as [Job]
    crowd.db.prepare('UPDATE job SET state = 0 WHERE seq = ?').run(job.seq)
    crowd.turns.start(job, crowd.turns.session())
    expect(() => crowd.turns.commit()).toThrow('start jobs: 0 of 1 rows changed')
  })

  test('complete: a job that does not run', () => {
    const crowd = openCrowd()
    const [job] = inserted(crowd, 1) as [Job]
    crowd.turns.complete(Object.assign(job, { state: ACTIVE }))
    expect(() => crowd.turns.commit()).toThrow('complete jobs: 0 of 1 rows changed')
  })
})
