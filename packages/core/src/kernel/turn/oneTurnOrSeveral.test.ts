/**
 * Tests that commands have the same result in one turn and in a turn each. Nothing starts meanwhile, because the next job depends on the
 * workers that are there. There are no flows, because children learn of their parents between two turns.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob } from '../../commands.ts'
import { DEFERRED, Refused } from '../../decision.ts'
import { ACTIVE } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import { World } from '../../testing/world.ts'
import type { JobRow } from '../records/rows.ts'

/** One draw, and as many choices as are taken from it. */
class Choices {
  #left: number

  constructor(drawn: number) {
    this.#left = drawn
  }

  of<T>(list: readonly T[]): T {
    const index = this.#left % list.length
    this.#left = Math.floor(this.#left / list.length)
    return list[index] as T
  }
}

function newJob(choose: Choices): NewJob {
  const shape = choose.of<Partial<NewJob>>([
    {},
    {},
    { unique: { key: choose.of(['u', 'v']), onConflict: choose.of(['skip', 'replace', 'reschedule', 'error']) } },
    { idempotencyKey: choose.of(['i', 'j']) },
    { debounce: { key: 't', delay: 50, mode: 'trailing', maxDelay: 120 } },
    { debounce: { key: 'l', delay: 50, mode: 'leading' } },
    { throttle: { key: 'h', period: 70 } },
    { delay: choose.of([30, 1_000]) },
  ])
  return {
    name: choose.of(['a', 'b']),
    data: null,
    ...shape,
    ...choose.of<Partial<NewJob>>([{}, {}, { priority: 1 }, { maxAttempts: 1 }, { tags: ['x'] }, { queue: 'q' }]),
  }
}

const idOf = ({ seq, node, enqueuedAt }: JobRow) => ({ seq, node, enqueuedAt })
const ERROR = { name: 'Error', message: 'no' }

/** What can be asked of some job. */
const ABOUT_ONE: readonly ((row: JobRow, choose: Choices) => Command)[] = [
  (row) => ({ op: 'cancel', id: idOf(row) }),
  (row) => ({ op: 'retry', id: idOf(row) }),
  (row) => ({ op: 'delete', id: idOf(row) }),
  (row) => ({ op: 'runNow', id: idOf(row) }),
  (row, choose) => ({
    op: 'update',
    id: idOf(row),
    changes: choose.of([{ priority: 2 }, { data: '"n"' }, { weight: 2 }, { tags: ['y'], meta: '{}' }]),
  }),
]

/** What its worker can say of one that runs, or has run. */
const OF_A_RUN: readonly ((row: JobRow, choose: Choices) => Command)[] = [
  ({ seq, run }) => ({ op: 'complete', seq, run, output: '1' }),
  ({ seq, run }, choose) => ({ op: 'complete', seq, run, output: null, enqueues: [newJob(choose)] }),
  ({ seq, run }) => ({ op: 'fail', seq, run, error: ERROR, retry: 40 }),
  ({ seq, run }) => ({ op: 'fail', seq, run, error: ERROR, retry: false }),
  ({ seq, run }) => ({ op: 'snooze', seq, run, delay: 30 }),
  ({ seq, run }) => ({ op: 'giveBack', seq, run }),
  ({ seq, run }) => ({ op: 'checkpoint', seq, run, value: '"c"' }),
]

const SPEC = { every: 1_000, jitter: 0, overlap: 'skip', catchUp: 'latest' } as const

const OF_ITSELF: readonly ((choose: Choices) => Command)[] = [
  (choose) => ({ op: 'enqueue', jobs: [newJob(choose), newJob(choose)] }),
  (choose) => ({ op: 'enqueue', jobs: [newJob(choose)] }),
  (choose) => ({ op: 'upsertSchedule', id: 's', spec: SPEC, job: newJob(choose), runImmediately: choose.of([true, false]) }),
  () => ({ op: 'deleteSchedule', id: 's' }),
  () => ({ op: 'triggerSchedule', id: 's' }),
  (choose) => ({ op: choose.of(['pauseSchedule', 'resumeSchedule'] as const), id: 's' }),
  (choose) => ({ op: 'forward', source: 'app', number: 7, first: 1 + choose.of([0, 1, 2]), entries: [{ at: 1, jobs: [newJob(choose)] }] }),
  (choose) => ({ op: 'pause', queue: 'q', paused: choose.of([true, false]) }),
  () => ({ op: 'drainQueue', queue: 'q' }),
  () => ({ op: 'deleteQueue', queue: 'q' }),
  (choose) => ({ op: 'configure', queue: 'q', changes: { maxLength: choose.of([null, 1, 3]) } }),
  () => ({ op: 'leave', session: 'w' }),
]

