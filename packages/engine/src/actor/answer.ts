/** Answers questions after the commit, from the store and the tables. */
import {
  type AttachedWorker,
  type Calendar,
  type Command,
  type CommandOf,
  type DEFERRED,
  type ExportView,
  isOfRunning,
  type JobView,
  LIMITS,
  type ListCommand,
  type ListPage,
  type Now,
  type OfKind,
  type OwnerStats,
  orderConflict,
  type ParentsCommand,
  type ParentsPage,
  type ParentView,
  type Percentiles,
  type QueueStats,
  type QueuesCommand,
  type QueueView,
  Refused,
  type ReplyOf,
  STATES,
  type Stats,
  type StatsCommand,
  type Vitals,
  WAITING,
  type WorkersCommand,
} from '@millrace/core'
import {
  type ConnectionId,
  countOf,
  DELETED,
  deadlineAt,
  explain,
  type FlowPlace,
  findRow,
  flowParentsOf,
  hasFailed,
  heaviest,
  isLiving,
  type Job,
  type JobRow,
  type Lane,
  type ListQuery,
  type ListRows,
  liveCountOf,
  matches,
  mostParked,
  namedCounts,
  type ParentRow,
  parentKeyOf,
  type Queue,
  rateNow,
  readFlow,
  readFlows,
  runOf,
  type ScanBound,
  type Sender,
  type Session,
  type Store,
  stale,
  type Tables,
  topKeys,
  viewOf,
} from '@millrace/core/kernel'
import { definitionsOf } from './definitions.ts'
import { failingOf, type Judging } from './failing.ts'
import { failuresOf, historyOf } from './observed.ts'
import { scheduleOf, schedulesOf } from './schedules.ts'
import { recordedOf, stepsOf } from './steps.ts'
import type { Waiters } from './waiters/waiters.ts'

/** The actor, as far as answers need it. */
export interface Answering extends Judging {
  readonly store: Store
  readonly waiters: Waiters
  readonly calendar: Calendar
  readonly mailboxDepth: number
  readonly draining: boolean
  /** The version of the engine, undefined if it is unknown. */
  readonly version: string | undefined
  /** The process that owns the store; undefined if there is none to name. */
  readonly owner: OwnerStats | undefined
  forget(connection: ConnectionId, request?: number): void
}

/** The operations that are answered here. `subscribe` belongs to the connections, and `backup` to the store (answers.ts). */
type Answered = Exclude<OfKind<'question'>, 'subscribe' | 'backup'> | 'drainQueue' | 'export'

type Answer<Op extends Answered> = (actor: Answering, command: CommandOf<Op>, sender: Sender) => ReplyOf[Op] | Refused | typeof DEFERRED

const ANSWERS: { readonly [Op in Answered]: Answer<Op> } = {
  get: jobOf,
  getByKey: jobOfKey,
  logs: logsOf,
  explain: ({ store, tables, now }, { id }) => {
    const row = findRow(store, id, 0)
    return row === undefined ? null : explain(store, tables, now, row)
  },
  parents,
  recorded: ({ store, tables }, command, sender) => recordedOf(store, tables, command, sender),
  steps: ({ store }, command) => stepsOf(store, command),
  getFlow: ({ store, tables }, command) => readFlow(store, command, (laneId) => namesOf(tables, laneId)),
  listFlows: (actor, command) => readFlows(actor.store, command, boundOf(actor), (laneId) => namesOf(actor.tables, laneId)),
  watch: ({ store, tables, waiters }, { id }, sender) => waiters.results.ask(store, tables.jobs, id, sender),
  unwatch,
  drainQueue: ({ tables, waiters }, { queue }, sender) => waiters.drains.ask(tables, queue, sender),
  queues: queuesOf,
  queueKeys: ({ tables, now }, { queue, limit }) => {
    const found = tables.queues.get(queue)
    return found === undefined ? null : topKeys(found, Math.min(limit, LIMITS.pageKeys), tables.dispatchable.pauseEnds, now)
  },
  events: ({ store, tables, waiters }, command, sender) => waiters.events.ask(store, tables.nextEvent - 1, command, sender),
  export: ({ store, tables, waiters }, command, sender) => waiters.exports.ask(store, tables, command, sender),
  exports: exportsOf,
  stats,
  workers: workersOf,
  list,
  getSchedule: scheduleOf,
  listSchedules: schedulesOf,
  history: historyOf,
  failures: failuresOf,
}

