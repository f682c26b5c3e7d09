/**
 * An engine without threads, sockets or disk. It takes whole turns over a MemoryStore, as the engine's actor does, and its time
 * is a number that tests move. After every turn the tables are compared with the store (audit.ts).
 */

import type { Now } from '../clock.ts'
import type { AttachCommand, EnqueueCommand, NewJob, RunKey, SessionIntro } from '../commands.ts'
import { type DEFERRED, type Decision, Refused } from '../decision.ts'
import type { ErrorCode, Refusal } from '../errors.ts'
import type { JobEventType, SystemEventBody } from '../events.ts'
import type { JobKey } from '../id.ts'
import type { Data } from '../job.ts'
import type { Effects, EventNote, InboxEffects, NoticeNote } from '../kernel/effects.ts'
import { attemptOf, type Job } from '../kernel/jobs/job.ts'
import { loadTables } from '../kernel/load.ts'
import { nextTurnMs } from '../kernel/nextTurn.ts'
import type { JobRow } from '../kernel/rows.ts'
import { forgetHolders, keepHolders } from '../kernel/sessions/holders.ts'
import type { Tables } from '../kernel/tables.ts'
import { type TurnParts, takeTurn } from '../kernel/takeTurn.ts'
import type { Settings } from '../kernel/turn.ts'
import { STATES, type State } from '../lifecycle.ts'
import type { Command, CommandOf, Operation, ReplyOf } from '../operations.ts'
import type { AttachReply, Enqueued } from '../replies.ts'
import { DEFAULT_RETENTION } from '../retention.ts'
import { audit } from './audit.ts'
import { MemoryStore } from './memoryStore.ts'
import { plainCalendar } from './plainCalendar.ts'

/** A hand-out as its session sees it. */
export interface Granted extends RunKey {
  readonly session: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
  readonly data: Data | undefined
  readonly checkpoint: Data
}

export type Noticed = RunKey & NoticeNote & { readonly session: string }

/** The results of one turn, or of several. */
export interface Turned {
  readonly replies: readonly Decision<Operation>[]
  readonly grants: readonly Granted[]
  readonly notices: readonly Noticed[]
  /** Sessions that hear that their worker stops. */
  readonly stops: readonly string[]
  /** Events of jobs. */
  readonly events: readonly { readonly type: JobEventType; readonly seq: number; readonly run: number; readonly attempt: number }[]
  /** The entries that leave the store's inbox in the first turn; undefined if none does. */
  readonly inbox: InboxEffects | undefined
  readonly systemEvents: readonly SystemEventBody[]
}

export interface WorldOptions {
  readonly settings?: Partial<Settings>
  readonly random?: () => number
  readonly store?: MemoryStore
  /** False for tests of single functions, which may do without. All others are audited after every turn. */
  readonly audited?: boolean
}

/** A store in another process answers each round in one round trip: matching jobs, their keys, the holders of these; arrivals. */
const ROUNDS_MAX = 4

const BEGIN_WALL = Date.UTC(2030, 0, 1)

export class World {
  readonly store: MemoryStore
  readonly settings: Settings
  readonly #parts: TurnParts
  readonly #audited: boolean
  now: Now = { wall: BEGIN_WALL, mono: 1_000 }
  tables: Tables
  /** The refusal of new work, as if the disk were full. */
  refusing: Refusal | undefined
  /** The connection that commands come by. */
  connection = 1
  /** True if the connection broke while commands were on their way. */
  gone = false
  /** The names of the jobs whose runs were interrupted so far. */
  readonly interrupted: string[] = []
  /** True if the next turn prunes. */
  pruning = false
  /** Adds to the effects of each turn. */
  addEffects: ((effects: Effects) => void) | undefined

  constructor({ settings, random = () => 0.5, store = new MemoryStore(), audited = true }: WorldOptions = {}) {
    this.store = store
    this.settings = { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: plainCalendar, ...settings }
    const upkeep = {
      pruning: () => (this.pruning ? this.settings.retention : undefined),
      note: (_facts: unknown, effects: Effects) => this.addEffects?.(effects),
    }
    this.#parts = { store, clock: { read: () => this.now }, random, settings: this.settings, upkeep }
    this.#audited = audited
    this.tables = loadTables(store, new Set(), this.now)
  }

