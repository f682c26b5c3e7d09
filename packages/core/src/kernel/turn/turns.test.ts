/** Tests random histories, audited after every turn: invariant 18, and promises that hold after any sequence of commands. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob, RunKey } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import type { JobKey } from '../../id.ts'
import { isLive } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import type { Enqueued } from '../../replies.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, codeOf, type Turned, World } from '../../testing/world.ts'

useSmallLimits()

const NAMES = ['a', 'b', 'c'] as const
const SESSIONS = ['s1', 's2', 's3'] as const
const ERROR = { name: 'Error', message: 'no' }

const someKey = fc.constantFrom('k1', 'k2')
const soon = fc.constantFrom(0, 1, 10, 100)

const newJob = fc.record(
  {
    name: fc.constantFrom(...NAMES),
    queue: fc.constantFrom('q1', 'q2'),
    data: fc.string({ maxLength: 30 }),
    priority: fc.constantFrom(-1, 0, 1),
    weight: fc.integer({ min: 1, max: 4 }),
    delay: soon,
    ttl: fc.constantFrom(5, 50),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    timeout: fc.constantFrom(15, 150, Number.POSITIVE_INFINITY),
    heartbeatTimeout: fc.constantFrom(0, 20),
    backoff: fc.record({ type: fc.constant('fixed' as const), delay: soon }),
    unique: fc.record({ key: someKey, onConflict: fc.constantFrom('skip', 'replace', 'reschedule', 'error') }),
    idempotencyKey: someKey,
    idempotencyTtl: soon,
    tags: fc.constant(['t']),
    keep: fc.constantFrom(0, 10, 1e9),
  },
  { requiredKeys: ['name', 'data'] },
) as fc.Arbitrary<NewJob>

const jobs = fc.array(newJob, { minLength: 1, maxLength: 4 })
const changes = fc.record(
  {
    data: fc.string({ maxLength: 30 }),
    priority: fc.constantFrom(-1, 0, 1),
    weight: fc.integer({ min: 1, max: 4 }),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    timeout: fc.constantFrom(5, 1e6, Number.POSITIVE_INFINITY),
    backoff: fc.constant({ type: 'fixed', delay: 3 }),
    checkpoint: fc.constant('c'),
    tags: fc.subarray(['t', 'u']),
  },
  { requiredKeys: [] },
)

type Step =
  | { kind: 'enqueue'; jobs: NewJob[] }
  | {
      kind: 'attach'
      session: string
      names: string[]
      queues: string[] | undefined
      min: number
      more: number
      local: boolean
      abortGrace: number
      holds: 'all' | 'none' | 'wrong'
    }
  | { kind: 'session'; op: 'drain' | 'leave'; session: string }
  | { kind: 'renew' }
  | {
      kind: 'run'
      op: 'complete' | 'fail' | 'snooze' | 'giveBack' | 'heartbeat' | 'checkpoint' | 'progress' | 'log'
      pick: number
      off: number
      retry: number | false | undefined
      enqueues: NewJob[] | undefined
    }
  | { kind: 'job'; op: 'cancel' | 'update' | 'retry' | 'runNow' | 'delete'; pick: number; changes: object; runAt: number | undefined }
  | { kind: 'redrive'; name: string | undefined; queue: string | undefined; limit: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('enqueue' as const), jobs }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('attach' as const),
      session: fc.constantFrom(...SESSIONS),
      names: fc.subarray([...NAMES], { minLength: 1 }),
      queues: fc.option(fc.subarray(['q1', 'q2', 'default']), { nil: undefined, freq: 3 }),
      min: fc.integer({ min: 1, max: 3 }),
      more: fc.integer({ min: 0, max: 3 }),
      local: fc.boolean(),
      abortGrace: fc.constantFrom(0, 10),
      holds: fc.constantFrom('all', 'none', 'wrong'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('session' as const),
      op: fc.constantFrom('drain', 'leave'),
      session: fc.constantFrom(...SESSIONS),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'renew' as const }) },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      op: fc.constantFrom('complete', 'complete', 'fail', 'fail', 'snooze', 'giveBack', 'heartbeat', 'checkpoint', 'progress', 'log'),
      pick: fc.nat(30),
      off: fc.constantFrom(0, 0, 0, 0, 0, 1, -1),
      retry: fc.constantFrom(0, 20, false, undefined),
      enqueues: fc.option(jobs, { nil: undefined, freq: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('job' as const),
      op: fc.constantFrom('cancel', 'update', 'retry', 'runNow', 'delete'),
      pick: fc.nat(30),
      changes,
      runAt: fc.option(soon, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('redrive' as const),
      name: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
      queue: fc.option(fc.constantFrom('q1', 'q2'), { nil: undefined }),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
) as fc.Arbitrary<Step>

const turn = fc.record({
  steps: fc.array(step, { maxLength: 5 }),
  /** Before the turn. */
  pass: fc.constantFrom(0, 0, 0, 1, 10, 30, 200),
  /** Whether the turns that follow at once are taken too, before the next mail. */
  settle: fc.boolean(),
  pruning: fc.constantFrom(false, false, true),
  draining: fc.constantFrom(false, false, false, false, true),
  /** A crash before the turn, and who survives it. */
  crash: fc.option(fc.subarray([...SESSIONS]), { nil: undefined, freq: 8 }),
})