/** Returns the answer. DEFERRED means that the caller waits, and a later turn answers. */
export function answer(actor: Answering, command: Command, sender: Sender): unknown {
  if (!Object.hasOwn(ANSWERS, command.op)) return new Refused({ code: 'UNSUPPORTED', message: `unknown operation '${command.op}'` })
  const answerIt = ANSWERS[command.op as Answered] as Answer<Answered>
  return answerIt(actor, command as CommandOf<Answered>, sender)
}

function jobOf({ store, tables, now }: Answering, { id, only, payloadBytes }: CommandOf<'get'>): JobView | null {
  const row = findRow(store, id, only === undefined ? payloadBytes : 0)
  if (row === undefined) return null
  const endsAt = deadlineAt(tables.jobs.get(row.seq), now)
  if (only === undefined) return { ...view(tables, row, store.attempts([row])[0] ?? []), ...(endsAt > 0 && { deadlineAt: endsAt }) }
  return view(tables, { ...row, [only]: store.payload(row.seq, only) }, [])
}

/** Returns a page of the lines of a run, at least one if there is one, and no more once their text is long. */
function logsOf({ store }: Answering, { id, run: of, after, limit, newest = false }: CommandOf<'logs'>): ReplyOf['logs'] {
  const row = findRow(store, id, 0)
  if (row === undefined) return null
  const run = of ?? row.run
  const behind = after ?? (newest ? Number.MAX_SAFE_INTEGER : -1)
  const lines = store.logLines(row.seq, run, { after: behind, limit: Math.min(limit, LIMITS.pageLogs) + 1, newest })
  const told: (typeof lines)[number][] = []
  let bytes = 0
  for (const line of lines) {
    bytes += line.message.length + (line.fields?.length ?? 0)
    if (told.length === limit || (told.length > 0 && bytes > LIMITS.logsBytes)) break
    told.push(line)
  }
  return { run, lines: told, next: told.length < lines.length ? (told.at(-1)?.number ?? null) : null }
}

/** Returns the job that a key stands for. */
function jobOfKey(actor: Answering, { of: { kind, name, key }, ...wanted }: CommandOf<'getByKey'>): JobView | null {
  const { store } = actor
  const [holder] = kind === 'unique' ? store.unique([{ name, key }]) : store.idempotent([{ name, key }], actor.now.wall)
  return holder === undefined ? null : jobOf(actor, { ...wanted, op: 'get', id: holder })
}

function unwatch(actor: Answering, { request }: CommandOf<'unwatch'>, { connection }: Sender): true {
  actor.forget(connection, request)
  return true
}

function exportsOf({ tables }: Answering): ExportView[] {
  return [...tables.exports].map(([name, cursor]) => ({ name, cursor, behind: tables.nextEvent - 1 - cursor }))
}

/** Returns the jobs that the job of an active run has waited for. */
function parents({ store, tables }: Answering, command: ParentsCommand, sender: Sender): ParentsPage | Refused {
  const { seq, run, after = 0 } = command
  const job = runOf({ tables }, command, sender)
  if (job === undefined) return stale(seq, run)
  const place = job.extras?.flow
  if (place === undefined) return { parents: [], next: null }
  const own = flowParentsOf(place)
  const until = Math.min(command.until ?? own, place.parents)
  if (after >= until) return { parents: [], next: null }
  const { rows, complete } = store.parents(seq, after, Math.min(until - after, LIMITS.pageJobs), LIMITS.parentsBytes)
  const seen = rows.filter((row) => row.place > own || place.onFailure !== 'ignore' || !hasFailed(row.state))
  const last = rows.at(-1)?.place
  return { parents: seen.map((row) => parentOf(job, place, row)), next: complete || last === until ? null : (last ?? null) }
}

