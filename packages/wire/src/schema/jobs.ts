/** The parts that several requests share: jobs as they are asked for, runs, errors, log lines. */
import {
  type Backoff,
  CATCH_UPS,
  DEBOUNCE_MODES,
  type Defaults,
  EVENT_TYPES,
  type EventFilter,
  type FailedPlace,
  FILTER_FIELDS,
  FILTER_NAMES,
  type FilterKind,
  type FlowCursor,
  type FlowNode,
  type HeldKey,
  isContained,
  JOB_TEXTS,
  type JobChanges,
  type JobKey,
  KEY_KINDS,
  type LabelChanges,
  LIMITS,
  type ListFilter,
  type LogLine,
  mapJobTexts,
  type NewJob,
  ON_PARENT_FAILURE,
  type OnConflict,
  OVERLAPS,
  type PlaceChanges,
  QUEUE_ORDERS,
  type Row,
  RUN_OPTIONS,
  type RunCause,
  type RunError,
  type RunKey,
  type RunOption,
  type RunSettings,
  refusalFrom,
  type ScheduleSpec,
  SEQ_LIMIT,
  type SessionIntro,
  type SourceEntry,
  STATES,
  shapingConflict,
  UNIQUE_UNTILS,
  type Vitals,
  type WantedWait,
  withCommas,
} from '@millrace/core'
import {
  boolean,
  changed,
  choice,
  code,
  count,
  data,
  duration,
  given,
  idTime,
  integer,
  type Kind,
  key,
  list,
  name,
  number,
  queuePattern,
  span,
  text,
  time,
  told,
} from './kinds.ts'
import { type Field, type Fields, field, optional, or, record } from './record.ts'

/** Runs that one session holds, and what is lost of them: many may have ended while it was away. */
const HELD_MAX = 250_000
const ITEMS_MAX = 10_000

export const NONE: readonly never[] = Object.freeze([])

const ON_CONFLICT: readonly OnConflict[] = ['skip', 'replace', 'reschedule', 'error']
const LOG_LEVELS: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error']
const BACKOFF_TYPES: readonly Backoff['type'][] = ['exponential', 'linear', 'fixed']

export const seq = integer(0, SEQ_LIMIT - 1, 'integer below 2^48')
/** The file's, or that of a producer's journal with the job's place in it. */
export const node = integer(0, Number.MAX_SAFE_INTEGER, 'integer below 2^53')
export const priority = integer(-LIMITS.priority, LIMITS.priority)
export const weight = integer(1, LIMITS.weight)

const jitter: Kind<number | 'equal' | 'full'> = {
  says: 'number, 0 to 1, or -1 equal, -2 full',
  write: (out, value) => out.number(value === 'equal' ? -1 : value === 'full' ? -2 : value),
  read: (from) => {
    const value = from.number()
    if (value === -1) return 'equal'
    if (value === -2) return 'full'
    if (value < 0 || value > 1) throw from.outside(value < 0 ? 0 : 1, `a number between 0 and 1, got ${value}`)
    return value
  },
}

export const BACKOFF = record<Backoff>('Backoff', {
  type: field(choice(BACKOFF_TYPES), 'delay·factor^(attempt−1), delay·attempt, or delay'),
  delay: field(duration(0), 'of the first retry'),
  factor: optional(number(1, 1_000), 'of exponential alone; nil: 2'),
  maxDelay: optional(duration(0), 'the cap, which jitter stays within'),
  jitter: optional(jitter, 'spread by ± that fraction; half plus a random half; or random from 0'),
})

export const UNIQUE = record<NonNullable<NewJob['unique']>>('Unique', {
  key: field(key, 'of at most one live job of that name'),
  onConflict: field(choice(ON_CONFLICT), 'what happens where one lives'),
  until: optional(choice(UNIQUE_UNTILS), 'held until the job is final, or until its first start; nil: end'),
})

export const DEBOUNCE = record<NonNullable<NewJob['debounce']>>('Debounce', {
  key: field(key, 'of that name'),
  delay: field(duration(1), 'how long it is to be quiet'),
  mode: field(choice(DEBOUNCE_MODES), 'one job after the last call, with its data; or at the first one'),
  maxDelay: optional(duration(1), 'from the first call: then the job comes, or the next call creates one; `delay` or more'),
})

export const THROTTLE = record<NonNullable<NewJob['throttle']>>('Throttle', {
  key: field(key, 'of that name'),
  period: field(duration(1), 'from the call that creates a job: calls within are answered with it'),
})

type RunKind = (typeof RUN_OPTIONS)[RunOption]['kind']

function kindOf(kind: RunKind): Kind<unknown> {
  switch (kind.type) {
    case 'name':
      return name()
    case 'integer':
      return integer(kind.min, kind.max)
    case 'duration':
      return duration(kind.min, 'endless' in kind && kind.endless === 'kept')
    case 'backoff':
      return BACKOFF
  }
}

