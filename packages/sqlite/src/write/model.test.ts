// Random turns against the file: after each, every row says what its job says in memory, and nothing else is there.
import { ACTIVE, BLOCKED, CANCELLED, COMPLETED, FAILED, parsePolicy, SCHEDULED, type StateCode, WAITING } from '@millrace/core'
import { DIRTY_DATA, DIRTY_DELETE, type Job, type JobRow } from '@millrace/core/kernel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { openStore } from '../open-store.ts'
import { storeOptions } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'
import { listed } from '../testing/lists.ts'
import { prunableOf } from '../testing/prunable.ts'

/** What the job's row is to be. */
function rowOf(job: Job, data: Job['data']): JobRow {
  const { seq, node, lane, state, priority, weight, runAt, run, uncounted, sessionId, enqueuedAt, startedAt, finishedAt, expiresAt } = job
  const { cancelRequested, policy, extras, checkpoint, progress, output, parked, dropped } = job
  return {
    ...{
      seq,
      node,
      laneId: lane.id,
      state,
      priority,
      weight,
      runAt,
      run,
      uncounted,
      sessionId,
      enqueuedAt,
      startedAt,
      finishedAt,
      expiresAt,
    },
    ...{
      cancelRequested,
      policy: policy.text,
      extras,
      data: data ?? null,
      checkpoint,
      progress,
      output,
      backlogId: parked?.id ?? 0,
      dropped,
    },
  }
}

const POLICY = JSON.stringify({ maxAttempts: 1, timeout: 5, heartbeatTimeout: 0, backoff: { type: 'fixed', delay: 1 } })

/** Each changes one thing about a job; the state's own rules are kept. */
const CHANGES: readonly ((job: Job, turns: Turns, value: number) => void)[] = [
  (job, turns, value) => {
    job.priority = value - 50
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.weight = 1 + value
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.runAt = turns.at + value
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.expiresAt = value === 0 ? 0 : turns.at + value
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.checkpoint = value % 2 ? `{"at":${value}}` : null
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.progress = value % 2 ? `[${value}]` : null
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.cancelRequested = value % 2 === 0
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.uncounted = Math.min(job.run, value)
    turns.effects.touch(job)
  },
  (job, turns, value) => {
    job.data = `"changed ${value}"`
    turns.effects.touch(job, DIRTY_DATA)
  },
]

interface Step {
  readonly kind: 'insert' | 'change' | 'start' | 'complete' | 'finish' | 'back' | 'delete'
  readonly pick: number
  readonly value: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    'insert',
    'insert',
    'insert',
    'change',
    'change',
    'start',
    'start',
    'complete',
    'complete',
    'finish',
    'back',
    'delete',
  ),
  pick: fc.nat(1_000),
  value: fc.nat(100),
})

class Model {
  readonly turns: Turns
  readonly jobs: Job[] = []
  /** Payloads by seq: the engine forgets them, the rows do not. */
  readonly data = new Map<number, Job['data']>()

  constructor(turns: Turns) {
    this.turns = turns
  }

  take({ kind, pick, value }: Step, session: Parameters<Turns['start']>[1]): void {
    const { turns } = this
    if (kind === 'insert') this.#insert(pick, value)
    const job = this.jobs[pick % Math.max(1, this.jobs.length)]
    if (job === undefined || (job.dirty & DIRTY_DELETE) !== 0) return
    if (kind === 'change') CHANGES[pick % CHANGES.length]?.(job, turns, value)
    else if (kind === 'start' && job.state === WAITING) {
      turns.start(job, session)
      if (value < 10) job.startedAt -= 3
    } else if (kind === 'complete' && job.state === ACTIVE) {
      turns.complete(job, value % 3 ? `"out ${'x'.repeat(value * 400)}"` : null)
    } else if (kind === 'finish' && job.state < COMPLETED) {
      job.finishedAt = turns.at
      turns.move(job, value % 2 ? FAILED : CANCELLED)
    } else if (kind === 'back' && job.state !== WAITING) {
      job.finishedAt = 0
      turns.move(job, WAITING)
    } else if (kind === 'delete' && value < 30 && job.state !== ACTIVE) {
      turns.effects.count(job.lane, job.state, -1)
      turns.effects.touch(job, DIRTY_DELETE)
    }
    this.data.set(job.seq, job.data ?? this.data.get(job.seq))
  }

