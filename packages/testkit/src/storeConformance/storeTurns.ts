/**
 * Real turns over any store, without an engine: commands go in, time is a number that a test moves. After every turn the tables are
 * compared with those that the store would load.
 */
import { systemCalendar } from '@millrace/client/calendar'
import {
  type Command,
  type CommandOf,
  type Data,
  DEFAULT_RETENTION,
  type Enqueued,
  type ErrorCode,
  type FlowNode,
  type JobKey,
  LIMITS,
  type NewJob,
  type Now,
  type Operation,
  type Refusal,
  Refused,
  type ReplyOf,
  type Retention,
  type RunError,
  type RunKey,
  type SessionIntro,
} from '@millrace/core'
import {
  type Effects,
  type JobRow,
  type Lane,
  loadTables,
  type NameAndKey,
  nextTurnMs,
  type Settings,
  type Tables,
  type TurnParts,
  takeTurn,
} from '@millrace/core/kernel'
import { expect } from 'vitest'
import { sessionIntro } from '../probe.ts'
import { tableFacts } from '../rebuilt.ts'
import { type Image, imageOf, type Known, type TestedStore, UNBOUNDED } from './image.ts'

/** A run as its worker got it. */
export interface Granted extends RunKey {
  readonly name: string
  readonly data: Data | undefined
  readonly checkpoint: Data
}

export interface Turned {
  readonly replies: readonly unknown[]
  readonly granted: readonly Granted[]
}

export const ERROR: RunError = { name: 'TypeError', message: 'no', stack: 'TypeError: no\n    at there' }

const BEGIN_WALL = Date.UTC(2030, 0, 1)
/** Turns that follow one another at once; more mean that nothing comes of them. */
const TURNS_MAX = 300

export class StoreTurns {
  store: TestedStore
  now: Now = { wall: BEGIN_WALL, mono: 1_000 }
  tables: Tables
  /** The retention by which the next turn prunes; undefined if it does not. */
  pruning: Retention | undefined
  /** Adds to the effects of the next turn. */
  addEffects: ((effects: Effects) => void) | undefined
  refusing: Refusal | undefined
  connection = 1
  readonly #parts: Omit<TurnParts, 'store'>
  readonly #keys = new Map<string, NameAndKey>()
  readonly #sources = new Set<string>()

