/**
 * The table of operations: everything that can be asked of the engine, a row each, with all that anybody has to know of it beside how it
 * is decided (kernel/turn/decide.ts) and what it looks like on the wire (its fields, in the wire package). Everything else derives from it:
 * types, scopes, numbers, what a turn and a server may take at a time, who answers.
 */
import { SCOPES, type Scope } from './access/scopes.ts'
import type {
  AdjustCommand,
  AttachCommand,
  BackupCommand,
  CancelCommand,
  CancelTreeCommand,
  CheckpointCommand,
  CompleteCommand,
  DeleteCommand,
  DrainCommand,
  EnqueueCommand,
  EventsCommand,
  FailCommand,
  ForwardCommand,
  GetCommand,
  GiveBackCommand,
  HeartbeatCommand,
  LeaveCommand,
  ListCommand,
  LogCommand,
  LogsCommand,
  NewJob,
  ProgressCommand,
  RedriveCommand,
  RenewCommand,
  RetryCommand,
  RetryTreeCommand,
  RunNowCommand,
  SnoozeCommand,
  StopWorkerCommand,
  SubscribeCommand,
  UnwatchCommand,
  UpdateCommand,
  WatchCommand,
  WorkersCommand,
} from './commands.ts'
import type { ExplainCommand, Explanation } from './explanation.ts'
import type { FlowCommand, GetFlowCommand, JoinCommand, ListFlowsCommand, ParentsCommand } from './flowCommands.ts'
import { type Data, dataBytes } from './job.ts'
import type { ByKeyCommand, GetByKeyCommand } from './keyCommands.ts'
import { ACTIVE } from './lifecycle.ts'
import { LIMITS } from './limits.ts'
import type {
  CancelManyCommand,
  ConfigureCommand,
  DeleteManyCommand,
  DeleteQueueCommand,
  DrainQueueCommand,
  ManyCommand,
  PauseAllCommand,
  PauseCommand,
  QueueKeysCommand,
  QueuesCommand,
  RetryManyCommand,
  RunNowManyCommand,
  UpdateManyCommand,
} from './manageCommands.ts'
import type {
  DeleteExportCommand,
  ExportCommand,
  ExportsCommand,
  FailuresCommand,
  HistoryCommand,
  StatsCommand,
} from './observeCommands.ts'
import { weighJobs } from './options/enqueue.ts'
import { orderConflict } from './options/order.ts'
import type {
  AttachReply,
  Enqueued,
  EventsPage,
  ExportPage,
  ExportView,
  FailureGroup,
  FlowPage,
  FlowsPage,
  Forwarded,
  HistoryOfQueues,
  HistoryPoint,
  JobView,
  ListPage,
  LogsPage,
  Outcome,
  ParentsPage,
  QueueKeys,
  Redriven,
  SchedulePage,
  ScheduleView,
  Slice,
  Upserted,
} from './replies.ts'
import type { RunError } from './runError.ts'
import type {
  DeleteScheduleCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  PauseScheduleCommand,
  ResumeScheduleCommand,
  TriggerScheduleCommand,
  UpsertScheduleCommand,
} from './scheduleCommands.ts'
import type { AttachedWorker, Percentiles, QueueView, Stats } from './stats.ts'
import type { RecordedCommand, SendCommand, StepCommand, StepsCommand, WaitCommand, WaitReply } from './stepCommands.ts'
import type { JobStepsPage, RecordedPage, Sent } from './steps.ts'

/** The jobs and queues that an operation reaches beyond its sender's own runs and sessions, and beside the new jobs that it carries. */
export interface Reach {
  /** Job names; 'all' for any. */
  readonly names?: readonly string[] | 'all'
  /** Queues; 'all' for any. */
  readonly queues?: readonly string[] | 'all'
  /** A scope that allows the same by other operations. */
  readonly or?: Scope
}

