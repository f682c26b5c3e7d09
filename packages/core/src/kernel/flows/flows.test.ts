/** Tests random flows under random commands, audited after every turn. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { ON_PARENT_FAILURE } from '../../flow.ts'
import { BLOCKED, isFinal, isLive } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import type { Enqueued } from '../../replies.ts'
import { DEFAULT_RETENTION } from '../../retention.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { keyOfJob, type TestNode, type Turned, World } from '../../testing/world.ts'
import { hasFailed, type ParentOutcome } from '../records/flowState.ts'

useSmallLimits()

const node = fc.record({
  parents: fc.uniqueArray(fc.nat({ max: 11 }), { maxLength: 4 }),
  onFailure: fc.constantFrom(...ON_PARENT_FAILURE),
  job: fc.record(
    { delay: fc.constantFrom(0, 10), ttl: fc.constantFrom(5, 500), maxAttempts: fc.constantFrom(1, 2), data: fc.string({ maxLength: 20 }) },
    { requiredKeys: ['data'] },
  ),
})
/** Each waits for earlier ones alone. */
const dag = fc
  .array(node, { minLength: 1, maxLength: 12 })
  .map((nodes): TestNode[] => nodes.map((each, index) => ({ ...each, parents: each.parents.filter((parent) => parent < index) })))

const which = fc.nat({ max: 11 })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('complete' as const), job: which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail' as const), job: which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel' as const, 'retry' as const, 'delete' as const, 'cancelTree' as const, 'retryTree' as const),
      job: which,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const), job: fc.nat({ max: 30 }) }) },
  fc.record({ kind: fc.constant('pass' as const), job: fc.constantFrom(1, 20, 600) }),
  fc.record({ kind: fc.constant('reload' as const), job: which }),
  fc.record({ kind: fc.constant('prune' as const), job: which }),
  fc.record({ kind: fc.constant('redrive' as const), job: which }),
)

/** What a turn lets through must be so by what was committed before it. */
class Watched {
  readonly world: World
  /** The jobs of the flow, and those that jobs have joined since. */
  readonly jobs: Enqueued[]
  readonly #nodes: readonly TestNode[]
  /** Since it waits. */
  readonly #released = new Set<number>()

  constructor(world: World, nodes: readonly TestNode[]) {
    this.world = world
    this.#nodes = nodes
    this.jobs = world.flow(nodes)
  }

  /** All turns that follow at once, one after the other. */
  run(...commands: readonly Command[]): void {
    let turns = 0
    for (let mail = commands; turns === 0 || this.world.tables.flowWork; mail = []) {
      const before = new Map(this.jobs.map(({ seq }) => [seq, this.world.store.flows.standing(seq)]))
      const blocked = new Set([...this.world.store.rows.values()].filter(({ state }) => state === BLOCKED).map(({ seq }) => seq))
      this.#look(this.world.turn(...mail), before, blocked)
      if (++turns > 300) throw new Error('children are told for ever')
    }
    this.world.run()
  }