interface Draw {
  readonly kind: 'one' | 'run' | 'itself'
  readonly what: number
  readonly which: number
  readonly choice: number
}

/** As the world stands: of the jobs that are there, and first of those that the draws of a turn have in common. */
function commandOf({ kind, what, which, choice }: Draw, world: World, focus: number): Command {
  const rows = [...world.store.rows.values()]
  const choose = new Choices(choice)
  const about = kind === 'run' ? rows.filter(({ state }) => state === ACTIVE) : rows
  const row = about[(which % 3 === 0 ? which : focus) % Math.max(1, about.length)]
  const make = (list: typeof ABOUT_ONE) => list[what % list.length] as (typeof ABOUT_ONE)[number]
  if (kind !== 'itself' && row !== undefined) return make(kind === 'run' ? OF_A_RUN : ABOUT_ONE)(row, choose)
  return (OF_ITSELF[what % OF_ITSELF.length] as (choose: Choices) => Command)(choose)
}

const draw: fc.Arbitrary<Draw> = fc.record({
  kind: fc.constantFrom('one' as const, 'run' as const, 'itself' as const),
  what: fc.nat(200),
  which: fc.nat(200),
  choice: fc.nat(),
})

function worldAfter(history: readonly Draw[]): World {
  const world = new World()
  world.attach('w', ['a', 'b'], { minConcurrency: 3, maxConcurrency: 3 })
  for (const each of history) {
    world.pass(1 + (each.choice % 30))
    world.run(commandOf(each, world, each.which))
  }
  world.run({ op: 'pauseAll', paused: true })
  world.pass(1)
  // What is due by now.
  world.run()
  return world
}

/** All that the store has, and what is counted; of the journal what happened to each job, in order. */
function imageOf({ store, tables }: World) {
  return {
    rows: [...store.rows.values()].sort((a, b) => a.seq - b.seq),
    unique: [...store.uniqueKeys].sort(),
    idempotent: [...store.idempotencyKeys].sort(),
    schedules: [...store.scheduleRows].sort(),
    sourceOffsets: [...store.sourceOffsets].sort(),
    queues: [...tables.queues.values()].map(({ name, counts, totals, settings, paused }) => ({ name, counts, totals, settings, paused })),
    // A queue is told as drained at the end of a turn; what is told of several jobs at once has an order of its own.
    events: store.history
      .filter(({ type }) => type !== 'queue.drained')
      .map(({ seq, at, ...event }) => event)
      .sort((a, b) => jobOf(a) - jobOf(b)),
    attempts: store.runs,
    nextSeq: tables.nextSeq,
  }
}

const jobOf = (event: object) => ('jobSeq' in event ? (event.jobSeq as number) : 0)

const said = (reply: unknown) => (reply instanceof Refused ? reply.refusal.code : reply === DEFERRED ? 'held' : reply)

test('the commands of one turn have the same result as in a turn each', () => {
  fc.assert(
    fc.property(
      fc.array(draw, { minLength: 3, maxLength: 14 }),
      fc.array(draw, { minLength: 2, maxLength: 5 }),
      fc.nat(200),
      (history, draws, focus) => {
        const [one, several] = [worldAfter(history), worldAfter(history)]
        const commands = draws.map((each) => commandOf(each, one, focus))
        const together = one.turn(...commands).replies.map(said)
        const apart: unknown[] = []
        for (const command of commands) {
          apart.push(said(several.turn(command).replies[0]))
        }
        // A completion said again of a job that has gone meanwhile.
        for (const [index, { op }] of commands.entries())
          if (op === 'complete' && apart[index] === 'STALE_RUN' && together[index] === true) together[index] = 'STALE_RUN'
        expect(together).toEqual(apart)
        expect(imageOf(one)).toEqual(imageOf(several))
      },
    ),
    { numRuns: runs(1_000) },
  )
})