  /** Takes one turn. */
  turn(...commands: readonly Command[]): Turned {
    const { tables, store, now, connection, gone, refusing } = this
    store.rounds.length = 0
    const mail = commands.map((command, index) => ({ connection, gone, request: { id: index + 1, command } }))
    const { decisions, effects } = takeTurn(this.#parts, { tables, mail, now, heardMono: now.mono, refusing })
    const turned = {
      replies: decisions,
      grants: effects.grants.map(grantOf),
      notices: effects.notices.map(({ session, job, run, note }) => ({ ...note, session: session.intro.uuid, seq: job.seq, run })),
      stops: effects.stops.map(({ intro }) => intro.uuid),
      events: effects.events
        .filter((note): note is EventNote => note.job !== undefined)
        .map(({ type, job, run, attempt }) => ({ type, seq: job.seq, run, attempt })),
      inbox: effects.inboxEffects,
      systemEvents: effects.events.flatMap((note) => (note.job === undefined ? [note.body] : [])),
    }
    this.interrupted.push(...effects.interrupted.map(({ name }) => name))
    forgetHolders(tables)
    for (const job of effects.grants) job.data = undefined
    if (this.#audited) audit(store, tables)
    if (store.rounds.length > ROUNDS_MAX)
      throw new Error(`a turn asked its store ${store.rounds.length} times: ${store.rounds.join(' | ')}`)
    return turned
  }

  /** Takes a turn, and those that follow from it at once. */
  run(...commands: readonly Command[]): Turned {
    const turns = [this.turn(...commands)]
    while (nextTurnMs(this.tables, this.now) === 0) {
      if (turns.length > 200) throw new Error('the engine spins: it is always time for another turn, and nothing comes of it')
      turns.push(this.turn())
    }
    return {
      replies: (turns[0] as Turned).replies,
      grants: turns.flatMap((turned) => turned.grants),
      notices: turns.flatMap((turned) => turned.notices),
      stops: turns.flatMap((turned) => turned.stops),
      events: turns.flatMap((turned) => turned.events),
      inbox: turns[0]?.inbox,
      systemEvents: turns.flatMap((turned) => turned.systemEvents),
    }
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

  /** Builds the tables again, as after a crash. `alive` are the sessions that may come back. */
  reload(...alive: readonly string[]): void {
    this.now = { wall: this.now.wall, mono: 5 }
    this.tables = loadTables(this.store, new Set(alive), this.now)
  }

  /** Builds the tables again, as after a commit that failed. The connections stay those from before. */
  failCommit(...alive: readonly string[]): void {
    const before = this.tables
    this.reload(...alive)
    keepHolders(this.tables, before)
  }

  // Commands.

  reply<Op extends Operation>(command: CommandOf<Op>): ReplyOf[Op] | Refused | typeof DEFERRED {
    return this.run(command as Command).replies[0] as ReplyOf[Op] | Refused | typeof DEFERRED
  }

  /** Returns the reply to a command that is accepted. */
  call<Op extends Operation>(command: CommandOf<Op>): ReplyOf[Op] {
    const reply = this.reply(command as never)
    if (reply instanceof Refused) throw new Error(`refused: ${reply.refusal.code} ${reply.refusal.message}`)
    return reply as ReplyOf[Op]
  }

  /** Returns the code with which a command is refused, or undefined if it is not. */
  refusal(command: Command): ErrorCode | undefined {
    const reply = this.reply(command as never)
    return reply instanceof Refused ? reply.refusal.code : undefined
  }

  enqueue(name: string, job: Partial<NewJob> = {}): Enqueued {
    const [enqueued] = this.call<'enqueue'>({ op: 'enqueue', jobs: [{ data: null, ...job, name }] })
    return enqueued as Enqueued
  }

  attach(uuid: string, names: readonly string[], intro: Partial<SessionIntro> = {}, held: readonly RunKey[] = []): AttachReply {
    return this.call<'attach'>(attaching(uuid, names, intro, held))
  }

  // State.

  row({ seq }: { readonly seq: number }): JobRow {
    const row = this.store.rows.get(seq)
    if (row === undefined) throw new Error(`there is no job ${seq}`)
    return row
  }

  stateOf(job: { readonly seq: number }): State | 'gone' {
    const row = this.store.rows.get(job.seq)
    return row === undefined ? 'gone' : STATES[row.state]
  }

  attemptOf(job: { readonly seq: number }): number {
    const { run, uncounted } = this.row(job)
    return run - uncounted
  }
}

export function attaching(
  uuid: string,
  names: readonly string[],
  intro: Partial<SessionIntro> = {},
  held: readonly RunKey[] = [],
): AttachCommand {
  return {
    op: 'attach',
    session: {
      uuid,
      worker: `worker of ${uuid}`,
      host: 'here',
      pid: 1,
      local: true,
      handlers: names.map((name) => ({ name, defaults: {} })),
      minConcurrency: 100,
      maxConcurrency: 100,
      abortGrace: 30_000,
      ...intro,
    },
    held,
  }
}

export function enqueueing(...jobs: readonly (Partial<NewJob> & { readonly name: string })[]): EnqueueCommand {
  return { op: 'enqueue', jobs: jobs.map((job) => ({ data: null, ...job })) }
}

export function keyOfJob({ seq, node, enqueuedAt }: JobKey): JobKey {
  return { seq, node, enqueuedAt }
}

export function codeOf(reply: unknown): ErrorCode | undefined {
  return reply instanceof Refused ? reply.refusal.code : undefined
}

function grantOf(job: Job): Granted {
  return {
    session: job.session?.intro.uuid ?? '',
    seq: job.seq,
    run: job.run,
    name: job.lane.name,
    queue: job.lane.queue.name,
    attempt: attemptOf(job),
    data: job.data,
    checkpoint: job.checkpoint,
  }
}
