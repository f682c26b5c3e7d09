/** A file of jobs that change, and filters for them: what a naive look at all rows says is what a list must say. */
import {
  ACTIVE,
  CANCELLED,
  COMPLETED,
  DEFAULT_POLICY,
  FAILED,
  fingerprintOf,
  isFinal,
  type ListFilter,
  SCHEDULED,
  STATES,
  type StateCode,
  type TimeOrder,
  WAITING,
} from '@millrace/core'
import { DIRTY_DELETE, DIRTY_INSERT, type Job, type JobRow } from '@millrace/core/kernel'
import fc from 'fast-check'
import type { SqliteStore } from '../store.ts'
import type { Turns } from './jobs.ts'

const NAMES = ['a', 'b']
const QUEUES = ['x', 'y']
/** Some look like a part of what is stored. */
const KEYS = ['k', 'k"', '"concurrencyKey":"k"', 'k\\', 'é%_']
const SCHEDULES = ['s', 's:2']
const KINDS = ['E', 'F'].flatMap((name) => ['no disk', "no 'x' at 1", ''].map((message) => ({ name, message })))
/** What jobs have as data and as meta: numbers and strings in other forms, and what is no JSON, too. */
const DATA = [
  '"a needle"',
  '{"n":1}',
  '{"n":1.0,"s":"k\\u002f"}',
  '{ "n" : [ 1, {"s":"k/"} ] }',
  '[1,"needle"]',
  '{"s":"\\\\"}',
  'no JSON "n":1',
]
const METAS = ['{"x":"\\"schedule\\":\\"s\\""}', '{"x":"k/"}', '{"x":{"y":["z",1]}}']
const CONTAINED = ['{"n":1}', '{"s":"k/"}', '"needle"', '"a needle"', '{"n":[{"s":"k/"}]}', '1', '{"s":"\\\\"}', '{"n":{}}']
const CONTAINED_META = ['{"x":"k/"}', '{"x":{"y":["z"]}}', '{"x":"\\"schedule\\":\\"s\\""}', '{"y":1}']
const TAGS = ['t', '"schedule":"s"', '\\"concurrencyKey\\":\\"k\\"']

export interface Change {
  readonly kind: 'insert' | 'start' | 'complete' | 'fail' | 'retry' | 'cancel' | 'revive' | 'delay' | 'delete' | 'commit'
  readonly pick: number
}

export const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom<Change['kind'][]>(
    ...(['insert', 'insert', 'insert', 'start', 'start', 'complete', 'fail', 'fail'] as const),
    ...(['retry', 'cancel', 'revive', 'delay', 'delete', 'commit'] as const),
  ),
  pick: fc.nat(10_000),
})

export interface Asked {
  readonly filter: ListFilter
  readonly search?: string
  readonly order?: TimeOrder
  readonly ascending?: boolean
}

const CODES: StateCode[] = [0, 1, 2, 3, 4, 5, 6]

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

/** @param start the time of the first turn: a millisecond passes with each of them */
export function asked(start: number, turns: number): fc.Arbitrary<Asked> {
  const time = fc.integer({ min: start - 1, max: start + turns + 1 })
  const state = (codes: readonly StateCode[]) => fc.constantFrom(...codes)
  const filter = {
    queue: optional(fc.constantFrom(...QUEUES, 'none')),
    name: optional(fc.constantFrom(...NAMES)),
    tag: optional(fc.constantFrom(...TAGS)),
    key: optional(fc.constantFrom(...KEYS)),
    schedule: optional(fc.constantFrom(...SCHEDULES)),
    retrying: optional(fc.boolean()),
    enqueuedAfter: optional(time),
    enqueuedBefore: optional(time),
    finishedAfter: optional(time),
    finishedBefore: optional(time),
    worker: optional(fc.constantFrom('w', 'v', 'none')),
    error: optional(fc.constantFrom('E', 'F', 'JobDroppedError')),
    data: optional(fc.constantFrom(...CONTAINED)),
    meta: optional(fc.constantFrom(...CONTAINED_META)),
    fingerprint: optional(fc.constantFrom(...KINDS.map(fingerprintOf), 7)),
  }
  const narrow = (one: fc.Arbitrary<StateCode | undefined>, several: fc.Arbitrary<StateCode[] | undefined> = fc.constant(undefined)) =>
    fc
      .record({ ...filter, state: one, states: several })
      .chain((all) =>
        fc.subarray(Object.entries(all) as [keyof ListFilter, unknown][], { maxLength: 3 }).map((some) => [all, some] as const),
      )
      .map(([{ state: code, states }, some]) => defined({ ...Object.fromEntries(some), state: code, states }))
  return fc.oneof(
    fc
      .record({
        filter: narrow(optional(state(CODES)), fc.option(fc.subarray(CODES), { nil: undefined })),
        search: optional(fc.constantFrom('needle', 'k')),
        ascending: optional(fc.constant(true)),
      })
      .map(defined),
    fc.record({ filter: narrow(state([COMPLETED, FAILED, CANCELLED])), order: fc.constant('finished' as const) }),
    fc.record({ filter: narrow(state([SCHEDULED])), order: fc.constant('due' as const) }),
  ) as fc.Arbitrary<Asked>
}