  constructor(store: TestedStore, settings: Partial<Settings> = {}) {
    this.store = store
    const note = (_facts: unknown, effects: Effects) => this.addEffects?.(effects)
    this.#parts = {
      clock: { read: () => this.now },
      random: () => 0.5,
      settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar, ...settings },
      upkeep: { pruning: () => this.pruning, note },
    }
    this.tables = loadTables(store, new Set(), this.now)
  }

  /** Takes one turn. */
  turn(...commands: readonly Command[]): Turned {
    const { tables, store, now, connection, refusing } = this
    const mail = commands.map((command, index) => ({ connection, request: { id: index + 1, command } }))
    const { decisions, effects } = takeTurn({ ...this.#parts, store }, { tables, mail, now, heardMono: now.mono, refusing })
    this.addEffects = undefined
    const granted = effects.grants.map((job): Granted => {
      const { seq, run, lane, data, checkpoint } = job
      return { seq, run, name: lane.name, data, checkpoint }
    })
    for (const job of effects.grants) job.data = undefined
    for (const { name, key } of [...effects.idempotency, ...effects.uniqueHeld]) this.#keys.set(`${name} ${key}`, { name, key })
    for (const { source } of effects.sourceOffsets) this.#sources.add(source)
    this.expectLoaded()
    return { replies: decisions, granted }
  }

  /** Takes a turn, and those that follow from it at once. */
  run(...commands: readonly Command[]): Turned {
    const turns = [this.turn(...commands)]
    while (nextTurnMs(this.tables, this.now) === 0) {
      if (turns.length > TURNS_MAX) throw new Error('it is always time for another turn, and nothing comes of it')
      turns.push(this.turn())
    }
    return { replies: (turns[0] as Turned).replies, granted: turns.flatMap(({ granted }) => granted) }
  }

  /** Moves both clocks forward, without a turn. */
  pass(ms: number): void {
    this.now = { wall: this.now.wall + ms, mono: this.now.mono + ms }
  }

  /** Moves both clocks forward, and takes the turns that are then due. */
  after(ms: number): Turned {
    this.pass(ms)
    return this.run()
  }

  /** Builds the tables again, as after a crash of the process. `alive` are the sessions that may come back. */
  reload(...alive: readonly string[]): void {
    this.now = { wall: this.now.wall, mono: 5 }
    this.tables = loadTables(this.store, new Set(alive), this.now)
  }

  /** Fails if the tables differ from those that the store would load. */
  expectLoaded(): void {
    const { tables, store } = this
    const loaded = loadTables(store, new Set(), { wall: 0, mono: 0 })
    expect(tableFacts(loaded)).toEqual(tableFacts(tables))
    expect(lanesOf(loaded)).toEqual(lanesOf(tables))
    expect(loaded.paused).toBe(tables.paused)
  }

  /** Returns what one has to know to ask the store for all that it has. */
  get known(): Known {
    return { keys: [...this.#keys.values()], sources: [...this.#sources], lastSeq: this.tables.nextSeq - 1, at: this.now.wall }
  }

  image(): Image {
    return imageOf(this.store, this.known)
  }

  // Commands.

  /** Returns the reply to a command that is accepted. */
  call<Op extends Operation>(command: CommandOf<Op>): ReplyOf[Op] {
    const [reply] = this.run(command as Command).replies
    if (reply instanceof Refused) throw new Error(`refused: ${reply.refusal.code} ${reply.refusal.message}`)
    return reply as ReplyOf[Op]
  }

  /** Returns the code with which a command is refused; undefined if it is not. */
  refusal(command: Command): ErrorCode | undefined {
    const [reply] = this.run(command).replies
    return reply instanceof Refused ? reply.refusal.code : undefined
  }

  enqueue(name: string, job: Partial<NewJob> = {}): Enqueued {
    return this.enqueueAll({ ...job, name })[0] as Enqueued
  }

  /** Creates jobs in one turn. */
  enqueueAll(...jobs: readonly (Partial<NewJob> & { readonly name: string })[]): readonly Enqueued[] {
    return this.call<'enqueue'>({ op: 'enqueue', jobs: jobs.map((job) => ({ data: null, ...job })) })
  }

  /** Creates a flow: each job with the places of those that it waits for. Returns its jobs in order. */
  flow(...nodes: readonly (Partial<Omit<FlowNode, 'job'>> & { readonly job?: Partial<NewJob> })[]): readonly Enqueued[] {
    const first = this.call<'flow'>({
      op: 'flow',
      nodes: nodes.map(({ job, ref, parents = [], onFailure = 'fail' }, index) => {
        return { ref: ref ?? `n${index}`, job: { name: 'a', data: `${index}`, ...job }, parents, onFailure }
      }),
    })
    return nodes.map((_, index) => ({ ...first, seq: first.seq + index }))
  }

  attach(uuid: string, names: readonly string[], intro: Partial<SessionIntro> = {}): readonly Granted[] {
    const session = sessionIntro(names, { uuid, worker: `worker of ${uuid}`, ...intro })
    return this.run({ op: 'attach', session, held: [] }).granted
  }

  /** Prunes finished jobs as far as retention says, in as many turns as that takes. */
  prune(retention: Partial<Retention>): void {
    const count = () => this.rows().length
    for (let before = Number.POSITIVE_INFINITY; count() < before; ) {
      before = count()
      this.pruning = { ...DEFAULT_RETENTION, ...retention }
      this.turn()
      this.pruning = undefined
      this.run()
    }
  }

  // State.

  /** All jobs, oldest first. */
  rows(): readonly JobRow[] {
    const { rows } = this.store.list({ filter: {}, limit: LIMITS.jobsPerCommand }, UNBOUNDED)
    return rows.toReversed()
  }

  row({ seq }: { readonly seq: number }): JobRow {
    const [row] = this.store.jobs([seq])
    if (row === undefined) throw new Error(`there is no job ${seq}`)
    return row
  }

  lane(name: string, queue = 'default'): Lane {
    const lane = [...this.tables.lanesById.values()].find((each) => each.name === name && each.queue.name === queue)
    if (lane === undefined) throw new Error(`there is no lane ${queue}/${name}`)
    return lane
  }
}

export function keyOf({ seq, node, enqueuedAt }: JobKey): JobKey {
  return { seq, node, enqueuedAt }
}

function lanesOf({ lanesById }: Tables) {
  return [...lanesById.values()]
    .map(({ id, name, queue, paused, counts, totals, retrying }) => ({ id, name, queue: queue.name, paused, counts, totals, retrying }))
    .sort((a, b) => a.id - b.id)
}