function parentOf(job: Job, place: FlowPlace, { seq, ref, state, output, error }: ParentRow): ParentView {
  const told = state === DELETED ? 'deleted' : STATES[state]
  return { ...parentKeyOf(job, place, seq), ref, state: told, output, ...(error !== undefined && { error }) }
}

function view(tables: Tables, row: JobRow, attempts: JobView['attempts']): JobView {
  const { queue, name } = namesOf(tables, row.laneId)
  return viewOf(row, queue, name, attempts)
}

function namesOf(tables: Tables, laneId: number): { readonly queue: string; readonly name: string } {
  const { queue, name } = tables.laneOf(laneId)
  return { queue: queue.name, name }
}

function list(actor: Answering, command: ListCommand): ListPage | Refused {
  const { order, filter } = command
  const needed = orderConflict(order, filter.state)
  if (needed !== undefined)
    return new Refused({ code: 'OPTION_RANGE', message: `order '${order}' needs ${needed}`, details: { option: 'order', limit: needed } })
  const { store, tables } = actor
  const query = { ...command, limit: Math.min(command.limit, LIMITS.pageJobs) }
  const isRunning = query.search === undefined && isOfRunning(filter)
  const { rows, ...place } = isRunning ? listRunning(actor, query) : store.list(query, boundOf(actor))
  return { jobs: rows.map((row) => view(tables, row, [])), ...place }
}

/** Returns the bounds of a page that the writer reads now. */
function boundOf(actor: Answering): ScanBound {
  const until = actor.now.mono + LIMITS.turnMs
  return { rows: LIMITS.walkRows, late: (scanned) => scanned >= LIMITS.leastRows && actor.now.mono >= until }
}

function listRunning({ store, tables }: Answering, query: ListQuery): ListRows {
  const { limit, payloadBytes, lastRun } = query
  const seqs = runningOf(tables, query)
  const whole = () => store.jobsInPlace(seqs, LIMITS.pageBytes).filter((row) => row !== undefined)
  const rows = payloadBytes === undefined ? whole() : store.jobs(seqs, payloadBytes)
  const isLast = seqs.length < limit && rows.length === seqs.length
  return { rows: lastRun === true ? store.withLastRuns(rows) : rows, next: isLast ? null : (rows.at(-1)?.seq ?? null) }
}

/** Returns the numbers of running jobs in their order. */
function runningOf(
  tables: Tables,
  { filter, ascending = false, before = ascending ? 0 : Number.POSITIVE_INFINITY, limit }: ListQuery,
): number[] {
  return tables
    .running()
    .filter((job) => (ascending ? job.seq > before : job.seq < before) && matches(filter, job))
    .map((job) => job.seq)
    .sort((a, b) => (ascending ? a - b : b - a))
    .slice(0, limit)
}

function stats(actor: Answering, { names, definitions }: StatsCommand): Stats<Percentiles> {
  const { tables, store } = actor
  const walBytes = store.care?.walBytes() ?? 0
  const { bytes: journalBytes, firstEvent, firstAt } = store.journal(0)
  const told = mostLive([...tables.queues.values()], LIMITS.statsQueues)
  const lookups = Math.max(1, Math.min(OLDEST_ASKED_MAX, Math.floor(LIMITS.statsLookups / Math.max(1, told.length))))
  const queues = told.map((queue): [string, QueueStats] => [
    queue.name,
    {
      ...namedCounts(queue.counts),
      retrying: queue.retrying,
      paused: queue.paused,
      oldestWaitingMs: oldestWaitingMs(actor, queue, lookups),
    },
  ])
  const unserved = [...tables.lanesById.values()].filter((lane) => lane.groups.length === 0 && countOf(lane, WAITING) > 0)
  return {
    seq: tables.nextEvent - 1,
    node: tables.node,
    paused: tables.paused,
    states: namedCounts(tables.all.counts),
    retrying: tables.all.retrying,
    totals: { ...tables.all.totals },
    // Not by assignment: a queue may be named `__proto__`.
    queues: Object.fromEntries(queues),
    ...(tables.queues.size > told.length && { queuesLeftOut: tables.queues.size - told.length }),
    unserved: heaviest(unserved, UNSERVED_MAX, waitingIn).map((lane) => ({
      queue: lane.queue.name,
      name: lane.name,
      waiting: countOf(lane, WAITING),
    })),
    ...(unserved.length > UNSERVED_MAX && { unservedLeftOut: unserved.length - UNSERVED_MAX }),
    ...failingOf(actor),
    definitions: definitionsOf(tables, definitions),
    names: actor.meter.timings.stats(names),
    workers: livingSessions(actor).length,
    writer: actor.meter.stats({
      mailboxDepth: actor.mailboxDepth,
      walBytes,
      journalBytes,
      draining: actor.draining,
    }),
    ...(store.care !== undefined && { store: { ...store.care.room(), walBytes, ...(firstEvent > 0 && { oldestEventAt: firstAt }) } }),
    ...(actor.owner !== undefined && { owner: actor.owner }),
  }
}

