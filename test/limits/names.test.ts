// The processor time of each question follows its answer, and not the number of job names.

import { systemCalendar } from '@millrace/client/calendar'
import {
  type Command,
  type CommandOf,
  DEFAULT_RETENTION,
  type Delivery,
  type JobKey,
  type OfKind,
  type Reply,
  STATES,
  type StateCode,
  traitsOf,
} from '@millrace/core'
import { openReader, openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { seededRandom, sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { Actor } from '../../packages/engine/src/actor/actor.ts'
import { pagesOf } from '../../packages/engine/src/readers/pagesOf.ts'
import type { Paged } from '../../packages/engine/src/readers/readers.ts'
import { temporaryFile } from '../temporary.ts'

const JOBS = 20_000
const CHUNK = 5_000
const FEW = 10
const MANY = JOBS

/** An engine without threads whose jobs have so many names, in one queue, and the reader of its file. */
class World {
  readonly actor: Actor
  readonly page: (command: CommandOf<Paged>) => unknown
  job: JobKey = { seq: 0, node: 0, enqueuedAt: 0 }
  /** The name of one of the newest jobs: a list that looks for it goes through few. */
  readonly name: string
  readonly #connection: number
  readonly #started: { readonly seq: number; readonly run: number }[] = []
  #replies: Reply[] = []
  #request = 0

  constructor(names: number) {
    const clock = new VirtualClock()
    const random = seededRandom(3)
    const file = temporaryFile()
    const store = openStore({ file, durability: 'normal', random, now: clock.read().wall, host: 'host', pid: 1 })
    const settings = { recovery: 'immediate' as const, retention: DEFAULT_RETENTION, calendar: systemCalendar }
    this.actor = new Actor({ store, clock, random, settings, alive: new Set() })
    this.#connection = this.actor.connect(({ grants, replies }: Delivery) => {
      this.#started.push(...grants)
      this.#replies.push(...replies)
    })
    this.name = `n${(JOBS - 2) % names}`
    this.#fill(names)
    const reader = openReader(file)
    this.page = pagesOf(() => reader)
    onTestFinished(() => {
      reader.close()
      store.close()
    })
  }

  /** Returns the first reply. */
  ask(...commands: readonly Command[]): Reply | undefined {
    this.#replies = []
    this.actor.receive(
      this.#connection,
      commands.map((command) => ({ id: ++this.#request, command })),
    )
    while (this.actor.turn() === 0);
    return this.#replies[0]
  }

  /** Enqueues jobs, a tenth of them for later; of these completes, fails and leaves running a few, and attaches nobody to the rest. */
  #fill(names: number): void {
    const jobs = Array.from({ length: JOBS }, (_, index) => ({
      name: `n${index % names}`,
      data: null,
      maxAttempts: 1,
      ...(index % 10 === 9 && { delay: 3_600_000 }),
      ...(index % 100 === 7 && { tags: ['t'] }),
    }))
    for (let from = 0; from < JOBS; from += CHUNK) this.ask({ op: 'enqueue', jobs: jobs.slice(from, from + CHUNK) })
    const intro = { ...sessionIntro(jobs.slice(0, names).map(({ name }) => name)), minConcurrency: 300, maxConcurrency: 300 }
    this.ask({ op: 'attach', session: intro, held: [] })
    const started = this.#started.splice(0)
    const { seq } = started.at(-1) as { readonly seq: number }
    this.job = { seq, node: this.actor.tables.node, enqueuedAt: 0 }
    this.ask({ op: 'drain', session: intro.uuid } as Command)
    for (const { seq, run } of started.slice(0, 100)) this.ask({ op: 'complete', seq, run, output: null })
    const error = { name: 'Error', message: 'declined' }
    for (const { seq, run } of started.slice(100, 200)) this.ask({ op: 'fail', seq, run, error } as Command)
  }
}

type Of<Op extends OfKind<'question'>> = (world: World) => readonly Omit<CommandOf<Op>, 'op'>[]

/** The ways to ask each question; a sentence if its cost cannot depend on names. */
const ASKED: { readonly [Op in OfKind<'question'>]: Of<Op> | string } = {
  list: ({ name }) => [
    ...[{}, { queue: 'default' }, { queue: 'none' }, { name }, { name: 'none' }, { tag: 't' }, { error: 'Error' }, { retrying: true }]
      .concat([...STATES.keys()].flatMap((state) => [{ state }, { state, name }, { state, queue: 'default' }]) as never)
      .map((filter) => ({ filter, limit: 1 })),
    { filter: {}, limit: 1, ascending: true },
    { filter: { state: STATES.indexOf('scheduled') as StateCode }, limit: 1, order: 'due' as const },
    ...(['completed', 'failed', 'cancelled'] as const).map((state) => ({
      filter: { state: STATES.indexOf(state) as StateCode },
      limit: 1,
      order: 'finished' as const,
    })),
  ],
  get: ({ job: id }) => [{ id }],
  getByKey: () => [{ of: { kind: 'unique', name: 'n7', key: 'k' } }],
  logs: ({ job: id }) => [{ id, limit: 1 }],
  steps: ({ job: id }) => [{ id, after: 0, limit: 1 }],
  explain: ({ job: id }) => [{ id }],
  getFlow: ({ job: id }) => [{ id, limit: 1 }],
  listFlows: () => [{ limit: 1 }],
  queues: () => [{}, { queue: 'default' }, { limit: 1 }],
  queueKeys: () => [{ queue: 'default', limit: 1 }],
  stats: () => [{}, { names: 'none', definitions: 'disputed' }],
  exports: () => [{}],
  history: () => [
    { queue: 'default', step: 'minute', from: 0 },
    { queue: '', step: 'minute', from: 0, busiest: 1 },
  ],
  failures: () => [{}, { queue: 'default' }, { name: 'n7' }, { order: 'count' as const }].map((of) => ({ ...of, limit: 1 })),
  getSchedule: () => [{ id: 'none', times: 1 }],
  listSchedules: () => [{ prefix: '', limit: 1 }],
  workers: 'it lists the names that each worker serves',
  parents: 'it reads the jobs of one flow',
  recorded: 'it reads the results of one job',
  watch: 'it waits for the end of one job',
  unwatch: 'it reads nothing',
  subscribe: 'it reads nothing',
  events: 'it reads the journal from a place on',
  backup: 'it copies the file',
}

/** These look at the counters of each name, because they choose or add up: a microsecond a name at most, and for each that they list. */
const LOOKING_AT_ALL: ReadonlySet<string> = new Set(['stats', 'queues', 'history'])
const LOOK_US = 1
/** Times below this are noise. */
const NOISE_US = 1_000
const RATIO = 4

/** Returns the processor time of a call in microseconds: the least of some, because the machine has other work. */
function timeOf(call: () => unknown): number {
  const times = Array.from({ length: 6 }, () => {
    const before = process.cpuUsage()
    call()
    const { user, system } = process.cpuUsage(before)
    return user + system
  })
  return Math.min(...times)
}

test(`${MANY} names cost a question no more than ${FEW}`, { timeout: 120_000 }, () => {
  const few = new World(FEW)
  const many = new World(MANY)
  const dear: string[] = []
  // A worker serves all names, and each turn looks at them: the cost of an empty turn is not that of the question.
  const turns = timeOf(() => many.ask({ op: 'exports' }))
  for (const [op, forms] of Object.entries(ASKED)) {
    if (typeof forms === 'string') continue
    const asked = (world: World) => forms(world).map((form) => ({ ...form, op }) as Command)
    for (const [index, command] of asked(many).entries()) {
      const ways = [(world: World) => world.ask(asked(world)[index] as Command)]
      if (traitsOf(command.op).isForReaders?.(command))
        ways.push((world) => world.page(asked(world)[index] as CommandOf<Paged>) as undefined)
      for (const [way, ask] of ways.entries()) {
        const [less, more] = [few, many].map((world) => timeOf(() => ask(world))) as [number, number]
        const own = LOOKING_AT_ALL.has(op) ? LOOK_US * MANY : 0
        const bound = RATIO * less + NOISE_US + own + (way === 0 ? 2 * turns : 0)
        if (more > bound) dear.push(`${JSON.stringify(command)} ${way === 0 ? 'writer' : 'reader'}: ${less} µs, with more names ${more} µs`)
      }
    }
  }
  expect(dear).toEqual([])
})