/** A field that core's table of job options describes. */
function option<Name extends RunOption>(which: Name): Field<RunSettings[Name]> {
  return optional(kindOf(RUN_OPTIONS[which].kind), noteOf(RUN_OPTIONS[which])) as Field<RunSettings[Name]>
}

/** Returns what a row of core's says, and what nil stands for. */
export function noteOf({ says, preset }: Row): string {
  return says.charAt(0).toLowerCase() + says.slice(1) + (preset === undefined ? '' : `; nil: ${preset}`)
}

/** The fields of core's table of texts. New ones come last in a map. */
const { concurrencyKey, ...TEXTS } = mapJobTexts((which) => {
  const { max } = JOB_TEXTS[which].kind
  return optional(max === LIMITS.keyLength ? key : given(max), noteOf(JOB_TEXTS[which]))
})

const newJob = record<NewJob>('NewJob', {
  name: field(name(), 'what handlers are found by'),
  data: or(data, null, 'what the handler gets'),
  queue: option('queue'),
  priority: option('priority'),
  delay: optional(duration(0), 'not before so long from now, by the engine’s clock; not with `runAt`'),
  runAt: optional(time, 'not before then'),
  idempotencyKey: optional(key, 'create once: a repeat is answered with the first job'),
  unique: optional(UNIQUE, 'of all live jobs'),
  maxAttempts: option('maxAttempts'),
  timeout: option('timeout'),
  heartbeatTimeout: option('heartbeatTimeout'),
  backoff: option('backoff'),
  ttl: option('ttl'),
  idempotencyTtl: optional(duration(1), 'how long a repeat is recognised at least, its job ended or not; nil: 24 hours'),
  weight: option('weight'),
  concurrencyKey,
  tags: optional(list(key, LIMITS.tagsPerJob)),
  meta: optional(text(LIMITS.metaBytes), 'JSON text'),
  debounce: optional(DEBOUNCE, 'without `throttle`, `idempotencyKey`, `unique`, `delay` and `runAt`'),
  throttle: optional(THROTTLE, 'without `idempotencyKey` and `unique`'),
  maxAge: option('maxAge'),
  tokens: option('tokens'),
  maxLost: option('maxLost'),
  keep: option('keep'),
  logLines: option('logLines'),
  ...TEXTS,
})

/** Refuses options that exclude each other: one of the two keys would never be free again. */
export const NEW_JOB: typeof newJob = {
  ...newJob,
  read: (from) => {
    const job = newJob.read(from)
    if (job.debounce === undefined && job.throttle === undefined) return job
    const conflict = shapingConflict(job)
    if (conflict !== undefined) throw from.refused(refusalFrom(conflict))
    return job
  },
}

export const NEW_JOBS = list(NEW_JOB, LIMITS.jobsPerCommand)

export const SOURCE_ENTRY = record<SourceEntry>('Entry', {
  at: field(idTime, 'by the producer’s clock; if it is more than a day ahead of the engine’s, the jobs get ids of the engine'),
  jobs: field(NEW_JOBS, 'all or none are created'),
})

export const SOURCE_ENTRIES = list(SOURCE_ENTRY, ITEMS_MAX)

const ON_FAILURE_NOTE =
  'if one fails, is cancelled or deleted: this job fails; runs later and sees it; runs later without it; is cancelled; or runs at once (else it is dropped)'

export const FLOW_NODE = record<FlowNode>('Node', {
  ref: field(key, 'its name within the flow'),
  job: field(NEW_JOB, 'without `idempotencyKey`, `unique`, `debounce` and `throttle`'),
  parents: or(list(count, LIMITS.jobsPerCommand), NONE, 'places of those that it waits for, from 0: each before its own, and once'),
  onFailure: or(choice(ON_PARENT_FAILURE), 'fail', ON_FAILURE_NOTE),
})

const nodes = list(FLOW_NODE, LIMITS.jobsPerCommand)

export const WANTED_WAIT = record<WantedWait>('Wait', {
  name: field(key, 'once in a job'),
  asked: field(integer(1, LIMITS.stepsPerJob), 'as in `step`'),
  delay: optional(duration(0), 'from the first time that the engine hears of it'),
  until: optional(time, 'in place of `delay`'),
  message: optional(key, 'name of the message that it waits for; then without an end, if it has neither'),
})

