/**
 * Real turns over any store, without an engine: commands go in, time is a number that a test moves. After every turn the tables are
 * compared with those that the store would load.
 */
import { systemCalendar } from '@millrace/client/calendar'
import {
  type AttachReply,
  type Command,
  type CommandOf,
  type Data,
  DEFAULT_RETENTION,
  type DEFERRED,
  type Enqueued,
  type ErrorCode,
  type FlowNode,
  type JobEventType,
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
  STATES,
  type State,
  type SystemEventBody,
} from '@millrace/core'
import {
  attemptOf,
  type Effects,
  type EventNote,
  forgetHolders,
  type InboxEffects,
  type Job,
  type JobRow,
  keepHolders,
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
import { rebuilt, tableFacts } from '../rebuilt.ts'
import { type Image, imageOf, type Known, type TestedStore, UNBOUNDED } from './image.ts'

type Answer<Op extends Operation> = ReplyOf[Op] | Refused | typeof DEFERRED

/** A hand-out as its session sees it. */
export interface Granted extends RunKey {
  readonly session: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
  readonly data: Data | undefined
  readonly checkpoint: Data
}

export type Noticed = RunKey & Effects['notices'][number]['note'] & { readonly session: string }

/** The results of one turn, or of several. */
export interface Turned {
  readonly replies: readonly Answer<Operation>[]
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

/** A job to create. */
export type TestJob = Partial<NewJob> & { readonly name: string }

/** A created job for each job that was asked for, so that a test names them by destructuring. */
export type OneOfEach<Wanted extends readonly unknown[]> = { -readonly [Index in keyof Wanted]: Enqueued }

/** A job of a flow, with the places of those that it waits for. */
export type TestNode = Partial<Omit<FlowNode, 'job'>> & { readonly job?: Partial<NewJob> }

export interface TurnOptions {
  readonly settings?: Partial<Settings>
  readonly random?: () => number
}

export const ERROR: RunError = { name: 'TypeError', message: 'no', stack: 'TypeError: no\n    at there' }

const BEGIN_WALL = Date.UTC(2030, 0, 1)
/** Turns that follow one another at once; more mean that nothing comes of them. */
const TURNS_MAX = 300

export class StoreTurns<S extends TestedStore = TestedStore> {
  store: S
  readonly settings: Settings
  now: Now = { wall: BEGIN_WALL, mono: 1_000 }
  tables: Tables
  /** The retention by which turns prune; undefined if they do not. */
  pruning: Retention | undefined
  /** Adds to the effects of the next turn. */
  addEffects: ((effects: Effects) => void) | undefined
  /** The refusal of new work, as if the disk were full. */
  refusing: Refusal | undefined
  /** The connection that commands come by. */
  connection = 1
  /** True if the connection broke while commands were on their way. */
  gone = false
  /** The names of the jobs whose runs were interrupted so far. */
  readonly interrupted: string[] = []
  readonly #parts: Omit<TurnParts, 'store'>
  readonly #keys = new Map<string, NameAndKey>()
  readonly #sources = new Set<string>()

  constructor(store: S, { settings, random = () => 0.5 }: TurnOptions = {}) {
    this.store = store
    this.settings = { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar, ...settings }
    const upkeep = { pruning: () => this.pruning, note: (_facts: unknown, effects: Effects) => this.#addEffects(effects) }
    this.#parts = { clock: { read: () => this.now }, random, settings: this.settings, upkeep }
    this.tables = loadTables(store, new Set(), this.now)
  }

  #addEffects(effects: Effects): void {
    const add = this.addEffects
    this.addEffects = undefined
    add?.(effects)
  }

  /** Takes one turn. */
  turn(...commands: readonly Command[]): Turned {
    const { tables, store, now, connection, gone, refusing } = this
    const mail = commands.map((command, index) => ({ connection, gone, request: { id: index + 1, command } }))
    const { decisions, effects } = takeTurn({ ...this.#parts, store }, { tables, mail, now, heardMono: now.mono, refusing })
    const turned = { replies: decisions, ...turnedOf(effects) }
    this.interrupted.push(...effects.interrupted.map(({ name }) => name))
    for (const { name, key } of [...effects.idempotency, ...effects.uniqueHeld]) this.#keys.set(`${name} ${key}`, { name, key })
    for (const { source } of effects.sourceOffsets) this.#sources.add(source)
    forgetHolders(tables)
    for (const job of effects.grants) job.data = undefined
    this.audit()
    return turned
  }

  /** Takes a turn, and those that follow from it at once. */
  run(...commands: readonly Command[]): Turned {
    const first = this.turn(...commands)
    const turns = [first]
    while (nextTurnMs(this.tables, this.now) === 0) {
      if (turns.length > TURNS_MAX) throw new Error('the engine spins: it is always time for another turn, and nothing comes of it')
      turns.push(this.turn())
    }
    return {
      replies: first.replies,
      grants: turns.flatMap((turned) => turned.grants),
      notices: turns.flatMap((turned) => turned.notices),
      stops: turns.flatMap((turned) => turned.stops),
      events: turns.flatMap((turned) => turned.events),
      inbox: first.inbox,
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

  /** Builds the tables again, as after a crash of the process. `alive` are the sessions that may come back. */
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

  /** Fails if the tables differ from those that the store would load. */
  audit(): void {
    expect(rebuilt(this.store)).toEqual(tableFacts(this.tables))
  }

  /** Returns what one has to know to ask the store for all that it has. */
  get known(): Known {
    return { keys: [...this.#keys.values()], sources: [...this.#sources], lastSeq: this.tables.nextSeq - 1, at: this.now.wall }
  }

  image(): Image {
    return imageOf(this.store, this.known)
  }

  // Commands.

  reply<Op extends Operation>(command: CommandOf<Op>): Answer<Op> {
    return this.run(command as Command).replies[0] as Answer<Op>
  }

  /** Returns the reply to a command that is accepted. */
  call<Op extends Operation>(command: CommandOf<Op>): ReplyOf[Op] {
    const reply = this.reply<Op>(command)
    if (reply instanceof Refused) throw new Error(`refused: ${reply.refusal.code} ${reply.refusal.message}`)
    return reply as ReplyOf[Op]
  }

  /** Returns the code with which a command is refused; undefined if it is not. */
  refusal(command: Command): ErrorCode | undefined {
    return codeOf(this.run(command).replies[0])
  }

  enqueue(name: string, job: Partial<NewJob> = {}): Enqueued {
    return this.enqueueAll({ ...job, name })[0] as Enqueued
  }

  /** Creates jobs in one turn. */
  enqueueAll<const Jobs extends readonly TestJob[]>(...jobs: Jobs): OneOfEach<Jobs> {
    return this.call<'enqueue'>(enqueueing(...jobs)) as OneOfEach<Jobs>
  }

  /** Creates a flow. Returns its jobs in order. */
  flow<const Nodes extends readonly TestNode[]>(nodes: Nodes): OneOfEach<Nodes> {
    const first = this.call<'flow'>(flowOf(nodes))
    return nodes.map((_, index) => ({ ...first, seq: first.seq + index })) as unknown as OneOfEach<Nodes>
  }

  attach(uuid: string, names: readonly string[], intro: Partial<SessionIntro> = {}, held: readonly RunKey[] = []): AttachReply {
    return this.call<'attach'>(attaching(uuid, names, intro, held))
  }

  /** Completes a job that runs, as its worker would. */
  complete(job: Pick<JobKey, 'seq'>, output: Data = null): Turned {
    return this.#accepted({ op: 'complete', ...this.runOf(job), output })
  }

  /** Fails a job that runs, as its worker would. `retry` is a delay in ms, or false for none; by default the job's backoff decides. */
  fail(job: Pick<JobKey, 'seq'>, { error = ERROR, retry }: Partial<Pick<CommandOf<'fail'>, 'error' | 'retry'>> = {}): Turned {
    return this.#accepted({ op: 'fail', ...this.runOf(job), error, ...(retry !== undefined && { retry }) })
  }

  /** Snoozes a job that runs, as its worker would. */
  snooze(job: Pick<JobKey, 'seq'>, delay: number, options: Partial<Pick<CommandOf<'snooze'>, 'pause'>> = {}): Turned {
    return this.#accepted({ op: 'snooze', ...this.runOf(job), delay, ...options })
  }

  /** Gives a job that runs back, as its worker would. */
  giveBack(job: Pick<JobKey, 'seq'>): Turned {
    return this.#accepted({ op: 'giveBack', ...this.runOf(job) })
  }

  /** Cancels a job, for a reason if one is given. */
  cancel(job: Pick<JobKey, 'seq'>, said: Partial<Pick<CommandOf<'cancel'>, 'reason' | 'by'>> = {}): Turned {
    return this.#accepted({ op: 'cancel', id: this.keyOf(job), ...said })
  }

  /** Brings a job back, or starts it before its backoff is over. */
  retry(job: Pick<JobKey, 'seq'>): Turned {
    return this.#accepted({ op: 'retry', id: this.keyOf(job) })
  }

  /** Changes a job. */
  update(job: Pick<JobKey, 'seq'>, changes: CommandOf<'update'>['changes']): Turned {
    return this.#accepted({ op: 'update', id: this.keyOf(job), changes })
  }

  /** Deletes a job. */
  delete(job: Pick<JobKey, 'seq'>): Turned {
    return this.#accepted({ op: 'delete', id: this.keyOf(job) })
  }

  /** Changes the settings of a queue. */
  configure(queue: string, changes: CommandOf<'configure'>['changes']): Turned {
    return this.#accepted({ op: 'configure', queue, changes })
  }

  /** Pauses a queue, or a job name or key in it, for some time if one is given. */
  pause(queue: string, part: Partial<Pick<CommandOf<'pause'>, 'job' | 'key' | 'for'>> = {}): Turned {
    return this.#accepted({ op: 'pause', queue, paused: true, ...part })
  }

  /** Ends a session, as its worker would. */
  leave(session: string): Turned {
    return this.#accepted({ op: 'leave', session })
  }

  #accepted(command: Command): Turned {
    const turned = this.run(command)
    const [reply] = turned.replies
    if (reply instanceof Refused) throw new Error(`${command.op} is refused: ${reply.refusal.code} ${reply.refusal.message}`)
    return turned
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

  stateOf({ seq }: { readonly seq: number }): State | 'gone' {
    const [row] = this.store.jobs([seq])
    return row === undefined ? 'gone' : STATES[row.state]
  }

  /** Returns the key of a job, which its row has. */
  keyOf(job: Pick<JobKey, 'seq'>): JobKey {
    return keyOfJob(this.row(job))
  }

  /** Returns the current run of a job, or its last one. */
  runOf(job: Pick<JobKey, 'seq'>): RunKey {
    const { seq, run } = this.row(job)
    return { seq, run }
  }

  attemptOf(job: { readonly seq: number }): number {
    return attemptOf(this.row(job))
  }

  lane(name: string, queue = 'default'): Lane {
    const lane = [...this.tables.lanesById.values()].find((each) => each.name === name && each.queue.name === queue)
    if (lane === undefined) throw new Error(`there is no lane ${queue}/${name}`)
    return lane
  }
}

export function attaching(
  uuid: string,
  names: readonly string[],
  intro: Partial<SessionIntro> = {},
  held: readonly RunKey[] = [],
): CommandOf<'attach'> {
  const room = { minConcurrency: 100, maxConcurrency: 100 }
  return { op: 'attach', session: sessionIntro(names, { uuid, worker: `worker of ${uuid}`, ...room, ...intro }), held }
}

export function enqueueing(...jobs: readonly TestJob[]): CommandOf<'enqueue'> {
  return { op: 'enqueue', jobs: jobs.map((job) => ({ data: null, ...job })) }
}

export function flowOf(
  nodes: readonly TestNode[],
  options: Pick<CommandOf<'flow'>, 'idempotencyKey' | 'idempotencyTtl'> = {},
): CommandOf<'flow'> {
  return {
    op: 'flow',
    nodes: nodes.map(({ job, ref, parents = [], onFailure = 'fail' }, index) => {
      return { ref: ref ?? `n${index}`, job: { name: 'a', data: `${index}`, ...job }, parents, onFailure }
    }),
    ...options,
  }
}

export function keyOfJob({ seq, node, enqueuedAt }: JobKey): JobKey {
  return { seq, node, enqueuedAt }
}

export function codeOf(reply: unknown): ErrorCode | undefined {
  return reply instanceof Refused ? reply.refusal.code : undefined
}

function turnedOf({ grants, notices, stops, events, inboxEffects }: Effects): Omit<Turned, 'replies'> {
  return {
    grants: grants.map(grantOf),
    notices: notices.map(({ session, job, run, note }) => ({ ...note, session: session.intro.uuid, seq: job.seq, run })),
    stops: stops.map(({ intro }) => intro.uuid),
    events: events
      .filter((note): note is EventNote => note.job !== undefined)
      .map(({ type, job, run, attempt }) => ({ type, seq: job.seq, run, attempt })),
    inbox: inboxEffects,
    systemEvents: events.flatMap((note) => (note.job === undefined ? [note.body] : [])),
  }
}

function grantOf(job: Job): Granted {
  const { seq, run, lane, data, checkpoint } = job
  const session = job.session?.intro.uuid ?? ''
  return { session, seq, run, name: lane.name, queue: lane.queue.name, attempt: attemptOf(job), data, checkpoint }
}