interface Traits<C> {
  /** A `command` is decided, and may change something. A `question` changes nothing: the actor answers it after the commit. */
  readonly kind: 'command' | 'question'
  /** Its number on the wire; never given to another operation. */
  readonly code: number
  /** Any one of these allows it. */
  readonly scopes: readonly Scope[]
  /**
   * When its answer comes. `turn`: with the turn that decides it. `after`: after that turn's commit, in a later turn if this one has no
   * time left. `late`: certainly, but it may take long. `openEnded`: when there is something to say, which may be never. The last two
   * take no place among the calls that are under way, and a stop does not wait for the last.
   */
  readonly answered: 'turn' | 'after' | 'late' | 'openEnded'
  /** Returns what it reaches by the scope `work`. Without an answer, it is refused for a token that is bound to names or queues. */
  reach?(command: C): Reach
  /** The source of its answer. `journal`: pages, for which a reader comes back again and again. */
  readonly reads: 'nothing' | 'rows' | 'journal'
  /** New jobs that it carries. */
  newJobs?(command: C): readonly NewJob[]
  /** Payloads that it carries beside those of new jobs, with their names. */
  readonly payloads?: readonly (readonly [what: string, payloadOf: (command: C) => Data | undefined])[]
  /** Roughly the bytes that it carries beside payloads and new jobs. */
  otherBytes?(command: C): number
  /** The number of rows that it may change, if that is not the number of its new jobs. Default 1. */
  rows?(command: C): number
  /** The number of jobs whose payloads its answer may hold. Default 0. */
  jobsRead?(command: C): number
  /** True if a reader thread answers it in place of the writer. */
  isForReaders?(command: C): boolean
}

interface CommandRow<C, R> extends Traits<C> {
  readonly kind: 'command'
  /** Carries types; there is no such value. */
  readonly types?: { readonly command: C; readonly reply: R }
}

interface QuestionRow<C, R> extends Traits<C> {
  readonly kind: 'question'
  readonly types?: { readonly command: C; readonly reply: R }
}

type Row<C> = Pick<Traits<C>, 'code' | 'scopes'> & Partial<Omit<Traits<C>, 'kind'>>

function command<C, R>(row: Row<C>): CommandRow<C, R> {
  return { kind: 'command', answered: 'turn', reads: 'nothing', ...row }
}

function question<C, R>(row: Row<C>): QuestionRow<C, R> {
  return { kind: 'question', answered: 'after', reads: 'rows', ...row }
}

const ENQUEUE: readonly Scope[] = ['enqueue']
const WORK: readonly Scope[] = ['work']
const READ: readonly Scope[] = ['read']
const ADMIN: readonly Scope[] = ['admin']
const SEND: readonly Scope[] = ['send']

/** Runs and sessions that the sender holds. The kernel refuses all others. */
const OWN = () => ({})

const many = <C extends ManyCommand>(code: number) =>
  command<C, Slice>({ code, scopes: ADMIN, rows: ({ limit }) => Math.min(limit, LIMITS.sliceRows) })