/** Returns all queues in their order if they fit; otherwise those with the most jobs that have not ended. */
function mostLive(queues: readonly Queue[], limit: number): readonly Queue[] {
  if (queues.length <= limit) return queues
  return queues.toSorted((a, b) => liveCountOf(b) - liveCountOf(a)).slice(0, limit)
}

function queuesOf(actor: Answering, command: QueuesCommand): readonly QueueView[] {
  const known = queuesWanted(actor.tables.queues, command)
  const lookups = command.queue === undefined ? OLDEST_IN_LIST_MAX : OLDEST_ASKED_MAX
  return known.map((queue) => {
    const pausedJobs = [...queue.lanes.values()].filter(({ paused }) => paused).map((lane) => lane.name)
    const pausedKeys = [...(queue.keys?.values() ?? [])].filter(({ paused }) => paused).map(({ text }) => text)
    const told = { pausedJobs: pausedJobs.slice(0, LIMITS.pausedTold), pausedKeys: pausedKeys.slice(0, LIMITS.pausedTold) }
    const pausedLeftOut = pausedJobs.length + pausedKeys.length - told.pausedJobs.length - told.pausedKeys.length
    return {
      name: queue.name,
      settings: queue.settings,
      paused: queue.paused,
      ...told,
      ...endsOf(actor, queue),
      ...(pausedLeftOut > 0 && { pausedLeftOut }),
      states: namedCounts(queue.counts),
      retrying: queue.retrying,
      totals: { ...queue.totals },
      oldestWaitingMs: oldestWaitingMs(actor, queue, lookups),
      ...(queue.sharing !== undefined && { sharedActive: queue.sharing.active }),
      ...(queue.settings.rateLimit !== undefined && { rate: rateNow(queue.settings.rateLimit, queue.fullMono, actor.now) }),
    }
  })
}

/** Returns when the queue's timed pauses end. */
function endsOf({ tables }: Answering, queue: Queue): Pick<QueueView, 'pausedUntil' | 'pauseEnds'> {
  const { pauseEnds } = tables.dispatchable
  const pausedUntil = pauseEnds.until({ queue, part: 'queue', what: '' })
  const others = [...pauseEnds.of(queue)].filter(({ part }) => part !== 'queue').sort((a, b) => a.until - b.until)
  const told = others.slice(0, LIMITS.pausedTold).map(({ part, what, until }) => ({ [part === 'name' ? 'job' : 'key']: what, until }))
  return { ...(pausedUntil > 0 && { pausedUntil }), ...(told.length > 0 && { pauseEnds: told }) }
}

/**
 * Returns queues in the order of their names, so that a page continues where the last one ended, whatever was deleted or
 * created meanwhile.
 */
function queuesWanted(queues: ReadonlyMap<string, Queue>, { queue: name, after, limit }: QueuesCommand): readonly Queue[] {
  if (name !== undefined) return [queues.get(name)].filter((queue) => queue !== undefined)
  if (limit === undefined) return [...queues.values()].slice(0, LIMITS.unpaged)
  const names = [...queues.keys()].filter((each) => after === undefined || each > after).sort()
  return names.slice(0, limit).map((each) => queues.get(each) as Queue)
}

