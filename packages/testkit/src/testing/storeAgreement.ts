/**
 * Random turns over two stores: after each, both say the same, whatever they are asked. One of them is usually the memory store, which
 * is the contract as a program.
 */
import { ACTIVE, type Command, type Data, FAILED, type NewJob, Refused, START } from '@millrace/core'
import { forgetNames, type JobRow } from '@millrace/core/kernel'
import fc from 'fast-check'
import { test } from 'vitest'
import { sessionIntro } from '../probe.ts'
import type { Image, TestedStore } from '../storeConformance/image.ts'
import { ERROR, keyOfJob, StoreTurns } from '../storeConformance/storeTurns.ts'
import { runs } from './runs.ts'
import { expectSame } from './same.ts'

/** Choices that are taken from one draw. */
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

const TEXTS = ['""', '"é😀"', '"a %_\\\\ B"', `"${'x'.repeat(50)}"`] as const
const DATA: readonly Data[] = [null, new Uint8Array([0, 255]), new Uint8Array(), ...TEXTS]
const KEYS = ['k', 'k2', 'a\u0000b', 'É"\\%'] as const

function newJob(choose: Choices): NewJob {
  return {
    name: choose.of(['a', 'b', 'c']),
    data: choose.of(DATA),
    ...choose.of<Partial<NewJob>>([
      {},
      {},
      {
        unique: {
          key: choose.of(KEYS),
          onConflict: choose.of(['skip', 'replace', 'reschedule', 'error']),
          until: choose.of(['end', 'start']),
        },
      },
      { idempotencyKey: choose.of(KEYS), ...choose.of([{}, { idempotencyTtl: 40 }]) },
      { debounce: { key: 't', delay: 50, mode: choose.of(['trailing', 'leading']), ...choose.of([{}, { maxDelay: 120 }]) } },
      { throttle: { key: 'h', period: 70 } },
      { delay: choose.of([1, 30, 1_000]) },
    ]),
    ...choose.of<Partial<NewJob>>([
      {},
      { queue: 'q' },
      { concurrencyKey: choose.of(['c1', 'c2']) },
      { queue: 'q', concurrencyKey: choose.of(['c1', 'c2']) },
      { priority: choose.of([-1, 2]) },
      { tags: ['x', ...choose.of([[], ['y']])], meta: '{"m":1}' },
      { ttl: 60 },
      { maxAttempts: 1, timeout: Number.POSITIVE_INFINITY },
      { weight: 2, backoff: { type: 'fixed', delay: 20 } },
      { timeout: 30 },
      { keep: choose.of([0, 30, 1_000_000]) },
      { logLines: choose.of([0, 1, 3]) },
    ]),
  }
}

type Make = (row: JobRow, choose: Choices) => Command

/** What may be asked about any job. */
const ABOUT_A_JOB: readonly Make[] = [
  (row) => ({ op: 'cancel', id: keyOfJob(row) }),
  (row) => ({ op: 'retry', id: keyOfJob(row) }),
  (row, choose) => ({ op: 'retry', id: keyOfJob(row), from: choose.of([START, ...KEYS]) }),
  (row) => ({ op: 'delete', id: keyOfJob(row) }),
  (row) => ({ op: 'runNow', id: keyOfJob(row) }),
  (row) => ({ op: 'cancelTree', id: keyOfJob(row) }),
  (row) => ({ op: 'retryTree', id: keyOfJob(row) }),
  (row, choose) => ({
    op: 'update',
    id: keyOfJob(row),
    changes: choose.of([
      { priority: 2 },
      { data: choose.of(DATA) },
      { weight: 2 },
      { checkpoint: choose.of(DATA) },
      { runAt: row.enqueuedAt + 500 },
      { tags: choose.of([[], ['x'], ['y', 'z']]), ...choose.of([{}, { meta: '{"m":2}' }, { priority: 1 }]) },
    ]),
  }),
  (row, choose) => ({
    op: choose.of(['deleteMany', 'cancelMany', 'retryMany'] as const),
    filter: {},
    ids: [keyOfJob(row)],
    limit: 5,
    dryRun: false,
  }),
  (row, choose) => ({
    ...{ op: 'send', id: keyOfJob(row), name: choose.of(['k', 'k', 'm']), value: choose.of(DATA) ?? 'null' },
    ...choose.of([{}, {}, { idempotencyKey: 'k1' }, { by: 'ops' }]),
  }),
]

/** The ends of waits. */
const WAITS = [{ delay: 0 }, { delay: 20 }, { delay: 5_000 }, { message: 'k' }, { message: 'k', delay: 20 }, { message: 'm' }] as const