export const OPERATIONS = {
  enqueue: command<EnqueueCommand, readonly Enqueued[]>({ code: 1, scopes: ENQUEUE, newJobs: ({ jobs }) => jobs }),
  forward: command<ForwardCommand, Forwarded>({
    code: 28,
    scopes: ENQUEUE,
    newJobs: ({ entries }) => entries.flatMap(({ jobs }) => jobs),
  }),
  flow: command<FlowCommand, Enqueued>({
    code: 56,
    scopes: ENQUEUE,
    newJobs: ({ nodes }) => nodes.map(({ job }) => job),
    otherBytes: ({ nodes }) => nodes.reduce((bytes, { ref, parents }) => bytes + ref.length + 4 * parents.length, 0),
  }),

  attach: command<AttachCommand, AttachReply>({
    code: 2,
    scopes: WORK,
    reach: ({ session: { handlers, queues } }) => ({ names: handlers.map(({ name }) => name), queues: queues ?? 'all' }),
  }),
  adjust: command<AdjustCommand, true>({ code: 75, scopes: WORK, reach: OWN }),
  drain: command<DrainCommand, true>({ code: 3, scopes: WORK, reach: OWN }),
  leave: command<LeaveCommand, true>({ code: 4, scopes: WORK, reach: OWN }),
  renew: command<RenewCommand, true>({ code: 5, scopes: WORK, reach: OWN }),
  stopWorker: command<StopWorkerCommand, true>({ code: 68, scopes: ADMIN }),
  workers: question<WorkersCommand, readonly AttachedWorker[]>({ code: 24, scopes: READ }),

  complete: command<CompleteCommand, true>({
    code: 6,
    scopes: WORK,
    reach: OWN,
    newJobs: ({ enqueues = NO_JOBS }) => enqueues,
    payloads: [['output', ({ output }) => output]],
  }),
  fail: command<FailCommand, true>({ code: 7, scopes: WORK, reach: OWN, otherBytes: ({ error }) => errorBytes(error) }),
  snooze: command<SnoozeCommand, true>({
    code: 8,
    scopes: WORK,
    // A pause of the queue, or of a key in it, holds jobs of any name.
    reach: ({ pause = 'name' }) => (pause === 'name' ? {} : { names: 'all', or: 'admin' }),
  }),
  join: command<JoinCommand, true>({ code: 78, scopes: WORK, reach: OWN, newJobs: ({ jobs }) => jobs }),
  giveBack: command<GiveBackCommand, true>({ code: 9, scopes: WORK, reach: OWN }),
  step: command<StepCommand, true>({
    code: 81,
    scopes: WORK,
    reach: OWN,
    payloads: [['step', ({ value }) => value]],
    otherBytes: ({ error }) => (error === undefined ? 0 : errorBytes(error)),
  }),
  wait: command<WaitCommand, WaitReply>({ code: 82, scopes: WORK, reach: OWN }),
  recorded: question<RecordedCommand, RecordedPage>({ code: 83, scopes: WORK, reach: OWN, jobsRead: () => 1 }),
  heartbeat: command<HeartbeatCommand, true>({ code: 10, scopes: WORK, reach: OWN }),
  checkpoint: command<CheckpointCommand, true>({
    code: 11,
    scopes: WORK,
    reach: OWN,
    payloads: [['checkpoint', ({ value }) => value]],
  }),
  progress: command<ProgressCommand, true>({ code: 12, scopes: WORK, reach: OWN }),
  log: command<LogCommand, true>({
    code: 13,
    scopes: WORK,
    reach: OWN,
    otherBytes: ({ lines }) => lines.reduce((bytes, { message, fields = '' }) => bytes + message.length + fields.length, 0),
  }),
  parents: question<ParentsCommand, ParentsPage>({ code: 57, scopes: WORK, reach: OWN }),

  get: question<GetCommand, JobView | null>({ code: 14, scopes: READ, jobsRead: () => 1 }),
  getByKey: question<GetByKeyCommand, JobView | null>({ code: 77, scopes: READ, jobsRead: () => 1 }),
  logs: question<LogsCommand, LogsPage | null>({ code: 79, scopes: READ, jobsRead: () => 1 }),
  steps: question<StepsCommand, JobStepsPage | null>({ code: 84, scopes: READ, jobsRead: () => 1 }),
  explain: question<ExplainCommand, Explanation | null>({ code: 80, scopes: READ, jobsRead: () => 1 }),
  // A page of a flow has no payloads: as much as a job may have.
  getFlow: question<GetFlowCommand, FlowPage | null>({ code: 69, scopes: READ, jobsRead: () => 1, isForReaders: () => true }),
  listFlows: question<ListFlowsCommand, FlowsPage>({ code: 71, scopes: READ, jobsRead: () => 1, isForReaders: () => true }),
  list: question<ListCommand, ListPage>({
    code: 25,
    scopes: READ,
    jobsRead: ({ limit }) => limit,
    isForReaders: ({ search, filter, order }) =>
      orderConflict(order, filter.state) === undefined && (search !== undefined || !isOfRunning(filter)),
  }),
  watch: question<WatchCommand, Outcome>({ code: 15, scopes: READ, answered: 'openEnded' }),
  // It gives up what the connection itself has asked for, whatever that needed.
  unwatch: question<UnwatchCommand, true>({ code: 16, scopes: SCOPES, reach: OWN, reads: 'nothing' }),
  // A token that is bound to names says so in the command: the name of the job is known with its row.
  send: command<SendCommand, Sent>({ code: 85, scopes: SEND, reach: OWN, payloads: [['message', ({ value }) => value]] }),
  cancel: command<CancelCommand, 'cancelled' | 'cancelling'>({ code: 17, scopes: ADMIN }),
  cancelTree: command<CancelTreeCommand, 'cancelled' | 'cancelling' | 'finished'>({ code: 58, scopes: ADMIN }),
  retryTree: command<RetryTreeCommand, true>({ code: 59, scopes: ADMIN }),
  update: command<UpdateCommand, true>({
    code: 18,
    scopes: ADMIN,
    payloads: [
      ['data', ({ changes }) => changes.data],
      ['checkpoint', ({ changes }) => changes.checkpoint],
    ],
  }),
  retry: command<RetryCommand, true>({ code: 19, scopes: ADMIN }),
  redrive: command<RedriveCommand, Redriven>({ code: 20, scopes: ADMIN }),
  runNow: command<RunNowCommand, true>({ code: 21, scopes: ADMIN }),
  delete: command<DeleteCommand, true>({ code: 22, scopes: ADMIN }),
  byKey: command<ByKeyCommand, 'cancelled' | 'cancelling' | 'finished' | boolean>({
    code: 76,
    scopes: ADMIN,
    payloads: [
      ['data', ({ changes }) => changes?.data],
      ['checkpoint', ({ changes }) => changes?.checkpoint],
    ],
  }),
  cancelMany: many<CancelManyCommand>(61),
  retryMany: many<RetryManyCommand>(62),
  deleteMany: many<DeleteManyCommand>(63),
  runNowMany: many<RunNowManyCommand>(73),
  updateMany: many<UpdateManyCommand>(74),

  configure: command<ConfigureCommand, true>({ code: 29, scopes: ADMIN }),
  pause: command<PauseCommand, true>({ code: 30, scopes: ADMIN }),
  pauseAll: command<PauseAllCommand, true>({ code: 70, scopes: ADMIN }),
  drainQueue: command<DrainQueueCommand, true>({ code: 32, scopes: ADMIN, answered: 'openEnded' }),
  deleteQueue: command<DeleteQueueCommand, boolean>({ code: 33, scopes: ADMIN }),
  // `queues.purge` counts before it deletes.
  queues: question<QueuesCommand, readonly QueueView[]>({ code: 31, scopes: ['read', 'admin'] }),
  queueKeys: question<QueueKeysCommand, QueueKeys | null>({ code: 72, scopes: READ }),

  stats: question<StatsCommand, Stats<Percentiles>>({ code: 23, scopes: READ }),
  subscribe: question<SubscribeCommand, true>({ code: 26, scopes: READ, reads: 'nothing' }),
  events: question<EventsCommand, EventsPage>({ code: 50, scopes: READ, answered: 'openEnded', reads: 'journal' }),
  export: command<ExportCommand, ExportPage>({ code: 51, scopes: ADMIN, answered: 'openEnded', reads: 'journal' }),
  exports: question<ExportsCommand, readonly ExportView[]>({ code: 52, scopes: READ }),
  deleteExport: command<DeleteExportCommand, boolean>({ code: 53, scopes: ADMIN }),
  history: question<HistoryCommand, readonly HistoryPoint[] | HistoryOfQueues>({
    code: 66,
    scopes: READ,
    isForReaders: ({ busiest }) => busiest !== undefined,
  }),
  failures: question<FailuresCommand, readonly FailureGroup[]>({ code: 67, scopes: READ }),
  backup: question<BackupCommand, { readonly bytes: number }>({ code: 27, scopes: ADMIN, answered: 'late', reads: 'nothing' }),

  upsertSchedule: command<UpsertScheduleCommand, Upserted>({ code: 40, scopes: ADMIN, newJobs: ({ job }) => [job] }),
  getSchedule: question<GetScheduleCommand, ScheduleView | null>({ code: 41, scopes: READ }),
  listSchedules: question<ListSchedulesCommand, SchedulePage>({ code: 42, scopes: READ }),
  deleteSchedule: command<DeleteScheduleCommand, true>({ code: 43, scopes: ADMIN }),
  pauseSchedule: command<PauseScheduleCommand, true>({ code: 44, scopes: ADMIN }),
  resumeSchedule: command<ResumeScheduleCommand, true>({ code: 45, scopes: ADMIN }),
  triggerSchedule: command<TriggerScheduleCommand, readonly Enqueued[]>({ code: 46, scopes: ADMIN }),
}