  #look({ events }: Turned, before: ReadonlyMap<number, ParentOutcome>, blocked: ReadonlySet<number>): void {
    const first = this.jobs[0]?.seq as number
    const back = new Set<number>()
    for (const { type, seq, run } of events) {
      if (type === 'enqueued' && seq >= first + this.#nodes.length) this.jobs.push({ ...keyOfJob(this.world.row({ seq })), created: true })
      if (type === 'updated') {
        this.#released.delete(seq)
        back.add(seq)
      }
      if (type !== 'released') continue
      // It runs at the first failure, whatever the others do.
      if (this.#nodes[seq - first]?.onFailure === 'run' && this.world.store.rows.get(seq)?.extras?.flow?.joined === undefined) {
        const known = this.#nodes[seq - first]?.parents?.map((parent) => before.get(first + parent) ?? 0) ?? []
        if (blocked.has(seq) && !known.some(hasFailed)) throw new Error(`job ${seq} runs, and none of ${known} has failed`)
        continue
      }
      for (const { parent } of blocked.has(seq) ? this.world.store.flows.parentsOf(seq) : []) {
        if (before.get(parent) === 0 || back.has(parent)) throw new Error(`job ${seq} is let through before job ${parent} has ended`)
      }
      for (const parent of this.#nodes[seq - first]?.parents ?? []) {
        if (back.has(first + parent)) throw new Error(`job ${seq} is let through when job ${first + parent} has just come back`)
      }
      if (run > 0) continue
      if (this.#released.has(seq)) throw new Error(`job ${seq} is let through twice`)
      this.#released.add(seq)
      for (const parent of this.#nodes[seq - first]?.parents ?? []) {
        if (before.get(first + parent) === 0) throw new Error(`job ${seq} is let through before job ${first + parent} has ended`)
      }
    }
  }

  /** Everything that runs completes, until nothing does any more. */
  finish(): void {
    for (let rounds = 0; rounds < 100; rounds++) {
      this.world.pass(1_000)
      this.run()
      const running = this.world.tables.running()
      if (running.length === 0 && ![...this.world.store.rows.values()].some(({ state }) => isLive(state))) return
      for (const { seq, run } of running) this.run({ op: 'complete', seq, run, output: '"x"' })
    }
    const left = [...this.world.store.rows.values()]
      .filter(({ state }) => !isFinal(state))
      .map(({ seq, state }) => `${seq} in state ${state}`)
    throw new Error(`never final: ${left}`)
  }
}

function commandOf(world: World, kind: string, { seq, node: own, enqueuedAt }: Enqueued): Command | undefined {
  const row = world.store.rows.get(seq)
  const run = row?.run ?? 0
  switch (kind) {
    case 'complete':
      return { op: 'complete', seq, run, output: '"x"' }
    case 'join':
      return { op: 'join', seq, run, name: `run ${run}`, jobs: [0, seq % 2].map((delay) => ({ name: 'a', data: '"joined"', delay })) }
    case 'fail':
      return { op: 'fail', seq, run, error: { name: 'Error', message: 'no' }, retry: seq % 2 === 0 ? false : 0 }
    case 'redrive':
      return { op: 'redrive', limit: 5 }
    default:
      return { op: kind, id: keyOfJob({ seq, node: own, enqueuedAt }) } as Command
  }
}

test('each job of a flow is released once, after its last parent, and none is forgotten, after any sequence of commands', () => {
  fc.assert(
    fc.property(
      dag,
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom(0, 1_000),
      fc.integer({ min: 1, max: 3 }),
      (nodes, steps, keep, together) => {
        const world = new World({ settings: { retention: { ...DEFAULT_RETENTION, completed: { ageMs: 7 * 86_400_000, count: keep } } } })
        world.attach('s', ['a'], { minConcurrency: 3, maxConcurrency: 3 })
        const watched = new Watched(world, nodes)
        const { jobs } = watched
        let mail: Command[] = []
        for (const { kind, job } of steps) {
          if (kind === 'pass') world.pass(job)
          else if (kind === 'reload') world.reload('s')
          else if (kind === 'prune') {
            world.pass(40 * 86_400_000)
            world.pruning = world.settings.retention
            watched.run()
            world.pruning = undefined
          } else mail.push(commandOf(world, kind, jobs[job % jobs.length] as Enqueued) as Command)
          if (kind === 'reload')
            world.attach(
              's',
              ['a'],
              { minConcurrency: 3, maxConcurrency: 3 },
              world.tables.running().map(({ seq, run }) => ({ seq, run })),
            )
          if (mail.length < together && kind !== 'pass') continue
          watched.run(...mail)
          mail = []
        }
        watched.finish()
        world.pass(400 * 86_400_000)
        world.pruning = world.settings.retention
        for (let rounds = 0; rounds < 20; rounds++) watched.run()
        const { edges, ends, counters, due, gone } = world.store.flows
        expect([world.store.rows.size, edges.size, ends.size, counters.size, due.size, gone.size]).toEqual([0, 0, 0, 0, 0, 0])
      },
    ),
    { numRuns: runs(300) },
  )
})