/** What its worker may say of a run. */
const ABOUT_A_RUN: readonly Make[] = [
  ({ seq, run }, choose) => ({ op: 'complete', seq, run, output: choose.of(DATA) }),
  ({ seq, run }, choose) => ({ op: 'complete', seq, run, output: null, enqueues: [newJob(choose)] }),
  ({ seq, run }, choose) => ({
    op: 'fail',
    seq,
    run,
    error: choose.of([
      ERROR,
      { name: 'E', message: 'x 12', code: 'C', cause: [{ name: 'Inner', message: 'deep' }] },
      { name: '', message: '' },
      { name: 'Long', message: `m${'\u{1f600}'.repeat(200)}` },
    ]),
    ...choose.of([{}, { retry: 40 }, { retry: false as const }]),
  }),
  ({ seq, run }) => ({ op: 'snooze', seq, run, delay: 30 }),
  ({ seq, run }, choose) => ({ op: 'giveBack', seq, run, started: choose.of([true, false]) }),
  ({ seq, run }, choose) => ({ op: 'checkpoint', seq, run, value: choose.of(DATA) }),
  ({ seq, run }, choose) => ({ op: 'progress', seq, run, fraction: 0.25, ...choose.of([{}, { note: 'half' }, { value: '{"rows":7}' }]) }),
  ({ seq, run }, choose) => ({
    op: 'log',
    seq,
    run,
    lines:
      choose.of([1, 3]) === 1
        ? [{ at: 1, level: 'info', message: 'm', fields: '{"f":1}' }]
        : [1, 2, 3].map((at) => ({ at, level: 'warn', message: `${at}` })),
  }),
  ({ seq, run }) => ({ op: 'heartbeat', seq, run }),
  ({ seq, run }, choose) => ({
    ...{ op: 'step', seq, run, number: choose.of([1, 2, 3, 4]), asked: choose.of([1, 2, 3]), name: choose.of(KEYS), startedAt: 7 },
    ...choose.of([{ kind: 'step' as const }, { kind: 'step' as const }, { kind: 'change' as const }]),
    ...choose.of([{ value: choose.of(DATA) }, { value: null, error: ERROR }]),
  }),
  ({ seq, run }, choose) => ({
    ...{ op: 'wait', seq, run, settled: choose.of([0, 2, 4]), end: choose.of([true, true, false]) },
    waits: choose.of([[1], [1, 2]]).map((asked) => ({ name: `${choose.of(KEYS)}${asked}`, asked, ...choose.of(WAITS) })),
  }),
  ({ seq, run }) => ({ op: 'fail', seq, run, error: ERROR, changed: true }),
]

/** The ids of schedules with their intervals, so that hardly two fire at one time: stores may give these in any order. */
const EVERY = { s: 1_000, 's/2': 1_009 } as const
const SPEC = { jitter: 0, catchUp: 'latest' } as const

const QUEUE_CHANGES = [
  { maxLength: 3, onFull: 'drop-oldest' },
  { onFull: null },
  { maxLength: null },
  { perKeyLimit: 1 },
  { perKeyLimit: null },
  { keyOrder: 'strict' },
  { keyOrder: null },
  { perKeyRateLimit: { limit: 1, period: 50, burst: 1 } },
  { rateLimit: { limit: 2, period: 90, burst: 2 } },
  { rateLimit: null, concurrencyLimit: 1 },
  { concurrencyLimit: null },
  { sharedLimit: { name: 'smtp', limit: 1 } },
  { sharedLimit: null },
  { defaults: { timeout: Number.POSITIVE_INFINITY, priority: 1 } },
  { fairness: 'name', share: 2 },
  { repeats: 'event' },
  { empties: 'event' },
  { deadLetter: 'dead' },
  { deadLetter: null },
] as const

function flow(choose: Choices): Command {
  const shapes: readonly (readonly (readonly number[])[])[] = [
    [[], [0]],
    [[], [0], [0, 1]],
    [[], [], [0, 1], [2]],
    [[], [0], [1], [1, 2]],
  ]
  const nodes = choose.of(shapes).map((parents, index) => ({
    ref: `n${index}`,
    job: { name: choose.of(['a', 'b']), data: choose.of(DATA), ...choose.of([{}, { delay: 20 }, { tags: ['x'] }, { maxAttempts: 1 }]) },
    parents,
    onFailure: choose.of(['fail', 'continue'] as const),
  }))
  return { op: 'flow', nodes, ...choose.of([{}, { idempotencyKey: 'f' }]) }
}