/** Held against one another: what is created must be able to run. */
export const FLOW_NODES: Kind<readonly FlowNode[]> = {
  ...nodes,
  read: (from) => {
    const read = nodes.read(from)
    if (read.length === 0) throw from.outside(1, 'at least one node, got none')
    let edges = 0
    for (const [place, { ref, job, parents }] of read.entries()) {
      edges += parents.length
      if ((job.idempotencyKey ?? job.unique ?? job.debounce ?? job.throttle) !== undefined)
        throw from.wrong('new jobs, without idempotencyKey, unique, debounce and throttle')
      if (new Set(parents).size < parents.length || parents.some((parent) => parent >= place))
        throw from.wrong(`in order: '${ref}' waits for nodes before it, for each once`)
    }
    if (new Set(read.map(({ ref }) => ref)).size < read.length) throw from.wrong('nodes with different refs')
    if (edges > LIMITS.edgesPerFlow) {
      const limit = LIMITS.edgesPerFlow
      throw from.outside(limit, `nodes that wait for at most ${limit} others in all, got ${edges}`)
    }
    return read
  },
}

export const DEFAULTS = record<Defaults>('Defaults', {
  queue: option('queue'),
  priority: option('priority'),
  weight: option('weight'),
  maxAttempts: option('maxAttempts'),
  timeout: option('timeout'),
  heartbeatTimeout: option('heartbeatTimeout'),
  backoff: option('backoff'),
  maxAge: option('maxAge'),
  weak: optional(boolean, "true: attempts, backoff, age and timeouts are beneath those of the job's queue"),
  ttl: option('ttl'),
  tokens: option('tokens'),
  maxLost: option('maxLost'),
  keep: option('keep'),
  logLines: option('logLines'),
})

export const HANDLER = record<SessionIntro['handlers'][number]>('Handler', {
  name: field(name(), 'of the jobs that it runs'),
  defaults: or(DEFAULTS, Object.freeze({}) as Defaults, 'for jobs that are enqueued by name alone'),
})

export const RUN = {
  seq: field<number>(seq, 'of the grant'),
  run: field<number>(count, 'of the grant'),
}

export const RUN_KEY = record<RunKey>('Run', RUN)
export const RUN_KEYS = list(RUN_KEY, HELD_MAX)

/** Without `local`, because who comes over a connection is not in the engine's process, and `library`, which the greeting says. */
export const SESSION = record<Omit<SessionIntro, 'local' | 'library' | 'process'>>('Session', {
  uuid: field(text(LIMITS.nameLength), 'random, per worker and process'),
  worker: field(told(LIMITS.nameLength), 'its public name'),
  host: field(told(LIMITS.nameLength)),
  pid: field(count),
  handlers: field(list(HANDLER, ITEMS_MAX)),
  queues: optional(list(queuePattern, ITEMS_MAX), 'nil: every queue'),
  minConcurrency: field(integer(1, LIMITS.concurrency), 'topped up when less weight than that runs'),
  maxConcurrency: field(integer(1, LIMITS.concurrency), 'weight that runs at a time'),
  abortGrace: field(duration(0), 'between an abort and the moment the engine itself ends the run'),
  pooled: optional(boolean, 'true: a pool of threads or of child processes runs its handlers'),
  paused: optional(boolean, 'true: it takes no jobs until it says otherwise'),
  isolated: optional(boolean, 'true: a pool of child processes runs its handlers'),
  order: optional(choice(QUEUE_ORDERS), 'of `queues`: in turns, or an earlier one first; nil: fair'),
  defines: optional(boolean, 'false: its defaults never come into force; nil: they may'),
})

export const VITALS = record<Vitals>('Vitals', {
  eventLoopDelayMs: optional(number(0, LIMITS.durationMs, 'number'), '99th percentile since the last report, in milliseconds'),
  rssBytes: optional(count, 'memory that the process occupies'),
})

export const KEY = {
  seq: field<number>(seq, 'the three parts of a job id'),
  node: field<number>(node),
  enqueuedAt: field<number>(idTime),
}

export const JOB_KEY = record<JobKey>('JobKey', KEY)

export const RUN_CAUSE = record<RunCause>('RunCause', {
  name: field(told(LIMITS.errorNameLength), 'of its class'),
  message: field(told(LIMITS.errorCauseLength)),
  code: optional(told(LIMITS.errorCodeLength)),
})

export const RUN_CAUSES = list(RUN_CAUSE, LIMITS.errorCauses)

export const RUN_ERROR = record<RunError>('RunError', {
  name: field(told(LIMITS.errorMessageLength), 'of the error’s class'),
  message: field(told(LIMITS.errorMessageLength)),
  stack: optional(told(LIMITS.errorStackLength)),
  code: optional(told(LIMITS.errorCodeLength), 'such as `ECONNREFUSED`; a number as a string'),
  cause: optional(RUN_CAUSES, 'the chain of its causes, the nearest first'),
})

export const LOG_LINE = record<LogLine>('LogLine', {
  at: field(time),
  level: field(choice(LOG_LEVELS)),
  message: field(told(LIMITS.logMessageLength)),
  fields: optional(told(LIMITS.logMessageLength), 'JSON text'),
})