/** Leaves out what is not set. */
function defined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Policies of jobs with a time of their own. */
const KEPT = [0, 5_000].map((keep) => JSON.stringify({ ...DEFAULT_POLICY, text: undefined, keep }))

export class Changing {
  readonly jobs: Job[] = []
  /** The jobs that have been touched since `touched` was last cleared. */
  readonly touched = new Set<number>()
  readonly #turns: Turns
  readonly #sessions: readonly Parameters<Turns['start']>[1][]
  /** The turn in which each job ended last, by the number of the event behind it. */
  readonly #ends = new Map<number, number>()

  constructor(turns: Turns) {
    this.#turns = turns
    this.#sessions = ['w', 'v'].map((worker) => turns.session(worker))
  }

  take({ kind, pick }: Change): void {
    if (kind === 'insert') this.#insert(pick)
    if (kind === 'commit') this.commit()
    const place = pick % Math.max(1, this.jobs.length)
    const job = this.jobs[place]
    if (job === undefined) return
    this.touched.add(job.seq)
    if (kind === 'delete' && pick % 3 === 0 && job.state !== ACTIVE && (job.dirty & DIRTY_INSERT) === 0) {
      this.jobs.splice(place, 1)
      this.#turns.effects.countJob(job, -1)
      this.#turns.effects.touch(job, DIRTY_DELETE)
    } else if (kind === 'start' && job.state === WAITING) this.#turns.start(job, this.#sessions[pick % 2] as Parameters<Turns['start']>[1])
    else if (kind === 'complete' && job.state === ACTIVE) this.#end(job, COMPLETED)
    else if (kind === 'fail' && job.state === ACTIVE) {
      this.#record(job, pick)
      this.#end(job, FAILED)
    } else if (kind === 'retry' && job.state === ACTIVE) {
      this.#record(job, pick)
      this.#back(job, SCHEDULED, pick)
    } else if (kind === 'cancel' && !isFinal(job.state)) {
      job.dropped = job.state === WAITING && pick % 4 === 0
      this.#end(job, CANCELLED)
    } else if (kind === 'revive' && (job.state === FAILED || job.state === CANCELLED)) {
      job.uncounted = job.run
      this.#back(job, WAITING, 0)
    } else if (kind === 'delay' && (job.state === WAITING || job.state === SCHEDULED)) this.#back(job, SCHEDULED, pick)
  }

  commit(): void {
    const { settled } = this.#turns.effects
    const turn = this.#turns.header.nextEvent
    for (const { seq } of settled) this.#ends.set(seq, turn)
    this.#turns.commit()
  }

  /** Returns the place of a row in an order: the larger one comes first. */
  placeOf({ seq, state, runAt, finishedAt }: JobRow, { order, ascending }: Asked): [at: number, seq: number] {
    if (order === undefined) return [0, ascending ? -seq : seq]
    if (order === 'due') return [-runAt, -seq]
    return [state === FAILED ? finishedAt : (this.#ends.get(seq) as number), seq]
  }

  #insert(pick: number): void {
    const draw = (of: number, among: readonly string[]): string | undefined => among[(pick >> of) % (among.length + 2)]
    const tag = draw(1, TAGS)
    const extras = defined({
      tags: tag && [tag],
      concurrencyKey: draw(3, KEYS),
      schedule: draw(5, SCHEDULES),
      meta: pick % 5 === 0 ? METAS[pick % METAS.length] : undefined,
    })
    const job = this.#turns.insert({
      lane: this.#turns.lane(NAMES[pick % 2], QUEUES[(pick >> 1) % 2]),
      // Over several blocks of tags, and far from one another.
      seq: this.#turns.nextSeq + (pick % 20 === 0 ? 3_000 : 0),
      data: pick % 11 === 0 ? new TextEncoder().encode('{"n":1}') : (DATA[pick % DATA.length] as string),
      ...(Object.keys(extras).length > 0 && { extras: extras as NonNullable<Job['extras']> }),
      ...(pick % 7 === 1 && { policy: KEPT[pick % 2] as string }),
      ...(pick % 4 === 0 && { runAt: this.#turns.at + 1 + (pick % 9) }),
    })
    this.jobs.push(job)
  }

  /** Notes a run that ended: with an error, or given back. */
  #record({ seq, run, lane }: Job, pick: number): void {
    const error = pick % 5 === 0 ? undefined : KINDS[pick % KINDS.length]
    const { at, effects } = this.#turns
    effects.runs.push({ seq, run, attempt: 1, startedAt: at, endedAt: at, worker: pick % 3 === 0 ? 'w' : 'v', error })
    const job = { seq, lane } as Job
    if (error !== undefined) effects.failures.push({ job, run, error: error.name, fingerprint: fingerprintOf(error) })
  }