const OTHERS: readonly ((choose: Choices) => Command)[] = [
  (choose) => ({ op: 'enqueue', jobs: [newJob(choose), newJob(choose)] }),
  (choose) => ({ op: 'enqueue', jobs: [newJob(choose)] }),
  (choose) => ({ op: 'enqueue', jobs: [newJob(choose)] }),
  flow,
  flow,
  (choose) => {
    const id = choose.of(['s', 's/2'] as const)
    return {
      ...{ op: 'upsertSchedule', id, spec: { ...SPEC, every: EVERY[id], overlap: choose.of(['skip', 'queue', 'cancel', 'allow']) } },
      job: { name: 'a', data: choose.of(DATA), ...choose.of([{}, { timeout: Number.POSITIVE_INFINITY, tags: ['x'] }]) },
      runImmediately: choose.of([true, false]),
      updateWaiting: choose.of([true, false]),
    }
  },
  (choose) => ({
    op: choose.of(['deleteSchedule', 'triggerSchedule', 'pauseSchedule', 'resumeSchedule'] as const),
    id: choose.of(['s', 's/2']),
  }),
  (choose) => ({
    op: 'forward',
    source: choose.of(['app', 'other']),
    number: choose.of([7, 8]),
    first: choose.of([1, 2, 3]),
    entries: [{ at: 1_000, jobs: [newJob(choose)] }],
  }),
  (choose) => ({
    ...{ op: 'pause', queue: 'q', paused: choose.of([true, false]) },
    ...choose.of([{}, { job: 'a' }, { key: 'c1' }]),
    ...choose.of([{}, { for: 1_000 }]),
  }),
  (choose) => ({ op: 'pauseAll', paused: choose.of([true, false, false]) }),
  (choose) => ({ op: 'configure', queue: 'q', changes: choose.of(QUEUE_CHANGES) }),
  (choose) => ({ op: 'configure', queue: choose.of(['q', 'default']), changes: choose.of(QUEUE_CHANGES) }),
  (choose) => ({ op: choose.of(['drainQueue', 'deleteQueue'] as const), queue: 'q' }),
  (choose) => ({ op: choose.of(['leave', 'drain'] as const), session: choose.of(['w1', 'w2']) }),
  attach,
  attach,
  (choose) => ({ op: 'export', name: choose.of(['e', 'e2']), limit: 5, ...choose.of([{}, { upTo: 5 }]) }),
  (choose) => ({ op: 'deleteExport', name: choose.of(['e', 'e2']) }),
  (choose) => ({ op: 'redrive', limit: 3, ...choose.of([{}, { name: 'a' }, { queue: 'q' }]) }),
  (choose) => ({
    op: choose.of(['cancelMany', 'retryMany', 'deleteMany', 'runNowMany'] as const),
    filter: choose.of([{}, { tag: 'x' }, { name: 'a' }, { queue: 'q' }, { state: FAILED }]),
    limit: choose.of([1, 5]),
    dryRun: false,
  }),
  (choose) => ({
    op: 'byKey',
    of: { kind: choose.of(['unique', 'idempotency'] as const), name: choose.of(['a', 'b']), key: choose.of(KEYS) },
    call: choose.of(['cancel', 'retry', 'runNow', 'delete', 'release', 'release'] as const),
  }),
  (choose) => ({
    op: 'updateMany',
    filter: choose.of([{}, { tag: 'x' }, { queue: 'q' }]),
    limit: choose.of([1, 5]),
    dryRun: false,
    changes: choose.of([{ priority: 3 }, { weight: 3 }, { runAt: 2_000_000_000_000 }, { tags: ['y'] }]),
  }),
]

function attach(choose: Choices): Command {
  const uuid = choose.of(['w1', 'w2'])
  const limits = choose.of([
    { minConcurrency: 2, maxConcurrency: 2 },
    { minConcurrency: 1, maxConcurrency: 4 },
  ])
  const handlers = choose.of([['a', 'b', 'c'], ['a']]).map((name) => ({ name, defaults: choose.of([{}, { maxAttempts: 2 }]) }))
  return { op: 'attach', session: { ...sessionIntro([], { uuid }), ...limits, local: choose.of([true, false]), handlers }, held: [] }
}

interface Draw {
  readonly kind: 'job' | 'run' | 'other'
  readonly what: number
  readonly which: number
  readonly choice: number
}

interface Step {
  readonly draws: readonly Draw[]
  readonly pass: number
  readonly upkeep: 'prune' | 'forget' | 'reload' | undefined
}

const draw: fc.Arbitrary<Draw> = fc.record({
  kind: fc.constantFrom('job' as const, 'run' as const, 'run' as const, 'other' as const, 'other' as const),
  what: fc.nat(200),
  which: fc.nat(200),
  choice: fc.maxSafeNat(),
})