export const LOG_LINES = list(LOG_LINE, ITEMS_MAX)

const tags = list(key, LIMITS.tagsPerJob)
const meta = text(LIMITS.metaBytes)
const TAGS_NOTE = 'in place of all that it has; an empty array: none'
const META_NOTE = 'JSON text, in place of the whole'

const RUN_CHANGES = {
  maxAttempts: optional(kindOf(RUN_OPTIONS.maxAttempts.kind) as Kind<number>, 'those that it has used included'),
  timeout: optional(kindOf(RUN_OPTIONS.timeout.kind) as Kind<number>, 'of each further attempt'),
  backoff: optional(BACKOFF, 'after each further failed attempt'),
}

export const CHANGES = record<JobChanges>('Changes', {
  data: optional(changed),
  runAt: optional(time),
  priority: optional(priority),
  weight: optional(weight),
  checkpoint: optional(changed),
  tags: optional(tags, TAGS_NOTE),
  meta: optional(meta, META_NOTE),
  ...RUN_CHANGES,
})

export const PLACE_CHANGES = record<PlaceChanges & LabelChanges>('PlaceChanges', {
  runAt: optional(time),
  priority: optional(priority),
  weight: optional(weight),
  tags: optional(tags, TAGS_NOTE),
  meta: optional(meta, META_NOTE),
  ...RUN_CHANGES,
})

export const HELD_KEY = record<HeldKey>('HeldKey', {
  kind: field(choice(KEY_KINDS)),
  name: field(name(), 'of the job'),
  key: field(key),
})

export const FAILED_PLACE = record<FailedPlace>('FailedPlace', {
  finishedAt: field(time),
  seq: field(seq),
})

export const FLOW_CURSOR = record<FlowCursor>('FlowCursor', {
  seq: field(seq),
  place: field(count, 'how many of the jobs that it waits for were on earlier pages'),
})

const fingerprint = integer(0, Number.MAX_SAFE_INTEGER, 'integer: the hexadecimal digits of `failures` as a number')

const contained: Kind<string> = {
  ...text(LIMITS.containedLength, `JSON as a string, up to ${withCommas(LIMITS.containedLength)}; not {} or []`),
  read: (from) => {
    const json = from.text(LIMITS.containedLength)
    if (!isContained(json)) throw from.wrong(`JSON with a property or an item, got ${json}, which every object or array contains`)
    return json
  },
}

function filterKind(kind: FilterKind): Kind<unknown> {
  switch (kind) {
    case 'state':
      return code(STATES)
    case 'states':
      return list(code(STATES), STATES.length)
    case 'name':
      return name()
    case 'text':
      return key
    case 'boolean':
      return boolean
    case 'time':
      return time
    case 'fingerprint':
      return fingerprint
    case 'json':
      return contained
    case 'job':
      return JOB_KEY
  }
}

/** The fields of core's table, in its order. */
export const FILTER = record<ListFilter>(
  'Filter',
  Object.fromEntries(
    FILTER_NAMES.map((each) => [each, optional(filterKind(FILTER_FIELDS[each].kind), `jobs ${FILTER_FIELDS[each].says}`)]),
  ) as unknown as Fields<ListFilter>,
)

export const EVENT_FILTER = record<EventFilter>('EventFilter', {
  types: optional(list(choice(EVENT_TYPES), EVENT_TYPES.length), 'nil: all'),
  queue: optional(name()),
  name: optional(name()),
  id: optional(JOB_KEY, 'of a job'),
})

export const SCHEDULE_SPEC = record<ScheduleSpec>('Schedule', {
  cron: optional(text(LIMITS.cronLength), '5 fields, 6 with seconds in front, or 7 with the year behind those; or `every`'),
  timezone: optional(text(LIMITS.nameLength), 'of `cron`, an IANA name; nil: UTC'),
  every: optional(duration(LIMITS.everyMs), 'between two ticks'),
  startAt: optional(time, 'no tick before it; where `every` counts from; nil: the creation'),
  endAt: optional(time, 'no tick after it'),
  jitter: or(span(LIMITS.jitterMs), 0, 'how late a tick fires at most'),
  overlap: or(
    choice(OVERLAPS),
    'skip',
    'what becomes of a tick while the job of an earlier one is not final: lost, waits, cancels it, comes beside it',
  ),
  catchUp: or(choice(CATCH_UPS), 'latest', 'of ticks that could not fire in time: one job for the latest, one each, or none'),
  catchUpWithin: optional(duration(1), 'a tick that could not fire for longer is lost; nil: no bound'),
  maxRuns: optional(integer(1, LIMITS.runsPerSchedule), 'it ends after this many jobs; nil: no end'),
})