type Table = typeof OPERATIONS
type TypesOf<Op extends Operation> = NonNullable<Table[Op]['types']>

export type Operation = keyof Table
export type Command = TypesOf<Operation>['command']
export type CommandOf<Op extends Operation> = Extract<Command, { op: Op }>
export type ReplyOf = { [Op in Operation]: TypesOf<Op>['reply'] }
/** Operations of one kind. */
export type OfKind<Kind extends Table[Operation]['kind']> = {
  [Op in Operation]: Table[Op]['kind'] extends Kind ? Op : never
}[Operation]

/** Two versions of the packages may meet in one process: what this one does not know, the actor answers with UNSUPPORTED. */
const UNKNOWN = question<Command, never>({ code: 0, scopes: [] })
const BY_NAME = new Map<string, Traits<Command>>(Object.entries(OPERATIONS) as [string, Traits<Command>][])

/** The traits of any operation, also of one that this version does not know. */
export function traitsOf(op: Operation): Traits<Command> {
  return BY_NAME.get(op) ?? UNKNOWN
}

export function isQuestion({ op }: Pick<Command, 'op'>): boolean {
  return traitsOf(op).kind === 'question'
}

/** True if its answer comes when there is something to say, which may take long. */
export function isPatient({ answered }: Traits<Command>): boolean {
  return answered === 'late' || answered === 'openEnded'
}

/** The number of `LIMITS.jobsPerTurn` that a command takes. */
export function jobsOf(command: Command): number {
  const { rows, newJobs } = traitsOf(command.op)
  return rows?.(command) ?? Math.max(1, newJobs?.(command).length ?? 0)
}

/** Roughly the bytes of a call: they bound what is under way, and what waits. */
export function weighCommand(command: Command, { newJobs, payloads, otherBytes } = traitsOf(command.op)): number {
  let bytes = otherBytes?.(command) ?? 0
  if (newJobs !== undefined) bytes += weighJobs(newJobs(command))
  if (payloads !== undefined) for (const [, payloadOf] of payloads) bytes += dataBytes(payloadOf(command))
  return bytes
}

/** The jobs that run are known in memory, without their data, and on disk by no index, which would cost every job that runs. */
export function isOfRunning({ state, tag, data }: ListCommand['filter']): boolean {
  return state === ACTIVE && tag === undefined && data === undefined
}

const NO_JOBS: readonly NewJob[] = []

function errorBytes({ message, stack = '', code = '', cause = [] }: RunError): number {
  let bytes = message.length + stack.length + code.length
  for (const each of cause) bytes += each.name.length + each.message.length + (each.code?.length ?? 0)
  return bytes
}
