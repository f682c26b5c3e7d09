/** The requests of a client: `[id, operation, ...fields]`. The order of the fields is the order on the wire. */
import {
  type AttachCommand,
  type Cancellation,
  type Command,
  type CommandOf,
  DEFINITION_DETAILS,
  type EventFilter,
  FAILURES_ORDERS,
  FAILURES_TRENDS,
  FLOW_STATES,
  HISTORY_STEPS,
  KEYED_CALLS,
  LIMITS,
  type ManyCommand,
  NAME_DETAILS,
  NODE_LIMIT,
  OPERATIONS,
  type Operation,
  PAUSE_PARTS,
  PAYLOADS,
  PLACE_LIMIT,
  type Request,
  type TimeOrder,
} from '@millrace/core'
import { WireError } from '../errors.ts'
import type { Refused } from '../message.ts'
import {
  CHANGES,
  EVENT_FILTER,
  FAILED_PLACE,
  FILTER,
  FLOW_CURSOR,
  FLOW_NODES,
  HELD_KEY,
  JOB_KEY,
  LOG_LINES,
  NEW_JOB,
  NEW_JOBS,
  NONE,
  PLACE_CHANGES,
  RUN,
  RUN_ERROR,
  RUN_KEYS,
  SCHEDULE_SPEC,
  SESSION,
  SOURCE_ENTRIES,
  VITALS,
  WANTED_WAIT,
} from './jobs.ts'
import {
  boolean,
  choice,
  count,
  data,
  duration,
  FIELDS_MAX,
  filled,
  integer,
  type Kind,
  key,
  list,
  name,
  number,
  signed,
  text,
  time,
  told,
} from './kinds.ts'
import { QUEUE_CHANGES } from './queues.ts'
import { type Fields, field, optional, or } from './record.ts'
import { type UnionKind, union } from './union.ts'

const session: Kind<AttachCommand['session']> = {
  says: SESSION.says,
  write: (out, value) => SESSION.write(out, value),
  // Never on the wire: no client of a connection is believed to live in the engine's process.
  read: (from) => ({ ...SESSION.read(from), local: false }),
}

const retry: Kind<number | false> = {
  says: 'milliseconds, or false for never',
  write: (out, value) => (value === false ? out.bool(false) : out.number(value)),
  read: (from) => {
    const value = from.value()
    if (value === false) return value
    if (typeof value !== 'number' || value < 0) throw from.outside(0, 'at least 0 ms, or false')
    return Math.min(Math.ceil(value), LIMITS.durationMs)
  },
}

/** A boolean that is only ever true. */
const yes: Kind<true> = {
  says: 'true',
  write: (out, value) => out.bool(value),
  read: (from) => {
    if (!from.bool()) throw from.wrong('true, or nil')
    return true
  },
}

const TIME_ORDERS: readonly TimeOrder[] = ['finished', 'due']

const uuid = text(LIMITS.nameLength)
const id = JOB_KEY

const PAYLOAD_NOTE = 'so many bytes of data, output and checkpoint each at most: longer ones are cut, with 0 they are left out; nil: whole'

const CANCELLATION: Fields<Cancellation> = {
  reason: optional(told(LIMITS.reasonLength), 'why: stored with the job, and passed to its handler'),
  by: optional(told(LIMITS.nameLength), 'who; nil: the name of the connection’s token'),
}

const MANY: Fields<ManyCommand> = {
  filter: field(FILTER, 'an empty one: every job'),
  limit: field(integer(1, Number.MAX_SAFE_INTEGER, 'integer from 1'), 'at most so many change'),
  before: optional(count, '`next` of the slice before'),
  dryRun: or(boolean, false, 'counts, and changes nothing'),
  ids: optional(list(JOB_KEY, LIMITS.idsPerSlice), 'of these alone'),
  search: optional(key, 'jobs that contain this string; not with `ids`'),
}