const settings = fc.record({
  recovery: fc.constantFrom('immediate', 'backoff') as fc.Arbitrary<'immediate' | 'backoff'>,
  retention: fc.record({
    completed: fc.record({ ageMs: fc.constantFrom(0, 20, 1e6), count: fc.constantFrom(0, 2, 100) }),
    failed: fc.record({ ageMs: fc.constantFrom(0, 1e6, 1e6), count: fc.constantFrom(1, 100) }),
    cancelled: fc.record({ ageMs: fc.constantFrom(0, 20, 1e6), count: fc.constantFrom(2, 100) }),
    journal: fc.constant({ ageMs: 1e6, bytes: 1e6 }),
  }),
})

/** What the world outside knows: ids that were answered, runs that were handed out. */
class Outside {
  readonly world: World
  readonly ids: JobKey[] = []
  readonly runs: RunKey[] = []
  readonly #lastRun = new Map<number, number>()
  #renewals = 0

  constructor(world: World) {
    this.world = world
  }

  hear(commands: readonly Command[], { replies, grants }: Turned): void {
    for (const [index, command] of commands.entries()) {
      const reply = replies[index]
      if (reply instanceof Refused) expect(reply.refusal.code).not.toBe('INTERNAL')
      else if (command.op === 'enqueue')
        for (const { seq, node, enqueuedAt } of reply as Enqueued[]) this.ids.push({ seq, node, enqueuedAt })
    }
    for (const { seq, run, data } of grants) {
      expect(run, `run of job ${seq}`).toBeGreaterThan(this.#lastRun.get(seq) ?? 0)
      expect(data, `payload of job ${seq}`).not.toBeUndefined()
      this.#lastRun.set(seq, run)
      this.runs.push({ seq, run })
    }
  }

  commandOf(step: Step): Command | undefined {
    switch (step.kind) {
      case 'enqueue':
        return { op: 'enqueue', jobs: step.jobs }
      case 'attach': {
        const { session, names, queues, min, more, local, abortGrace } = step
        const held = this.#held(session).filter(() => step.holds !== 'none')
        return attaching(
          session,
          names,
          {
            ...(queues !== undefined && { queues }),
            minConcurrency: min,
            maxConcurrency: min + more,
            abortGrace,
            local,
          },
          step.holds === 'wrong' ? held.map(({ seq, run }) => ({ seq, run: run + 1 })) : held,
        )
      }
      case 'session':
        return { op: step.op, session: step.session }
      case 'renew':
        return { op: 'renew', renewal: ++this.#renewals }
      case 'redrive': {
        const { name, queue, limit } = step
        return { op: 'redrive', limit, ...(name !== undefined && { name }), ...(queue !== undefined && { queue }) }
      }
      case 'job': {
        const id = this.ids[step.pick % this.ids.length]
        if (id === undefined) return undefined
        if (step.op !== 'update') return { op: step.op, id }
        const runAt = step.runAt === undefined ? {} : { runAt: this.world.now.wall + step.runAt }
        return { op: 'update', id, changes: { ...step.changes, ...runAt } }
      }
      case 'run': {
        const granted = this.runs[this.runs.length - 1 - (step.pick % this.runs.length)]
        if (granted === undefined) return undefined
        return runCommand(step, { seq: granted.seq, run: granted.run + step.off })
      }
    }
  }

  #held(session: string): RunKey[] {
    const { sessions, unattached } = this.world.tables
    return [...(sessions.get(session)?.jobs ?? unattached.get(session)?.jobs ?? [])].map(({ seq, run }) => ({ seq, run }))
  }
}

function runCommand({ op, retry, enqueues }: Step & { kind: 'run' }, run: RunKey): Command {
  switch (op) {
    case 'complete':
      return { op, ...run, output: 'out', ...(enqueues !== undefined && { enqueues }) }
    case 'fail':
      return { op, ...run, error: ERROR, ...(retry !== undefined && { retry }) }
    case 'snooze':
      return { op, ...run, delay: retry === false || retry === undefined ? 5 : retry }
    case 'checkpoint':
      return { op, ...run, value: 'checkpoint' }
    case 'progress':
      return { op, ...run, fraction: 0.5 }
    case 'log':
      return { op, ...run, lines: Array.from({ length: 3 }, () => ({ at: 1, level: 'info', message: 'm' })) }
    default:
      return { op, ...run }
  }
}

test('18: the tables are a function of the store after any sequence of events, and in the end every job is final', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40, size: 'max' }), settings, (turns, settings) => {
      const world = new World({ settings })
      const outside = new Outside(world)
      for (const { steps, pass, settle, pruning, draining, crash } of turns) {
        if (crash !== undefined) world.reload(...crash)
        world.pass(pass)
        world.refusing = draining ? { code: 'DISK_FULL', message: 'full' } : undefined
        const commands = steps.flatMap((step) => outside.commandOf(step) ?? [])
        // One slice at a time prunes: a turn without the rest of its slices is a turn too.
        world.pruning = pruning ? world.settings.retention : undefined
        if (!settle) outside.hear(commands, world.turn(...commands))
        else {
          const turned = world.turn(...commands)
          world.pruning = undefined
          outside.hear(commands, turned)
          outside.hear([], world.run())
        }
      }
      world.pruning = undefined
      world.refusing = undefined
      heal(world, outside)
    }),
    { numRuns: runs(400) },
  )
})

/** Every session leaves, one healthy worker comes: all that lives ends within a bounded time. */
function heal(world: World, outside: Outside): void {
  outside.hear([], world.run(...SESSIONS.map((session) => ({ op: 'leave', session }) as const)))
  const attach = attaching('healer', NAMES, { maxConcurrency: 2, minConcurrency: 2 })
  const first = world.run(attach)
  outside.hear([attach], first)
  let { grants } = first
  for (let round = 0; round < 400; round++) {
    const commands = grants.map(({ seq, run }) => ({ op: 'complete', seq, run, output: null }) as const)
    world.pass(grants.length === 0 ? 10_000 : 1)
    const turned = world.run(...commands)
    expect(turned.replies.map(codeOf)).toEqual(commands.map(() => undefined))
    outside.hear(commands, turned)
    grants = turned.grants
    if (grants.length === 0 && ![...world.store.rows.values()].some((row) => isLive(row.state))) return
  }
  const stuck = [...world.store.rows.values()].filter((row) => isLive(row.state))
  throw new Error(`never final: ${JSON.stringify(stuck)}`)
}