/** Returns the sessions that are known to live: one that has lost all its jobs by its silence is not among them. */
function livingSessions({ tables }: Answering): Session[] {
  return [...tables.sessions.values()].filter(isLiving)
}

function isAway({ connection, silent }: Session): boolean {
  return connection === undefined || silent
}

function workersOf(actor: Answering, { after = 0, limit = LIMITS.unpaged }: WorkersCommand): AttachedWorker[] {
  const { now, tables, version } = actor
  return livingSessions(actor)
    .filter(({ id }) => id > after)
    .sort((a, b) => a.id - b.id)
    .slice(0, limit)
    .map((session) => ({ ...workerOf(session, now), ...identityOf(session, version), ...vitalsOf(session, tables) }))
}

function workerOf(session: Session, now: Now): Omit<AttachedWorker, 'kind'> {
  const { intro, jobs, weight, zombies, draining, attachedAt } = session
  return {
    session: session.id,
    id: intro.worker,
    host: intro.host,
    pid: intro.pid,
    names: intro.handlers.map((handler) => handler.name),
    queues: intro.queues ?? null,
    order: session.group.isStrict ? 'strict' : 'fair',
    minConcurrency: intro.minConcurrency,
    maxConcurrency: intro.maxConcurrency,
    runningJobs: jobs.size,
    runningWeight: weight,
    ...nextDeadlineOf(session, now),
    zombies,
    draining,
    paused: intro.paused === true,
    away: isAway(session),
    attachedAt,
    lastSeenAt: attachedAt === 0 ? 0 : lastSeenAt(session, now),
  }
}

function nextDeadlineOf({ jobs }: Session, now: Now): Pick<AttachedWorker, 'nextDeadlineAt'> {
  let earliest = 0
  for (const job of jobs) {
    const at = deadlineAt(job, now)
    if (at > 0 && (earliest === 0 || at < earliest)) earliest = at
  }
  return earliest === 0 ? {} : { nextDeadlineAt: earliest }
}

/** The name by which the clients of this project greet: `millrace/1.2.3`. */
const OWN_LIBRARY = 'millrace/'

function identityOf({ intro }: Session, own: string | undefined): Pick<AttachedWorker, 'kind' | 'version'> {
  const { local, pooled = false, isolated = false, library } = intro
  const isForeign = library !== undefined && !library.startsWith(OWN_LIBRARY)
  const version = local ? own : isForeign ? library : library?.slice(OWN_LIBRARY.length)
  const kind = isForeign ? 'foreign' : isolated ? 'processes' : pooled ? 'threads' : local ? 'inline' : 'remote'
  return { kind, ...(version !== undefined && { version }) }
}

/** Returns the last report of the session's process. One that is away reports nothing. */
function vitalsOf({ connection }: Session, { vitals }: Tables): Vitals | undefined {
  return connection === undefined ? undefined : vitals.get(connection)
}

function lastSeenAt({ intro, connection, renewedMono }: Session, { wall, mono }: Now): number {
  // Rounded up to whole milliseconds, so that it is not before the session attached.
  return intro.local && connection !== undefined ? wall : Math.ceil(wall - (mono - renewedMono))
}

const UNSERVED_MAX = 100
/** The maximum number of lookups for one queue: each reads from the disk. */
const OLDEST_ASKED_MAX = 64
/** The maximum number of lookups for one queue of a page. */
const OLDEST_IN_LIST_MAX = 4

function waitingIn(lane: Lane): number {
  return countOf(lane, WAITING)
}

function oldestWaitingMs({ store, now }: Answering, queue: Queue, lookups: number): number {
  const due = [
    ...heaviest(queue.lanes.values(), lookups, waitingIn).map((lane) => store.oldestWaiting(lane.id)),
    ...mostParked(queue, lookups).map((backlog) => store.oldestParked(backlog.id)),
  ].filter((at) => at > 0)
  return due.length === 0 ? 0 : Math.max(0, now.wall - Math.min(...due))
}