const step: fc.Arbitrary<Step> = fc.record({
  draws: fc.array(draw, { maxLength: 5 }),
  pass: fc.constantFrom(0, 1, 10, 100, 3_000, 60_000),
  upkeep: fc.constantFrom(undefined, undefined, undefined, 'prune' as const, 'forget' as const, 'reload' as const),
})

function commandOf({ kind, what, which, choice }: Draw, rows: readonly JobRow[], active: readonly JobRow[]): Command {
  const choose = new Choices(choice)
  const about = kind === 'run' ? active : rows
  const row = about[which % Math.max(1, about.length)]
  const makers = kind === 'run' ? ABOUT_A_RUN : ABOUT_A_JOB
  if (kind !== 'other' && row !== undefined) return (makers[what % makers.length] as Make)(row, choose)
  return (OTHERS[what % OTHERS.length] as (choose: Choices) => Command)(choose)
}

const NOW: Step = { draws: [], pass: 0, upkeep: undefined }

/** A worker, and queues that hold their jobs back, or not. */
function newWorld(choose: Choices): readonly Command[] {
  const configure = (queue: string): Command => ({
    op: 'configure',
    queue,
    changes: choose.of([{}, { perKeyLimit: 1 }, { keyOrder: 'strict' }, { maxLength: 4, onFull: 'drop-oldest' }, { concurrencyLimit: 1 }]),
  })
  return [attach(choose), configure('q'), configure('default')]
}

const KEEP = { ageMs: 50, count: 2 }
const RETENTION = { completed: KEEP, failed: KEEP, cancelled: KEEP, journal: { ageMs: 1e6, bytes: 1e6 } }

/** Takes a step, and the turns that follow from it at once. */
function take(turns: StoreTurns, { pass, upkeep }: Step, commands: readonly Command[]): Taken {
  if (upkeep === 'reload') turns.reload('w1')
  turns.pass(pass)
  turns.pruning = upkeep === 'prune' ? RETENTION : undefined
  const { wall } = turns.now
  const oldest = Math.min(turns.store.journal(0).firstEvent + 9, turns.tables.nextEvent - 1)
  if (upkeep === 'forget')
    turns.addEffects = (effects) => {
      Object.assign(effects, {
        forgetKeysBefore: wall,
        forgetKeysLimit: 2,
        forgetEventsBefore: oldest,
        forgetFailuresBefore: wall - 5_000,
      })
      forgetNames({ tables: turns.tables, effects, now: turns.now }, turns.store.journal(0).firstEvent)
    }
  const { replies } = turns.turn(...commands)
  const between = turns.image()
  turns.pruning = undefined
  turns.run()
  return { replies: replies.map(comparable), between, after: turns.image() }
}

interface Taken {
  readonly replies: readonly unknown[]
  /** After the first turn: outcomes may have to go on to children, for example. */
  readonly between: Image
  readonly after: Image
}

/** A store may see at once that a slice was the last, or with the next one. */
function comparable(reply: unknown): unknown {
  if (reply instanceof Refused) return reply.refusal.code
  return typeof reply === 'object' && reply !== null && 'matched' in reply ? { ...reply, next: undefined } : reply
}

export interface StoresInAgreement {
  readonly stores: readonly [TestedStore, TestedStore]
  /** Moves what the second one has to another store, whenever tables are built again. */
  readonly move?: () => TestedStore
  close(): void
}

/**
 * @param open opens two empty stores that give their jobs' ids the same `node`
 * @param count the number of histories, fewer if a store is slow
 */
export function storeAgreement(name: string, open: () => StoresInAgreement, count = 80): void {
  test(`Stores in agreement: ${name}`, () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }), (first, steps) => {
        const { stores, move, close } = open()
        try {
          const [one, other] = stores.map((store) => new StoreTurns(store)) as [StoreTurns, StoreTurns]
          const begin = newWorld(new Choices(first))
          expectSame(take(other, NOW, begin), take(one, NOW, begin))
          for (const each of steps) {
            const rows = one.rows()
            const active = rows.filter(({ state }) => state === ACTIVE)
            if (each.upkeep === 'reload' && move !== undefined) other.store = move()
            const commands = each.draws.map((drawn) => commandOf(drawn, rows, active))
            const [expected, taken] = [take(one, each, commands), take(other, each, commands)]
            expectSame(taken, expected)
          }
        } finally {
          close()
        }
      }),
      // Shrinking such a history takes minutes.
      { numRuns: runs(count), endOnFailure: true },
    )
  })
}