/** The fields of each operation, in their order on the wire. The operation's number there is in the table of operations. */
const FIELDS: { readonly [Op in Operation]: Fields<Omit<CommandOf<Op>, 'op'>> } = {
  enqueue: { jobs: field(NEW_JOBS, 'all or none are created') },
  forward: {
    source: field(uuid, 'random: the journal of one process'),
    number: field(integer(1, NODE_LIMIT - 1, 'integer from 1, below 2^26'), 'stands for the journal in the ids of its jobs'),
    first: field(integer(1, PLACE_LIMIT - 1, 'integer from 1, below 2^27'), 'place of the first job in the journal; the others follow'),
    entries: field(SOURCE_ENTRIES),
  },
  flow: {
    nodes: field(FLOW_NODES, 'all or none are created'),
    idempotencyKey: optional(key, 'create once: a repeat is answered with the first flow'),
    idempotencyTtl: optional(duration(1), 'how long a repeat is recognised at least, its job ended or not; nil: 24 hours'),
  },
  parents: {
    ...RUN,
    after: optional(count, '`next` of the page before'),
    until: optional(count, 'place of the last one; nil: of the last one that the job has from its flow'),
  },
  join: { ...RUN, name: field(key, 'once in a job'), jobs: field(NEW_JOBS, 'at least one; without keys, as the nodes of a flow') },
  step: {
    ...RUN,
    number: field(integer(1, LIMITS.stepsPerJob), 'place among the results of the job; one that is recorded already stays'),
    asked: field(integer(1, LIMITS.stepsPerJob), 'one more than the number of the last result that the handler had got when it asked'),
    name: field(key, 'once in a job'),
    kind: field(choice(['step', 'change'] as const)),
    startedAt: field(time),
    value: or(data, null, 'what every later run gets'),
    error: optional(RUN_ERROR, 'of a step that has permanently failed'),
  },
  wait: {
    ...RUN,
    settled: field(count, 'number of the last result'),
    waits: field(list(WANTED_WAIT, LIMITS.waitsPerJob)),
    end: field(boolean, 'true: the run ends with them, unless one is over'),
  },
  recorded: { ...RUN, after: field(count, 'results with higher numbers') },
  getFlow: {
    id: field(id, 'of the flow, or of any of its jobs'),
    limit: field(integer(1, LIMITS.pageJobs)),
    from: optional(FLOW_CURSOR, '`next` of the page before'),
  },
  listFlows: {
    limit: field(integer(1, LIMITS.pageJobs)),
    state: optional(choice(FLOW_STATES), 'only flows in this state; nil: all'),
    before: optional(count, '`next` of the page before'),
  },
  attach: { session: field(session), held: or(RUN_KEYS, NONE, 'runs started, or ended and not yet answered') },
  adjust: {
    session: field(uuid),
    minConcurrency: field(integer(1, LIMITS.concurrency), 'as in the session'),
    maxConcurrency: field(integer(1, LIMITS.concurrency), 'as in the session'),
    paused: optional(boolean, 'true: no jobs until it says otherwise'),
  },
  drain: { session: field(uuid) },
  leave: { session: field(uuid) },
  renew: {
    renewal: field(count, '1, 2, 3 ... on each connection'),
    vitals: optional(VITALS, 'of the sender’s process; nil: those of its last report stay'),
  },
  complete: {
    ...RUN,
    output: or(data, null),
    enqueues: optional(NEW_JOBS, 'created in the same commit'),
  },
  fail: {
    ...RUN,
    error: field(RUN_ERROR),
    retry: optional(retry, 'nil: by the job’s backoff'),
    cancel: optional(yes, 'its handler cancels the job, and the message of `error` is the reason'),
    atLeast: optional(yes, '`retry` is a minimum: a longer backoff of the job counts'),
    changed: optional(yes, 'the handler does not fit what its job has recorded: no attempt is used, and the job is put off'),
  },
  snooze: {
    ...RUN,
    delay: field(duration(0)),
    pause: optional(choice(PAUSE_PARTS), 'pauses this part of the job’s queue for `delay`; the job waits in its place'),
  },
  giveBack: { ...RUN, started: optional(boolean, 'its handler has begun: it has no ttl any more') },
  heartbeat: { ...RUN },
  checkpoint: { ...RUN, value: or(data, null, 'what the next attempt finds') },
  progress: {
    ...RUN,
    fraction: field(number(0, 1)),
    note: optional(told(LIMITS.logMessageLength)),
    value: optional(text(LIMITS.progressBytes), 'JSON text, for those who watch'),
  },
  log: { ...RUN, lines: field(LOG_LINES) },
  get: {
    id: field(id),
    payloadBytes: optional(count, PAYLOAD_NOTE),
    only: optional(choice(PAYLOADS), 'this payload alone, whole, and no runs'),
  },
  getByKey: {
    of: field(HELD_KEY),
    payloadBytes: optional(count, PAYLOAD_NOTE),
    only: optional(choice(PAYLOADS), 'this payload alone, whole, and no runs'),
  },
  logs: {
    id: field(id),
    run: optional(count, 'nil: the last one'),
    after: optional(count, 'lines behind this number; of the newest first, those before it'),
    limit: field(integer(1, LIMITS.pageLogs)),
    newest: optional(boolean, 'true: the newest first'),
  },
  steps: { id: field(id), after: field(count, 'results with higher numbers'), limit: field(integer(1, LIMITS.pageSteps)) },
  send: {
    id: optional(id),
    of: optional(HELD_KEY, 'in place of `id`'),
    name: field(key, 'of the message'),
    value: or(data, null, 'nil: the handler gets null'),
    idempotencyKey: optional(key, 'store it once: a repeat is answered with `known`'),
    by: optional(told(LIMITS.nameLength), 'who sends it'),
    only: optional(list(name(), 100), 'refused for a job of another name; a server says it for a token that is bound'),
  },
  explain: { id: field(id) },
  watch: { id: field(id) },
  unwatch: { request: field(signed, 'the id of the `watch`') },
  cancel: { id: field(id), ...CANCELLATION },
  cancelTree: { id: field(id), ...CANCELLATION },
  retryTree: { id: field(id) },
  update: { id: field(id), changes: field(CHANGES) },
  retry: { id: field(id), from: optional(key, 'name of the step at which it resumes, or `start`') },
  redrive: {
    queue: optional(name()),
    name: optional(name()),
    limit: field(integer(1, Number.MAX_SAFE_INTEGER, 'integer from 1')),
    after: optional(FAILED_PLACE, '`next` of the slice before'),
  },
  runNow: { id: field(id) },
  delete: { id: field(id) },
  configure: { queue: field(name()), changes: field(QUEUE_CHANGES) },
  pause: {
    queue: field(name()),
    job: optional(name(), 'only jobs of that name'),
    key: optional(key, 'only jobs with that concurrency key'),
    paused: field(boolean, 'false: it resumes'),
    existing: optional(boolean, 'true: `QUEUE_NOT_FOUND` in place of a new queue'),
    for: optional(duration(1), 'the pause ends after this; nil: it has no end'),
  },
  drainQueue: { queue: field(name()) },
  stopWorker: { worker: field(name()), timeout: field(duration(0, true), 'for what runs') },
  deleteQueue: { queue: field(name()) },
  queues: {
    queue: optional(name(), 'nil: all'),
    after: optional(name(), 'the last name of the page before'),
    limit: optional(integer(1, LIMITS.pageQueues), 'nil: no pages'),
  },
  queueKeys: { queue: field(name()), limit: field(integer(1, LIMITS.pageKeys)) },
  stats: {
    names: optional(choice(NAME_DETAILS), 'what `names` has of each job name; nil: histograms'),
    definitions: optional(choice(DEFINITION_DETAILS), 'nil: all'),
  },
  workers: {
    after: optional(count, '`session` of the last worker of the page before'),
    limit: optional(integer(1, LIMITS.pageWorkers), 'nil: no pages'),
  },
  list: {
    filter: field(FILTER),
    limit: field(integer(1, LIMITS.pageJobs)),
    before: optional(count, '`next` of the page before'),
    search: optional(key, 'jobs that contain this string'),
    payloadBytes: optional(count, PAYLOAD_NOTE),
    lastRun: optional(boolean, 'true: each job with `lastRun`'),
    order: optional(choice(TIME_ORDERS), 'last finished first, of one final state; or soonest first, of scheduled jobs; nil: newest first'),
    beforeAt: optional(signed, '`nextAt` of the page before, with `before`'),
    ascending: optional(boolean, 'true: oldest first; not with `order`'),
  },
  byKey: {
    of: field(HELD_KEY),
    call: field(choice(KEYED_CALLS), 'does to its job what that operation does; `release`: takes the key from it'),
    changes: optional(CHANGES, 'of `update` alone'),
    from: optional(key, 'of `retry` alone'),
    ...CANCELLATION,
  },
  cancelMany: { ...MANY, ...CANCELLATION },
  retryMany: MANY,
  deleteMany: MANY,
  runNowMany: MANY,
  updateMany: { ...MANY, changes: field(PLACE_CHANGES) },
  subscribe: { on: field(boolean) },
  events: {
    after: field(count, 'the last event that is known; 0: from the oldest kept'),
    filter: or(EVENT_FILTER, Object.freeze({}) as EventFilter, 'nil: all'),
  },
  export: {
    name: field(name()),
    limit: field(integer(1, LIMITS.pageJobs)),
    upTo: optional(count, '`next` of the page before: all of that page is safe'),
  },
  exports: {},
  deleteExport: { name: field(name()) },
  backup: { file: field(filled(4_096), 'a path on the server') },
  upsertSchedule: {
    id: field(name()),
    spec: field(SCHEDULE_SPEC),
    job: field(NEW_JOB, 'the job of each tick: without keys, `delay` and `runAt`'),
    runImmediately: or(boolean, false, 'a new schedule’s first job comes at once'),
    paused: optional(boolean, 'nil: as it is; a new one is not paused'),
    absent: optional(boolean, 'true: refused if there is one, with `SCHEDULE_EXISTS`'),
    updatedAt: optional(time, 'refused unless there is one that was last changed then: `SCHEDULE_NOT_FOUND`, `SCHEDULE_CHANGED`'),
    updateWaiting: optional(boolean, 'true: its last job, if it has never run and has the same name, takes what `job` says'),
  },
  getSchedule: { id: field(name()), times: or(integer(0, LIMITS.timesPerSchedule), 0, 'of those that come next') },
  listSchedules: {
    prefix: field(text(LIMITS.nameLength), 'of the ids; may be empty'),
    limit: field(integer(1, LIMITS.pageSchedules)),
    after: optional(name(), '`next` of the page before'),
    queue: optional(name(), 'those whose jobs go to this queue; a page may then be short and have a `next`'),
    name: optional(name(), 'those whose jobs have this name; a page may then be short and have a `next`'),
  },
  deleteSchedule: { id: field(name()) },
  pauseSchedule: { id: field(name()) },
  resumeSchedule: { id: field(name()) },
  triggerSchedule: { id: field(name()), meta: optional(text(LIMITS.metaBytes), 'JSON text of an object, put over the `meta` of its job') },
  pauseAll: { paused: field(boolean) },
  history: {
    queue: field(name()),
    step: field(choice(HISTORY_STEPS)),
    from: or(time, 0, 'the minute or hour of this time is the first one'),
    to: optional(time, 'the minute or hour of this time is left out; nil: up to now'),
    busiest: optional(integer(0, LIMITS.historyQueues), 'in place of `queue`: the sum of all queues, and this many of them'),
  },
  failures: {
    queue: optional(name()),
    name: optional(name()),
    limit: field(integer(1, LIMITS.pageFailures)),
    order: optional(choice(FAILURES_ORDERS), 'nil: last'),
    trend: optional(choice(FAILURES_TRENDS), 'nil: without'),
  },
}

export const COMMAND: UnionKind<'op', Command> = union<'op', Command>(
  'Request',
  'op',
  Object.fromEntries(Object.entries(FIELDS).map(([op, fields]) => [op, { code: OPERATIONS[op as Operation].code, fields }])) as never,
)

const REQUEST: Kind<Request | Refused> = {
  says: 'Request',
  write: (out, request) => {
    if ('refusal' in request) throw new Error('a request that was refused is never sent')
    COMMAND.writeBehind(out, request.command, 1, () => out.number(request.id))
  },
  // A request with a wrong field ends only its own call: its id is known, and the next request begins behind it.
  read: (from) => {
    const place = from.place
    const length = from.array(FIELDS_MAX)
    from.where = 'request id'
    if (length < 2) throw from.wrong('a request has an id and an operation')
    const id = from.integer()
    try {
      return { id, command: COMMAND.readRest(from, length - 1) }
    } catch (error) {
      const refusal = error instanceof WireError && !from.exhausted ? error.refusal() : undefined
      if (refusal === undefined || !from.passOver(place)) throw error
      return { id, refusal }
    }
  },
}

export const REQUESTS = list(REQUEST, LIMITS.commandsInFlight)