  #insert(pick: number, value: number): void {
    const { turns } = this
    const rare = value < 30
    const state = ([WAITING, SCHEDULED, BLOCKED, WAITING] as const)[pick % 4] as StateCode
    const job = turns.insert({
      lane: turns.lane(`n${pick % 3}`, `q${pick % 2}`),
      state: rare ? state : WAITING,
      data: value % 7 === 0 ? new Uint8Array([value]) : `"${'d'.repeat(value * (value === 99 ? 400 : 1))}"`,
      ...(rare && pick % 5 === 0 && { policy: parsePolicy(POLICY).text as string }),
      ...(rare && pick % 6 === 0 && { extras: { tags: ['t'], meta: '1' } }),
      ...(rare && pick % 7 === 0 && { runAt: turns.at + value }),
    })
    // As from another file's node, and enqueued at another time.
    if (rare && pick % 11 === 0) Object.assign(job, { node: 99 })
    if (rare && pick % 13 === 0) Object.assign(job, { enqueuedAt: turns.at - 5, runAt: turns.at - 5 })
    this.jobs.push(job)
    this.data.set(job.seq, job.data)
  }

  /** Ends the turn: payloads of what runs are forgotten, deleted jobs are gone. */
  commit(): void {
    this.turns.commit()
  }

  forget(): void {
    for (const job of this.jobs) if (job.state === ACTIVE) job.data = undefined
  }
}

test('the file says what the tables say, whatever a turn does', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 90 }), { minLength: 1, maxLength: 6 }), (turnsOfSteps) => {
      const store = openStore(storeOptions(':memory:'))
      const turns = new Turns(store)
      const model = new Model(turns)
      const session = turns.session()
      for (const steps of turnsOfSteps) {
        for (const one of steps) model.take(one, session)
        const gone = new Set(model.jobs.filter(({ dirty }) => (dirty & DIRTY_DELETE) !== 0))
        model.commit()
        const kept = model.jobs.filter((job) => !gone.has(job))
        model.jobs.splice(0, model.jobs.length, ...kept)
        model.forget()
        const rows = new Map(listed(store).map((row) => [row.seq, normal(row)]))
        expect([...rows.keys()].toSorted((a, b) => a - b)).toEqual(kept.map(({ seq }) => seq))
        for (const job of kept) expect(rows.get(job.seq)).toEqual(normal(rowOf(job, model.data.get(job.seq))))
        const counts = [0, 1, 2, 3, 4, 5, 6].map((state) => kept.filter((job) => job.state === state).length)
        expect(store.load().active.map(({ seq }) => seq)).toEqual(kept.filter(({ state }) => state === ACTIVE).map(({ seq }) => seq))
        for (const state of [COMPLETED, FAILED, CANCELLED] as const) {
          const queues = [...new Set(kept.map(({ lane }) => lane.queue.id))]
          const offered = queues.flatMap((queue) => prunableOf(store, queue, state, turns.at, 10_000)?.rows ?? []).map(({ seq }) => seq)
          expect(offered.toSorted((a, b) => a - b)).toEqual(kept.filter((job) => job.state === state).map(({ seq }) => seq))
          const newest = kept.filter((job) => job.state === state).map(({ seq }) => seq)
          expect(listed(store, { filter: { state }, limit: 5 }).map(({ seq }) => seq)).toEqual(newest.toReversed().slice(0, 5))
        }
        expect(counts.map((_, state) => store.load().lanes.reduce((sum, lane) => sum + (lane.counts[state] as number), 0))).toEqual(counts)
      }
      store.close()
    }),
    { numRuns: runs(150) },
  )
})

/** Bytes by what they are, not by their class. */
function normal(row: JobRow): object {
  return { ...row, data: row.data instanceof Uint8Array ? [...row.data] : row.data }
}