  #end(job: Job, state: StateCode): void {
    job.finishedAt = this.#turns.at
    if (state === COMPLETED) this.#turns.complete(job)
    else this.#turns.move(job, state)
  }

  #back(job: Job, state: StateCode, pick: number): void {
    job.finishedAt = 0
    job.dropped = false
    if (state === SCHEDULED) job.runAt = this.#turns.at + 1 + (pick % 9)
    this.#turns.move(job, state)
  }
}

/** Returns the rows that fit, by looking at each field of each row. */
export function naive(store: SqliteStore, rows: readonly JobRow[], { filter, search }: Asked): JobRow[] {
  const lanes = new Map(store.load().lanes.map((lane) => [lane.id, lane]))
  const { state, queue, name, tag, key, schedule, retrying, enqueuedAfter, enqueuedBefore, finishedAfter, finishedBefore } = filter
  const { worker, error, fingerprint, states, data, meta } = filter
  const runs = store.attempts(rows)
  return rows.filter((row, index) => {
    const last = runs[index]?.at(-1)
    const { extras = {} } = row
    const texts = [lanes.get(row.laneId)?.name, row.data, ...(extras.tags ?? []), extras.concurrencyKey].map(String)
    return [
      state === undefined || STATES[row.state] === STATES[state],
      states === undefined || states.some((each) => STATES[each] === STATES[row.state]),
      queue === undefined || lanes.get(row.laneId)?.queue === queue,
      name === undefined || lanes.get(row.laneId)?.name === name,
      tag === undefined || extras.tags?.includes(tag) === true,
      key === undefined || extras.concurrencyKey === key,
      schedule === undefined || extras.schedule === schedule,
      retrying === undefined || (row.state === SCHEDULED && row.run > row.uncounted) === retrying,
      enqueuedAfter === undefined || row.enqueuedAt >= enqueuedAfter,
      enqueuedBefore === undefined || row.enqueuedAt < enqueuedBefore,
      finishedAfter === undefined || (row.finishedAt > 0 && row.finishedAt >= finishedAfter),
      finishedBefore === undefined || (row.finishedAt > 0 && row.finishedAt < finishedBefore),
      worker === undefined || last?.worker === worker,
      error === undefined || last?.error?.name === error,
      fingerprint === undefined || (last?.error !== undefined && fingerprintOf(last.error) === fingerprint),
      data === undefined || (typeof row.data === 'string' && isPartOf(data, row.data)),
      meta === undefined || (extras.meta !== undefined && isPartOf(meta, extras.meta)),
      search === undefined || texts.some((text) => text.includes(search)),
    ].every(Boolean)
  })
}

/** True if JSON contains other JSON: each of its leaves, by the way to it, in which the place in an array does not count. */
function isPartOf(part: string, stored: string): boolean {
  let value: unknown
  try {
    value = JSON.parse(stored)
  } catch {
    return false
  }
  const wanted: unknown = JSON.parse(part)
  if (Array.isArray(value) && (typeof wanted !== 'object' || wanted === null)) return value.includes(wanted)
  const has = (one: unknown, other: unknown): boolean => {
    if (typeof other !== 'object' || other === null) return Object.is(one, other)
    if (typeof one !== 'object' || one === null || Array.isArray(one) !== Array.isArray(other)) return false
    if (Array.isArray(other)) return other.every((each) => (one as unknown[]).some((item) => has(item, each)))
    return Object.entries(other).every(([name, each]) => name in one && has((one as Record<string, unknown>)[name], each))
  }
  return has(value, wanted)
}
