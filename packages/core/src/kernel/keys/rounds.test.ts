/** Tests how long a new key waits for other keys, which take turns in rounds. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { attaching, type Granted, World } from '../../testing/world.ts'

const NAMES = ['a', 'b'] as const
const OTHERS = ['k1', 'k2', 'k3'] as const
const NEWCOMER = 'newcomer'

type Name = (typeof NAMES)[number]

/** What runs, and what has started since somebody last looked. */
class Floor {
  readonly world = new World()
  readonly #running: Granted[] = []
  #started: Granted[] = []

  do(...commands: readonly Command[]): void {
    const { grants } = this.world.run(...commands)
    this.#running.push(...grants)
    this.#started.push(...grants)
  }

  enqueue(name: Name, concurrencyKey: string, jobs = 1): void {
    if (jobs > 0) this.do({ op: 'enqueue', jobs: Array.from({ length: jobs }, () => ({ name, data: null, concurrencyKey })) })
  }

  /** One of those that run ends. Answers whether there was one. */
  end(pick: number, op: 'complete' | 'fail' = 'complete'): boolean {
    const [ended] = this.#running.splice(pick % Math.max(1, this.#running.length), 1)
    if (ended === undefined) return false
    const { seq, run } = ended
    this.do(op === 'complete' ? { op, seq, run, output: null } : { op, seq, run, error: { name: 'Error', message: 'no' } })
    return true
  }

  keyOf({ seq }: Granted): string | undefined {
    return this.world.row({ seq }).extras?.concurrencyKey
  }

  started(): readonly Granted[] {
    const started = this.#started
    this.#started = []
    return started
  }

  /** Those that start before the first of the newcomer does, runs ending one after the other as `picks` says. */
  beforeNewcomer(picks: readonly number[]): readonly Granted[] {
    const before: Granted[] = []
    for (let round = 0; ; round++) {
      for (const job of this.started()) {
        if (this.keyOf(job) === NEWCOMER) return before
        before.push(job)
      }
      this.world.pass(1)
      if (!this.end(picks[round % picks.length] as number)) throw new Error('nothing runs, and the newcomer waits')
    }
  }
}

function begin(changes: QueueChanges, slots: number): Floor {
  const floor = new Floor()
  floor.do({ op: 'configure', queue: 'default', changes })
  floor.do(attaching('s', NAMES, { minConcurrency: slots, maxConcurrency: slots }))
  return floor
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ name: fc.constantFrom(...NAMES), key: fc.constantFrom(...OTHERS), jobs: fc.integer({ min: 1, max: 15 }) }),
  },
  { weight: 4, arbitrary: fc.record({ end: fc.nat(20), op: fc.constantFrom('complete' as const, 'complete' as const, 'fail' as const) }) },
)

test('a new key waits for at most perKeyLimit starts of each other key in each job name, and for at most a burst', () => {
  fc.assert(
    fc.property(
      fc.record({
        perKeyLimit: fc.integer({ min: 1, max: 6 }),
        burst: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        slots: fc.integer({ min: 1, max: 8 }),
        before: fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }),
        after: fc.array(fc.record({ name: fc.constantFrom(...NAMES), key: fc.constantFrom(...OTHERS) }), { maxLength: 6 }),
        name: fc.constantFrom(...NAMES),
        picks: fc.array(fc.nat(20), { minLength: 1, maxLength: 10 }),
      }),
      ({ perKeyLimit, burst, slots, before, after, name, picks }) => {
        const rate = burst === undefined ? {} : { perKeyRateLimit: { limit: 1_000, period: 1_000, burst } }
        const floor = begin({ perKeyLimit, ...rate }, slots)
        for (const act of before) {
          floor.world.pass(1)
          if ('end' in act) floor.end(act.end, act.op)
          else floor.enqueue(act.name, act.key, act.jobs)
        }
        // Whatever is let go in this very millisecond stands before it by its arrival.
        floor.world.pass(1)
        floor.do()
        floor.started()
        floor.enqueue(name, NEWCOMER)
        floor.world.pass(1)
        for (const job of after) floor.enqueue(job.name, job.key)
        const started = floor.beforeNewcomer(picks)
        for (const key of OTHERS) {
          for (const of of NAMES) {
            const waited = started.filter((job) => job.name === of && floor.keyOf(job) === key).length
            expect(waited, `starts of key ${key}, name ${of}`).toBeLessThanOrEqual(Math.min(perKeyLimit, burst ?? perKeyLimit))
          }
        }
      },
    ),
    { numRuns: runs(200) },
  )
})

/** Those of a key with 300 jobs that start before the newcomer's, with ten slots. */
function waitedFor(changes: QueueChanges, names: readonly Name[] = ['a']): number {
  const floor = begin(changes, 10)
  for (const name of names) floor.enqueue(name, 'greedy', 300 / names.length)
  floor.world.pass(1)
  floor.started()
  floor.enqueue('a', NEWCOMER)
  return floor.beforeNewcomer([0]).length
}

test('a round of keys is as long as the limit of a key, not as the room of the workers, and a burst makes it shorter', () => {
  // Ten of the hundred run.
  expect(waitedFor({ perKeyLimit: 100 })).toBe(90)
  expect(waitedFor({ perKeyLimit: 100 }, NAMES)).toBe(180)
  expect(waitedFor({ perKeyLimit: 12 })).toBe(2)
  // A place is left.
  expect(waitedFor({ perKeyLimit: 9 })).toBe(0)
  expect(waitedFor({ keyOrder: 'strict' })).toBe(0)
  expect(waitedFor({ perKeyLimit: 100, perKeyRateLimit: { limit: 10_000, period: 1_000, burst: 20 } })).toBeLessThanOrEqual(20)
})

test('a queue without a limit of keys has no rounds: jobs start in the order of their arrival', () => {
  expect(waitedFor({})).toBe(290)
  expect(waitedFor({ concurrencyLimit: 10, keyOrder: null })).toBe(290)
})
