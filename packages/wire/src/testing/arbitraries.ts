/** Every possible message, for property tests: times beyond 2038, numbers up to 2^53, strings with NUL and halves of pairs. */
import {
  type Command,
  type CommandOf,
  type Delivery,
  type EnginePauseEvent,
  ERROR_CODES,
  EVENT_TYPES,
  FLOW_STATES,
  type Grant,
  isContained,
  JOB_EVENT_TYPES,
  JOB_TEXTS,
  type JobEvent,
  type JournalEvent,
  KEY_KINDS,
  KEYED_CALLS,
  MISS_REASONS,
  mapJobTexts,
  type NewJob,
  NODE_LIMIT,
  type Notice,
  ON_PARENT_FAILURE,
  type Operation,
  PAYLOADS,
  PLACE_LIMIT,
  QUEUE_ORDERS,
  type QueueEvent,
  type Reply,
  type Request,
  SCOPES,
  type ScheduleEvent,
  STATES,
  SYSTEM_EVENT_TYPES,
  type SystemEventType,
  UNIQUE_UNTILS,
  validateQueueOptions,
  type WorkerEvent,
} from '@millrace/core'
import fc from 'fast-check'
import type { Message } from '../message.ts'

/** Generates only plain objects: those without a prototype are read back as plain ones. */
function record<T>(
  model: { readonly [Name in keyof T]: fc.Arbitrary<T[Name]> },
  constraints: { requiredKeys?: (keyof T)[] } = {},
): fc.Arbitrary<T> {
  return fc.record(model, { ...constraints, noNullPrototype: true }) as fc.Arbitrary<T>
}

const SAFE = Number.MAX_SAFE_INTEGER
/** The numbers around which the encoding takes another form. */
const edges = fc.constantFrom(0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, SAFE)
const count = fc.oneof(fc.nat(), fc.maxSafeNat(), edges)
const below = (limit: number) => fc.oneof(fc.nat({ max: Math.min(limit - 1, 2 ** 31 - 1) }), fc.maxSafeNat()).map((any) => any % limit)
const signed = fc.tuple(count, fc.boolean()).map(([any, minus]) => (minus && any !== 0 ? -any : any))
const seq = below(2 ** 48)
const node = below(2 ** 26)
const time = fc.oneof(fc.constantFrom(0, 2 ** 31 * 1_000, 8_640_000_000_000_000), fc.integer({ min: 0, max: 8_640_000_000_000_000 }))
const idTime = fc.oneof(fc.constantFrom(0, 2 ** 48 - 1), fc.integer({ min: 0, max: 2 ** 48 - 1 }))
const duration = fc.nat({ max: 2 ** 31 - 1 })
const fraction = fc.double({ min: 0, max: 1, noNaN: true }).map((any) => any + 0)

/** Strings of any units, so also halves of surrogate pairs. */
const anyText = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ maxLength: max }),
    fc.string({ unit: 'binary', maxLength: Math.floor(max / 2) }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: Math.min(max, 40) }).map((units) => String.fromCharCode(...units)),
    fc.constantFrom('', '\0', 'a\0b', '\ud800', '\udc00\ud800', 'x\udfff', '😀', '\ufffd', '\ufffd\ud834', '"\\ud800"'),
  )
/** Names, except those of properties that every object has: comparisons of objects stumble over them. */
const name = fc.stringMatching(/^[A-Za-z0-9_.:/-]{1,128}$/).filter((text) => !(text in {}) && text !== '.' && text !== '..')
const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 250 }).filter((text) => text.length > 0)
const data = fc.oneof(anyText(200), fc.json(), fc.constant(null), fc.uint8Array({ maxLength: 300 }))
const backoff = record(
  {
    type: fc.constantFrom('exponential', 'linear', 'fixed'),
    delay: duration,
    factor: fc.double({ min: 1, max: 1_000, noNaN: true }),
    maxDelay: duration,
    jitter: fc.oneof(fraction, fc.constantFrom('equal', 'full')),
  },
  { requiredKeys: ['type', 'delay'] },
) as fc.Arbitrary<NonNullable<NewJob['backoff']>>
const policy = {
  queue: name,
  priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  weight: fc.integer({ min: 1, max: 1_000_000 }),
  maxAttempts: fc.integer({ min: 1, max: 100_000 }),
  timeout: fc.oneof(fc.integer({ min: 1 }), fc.constant(Number.POSITIVE_INFINITY)),
  heartbeatTimeout: duration,
  backoff,
  maxAge: fc.integer({ min: 1 }),
  tokens: fc.integer({ min: 1, max: 1_000_000_000 }),
  maxLost: fc.integer({ min: 0, max: 100_000 }),
  keep: fc.integer({ min: 0, max: 3_153_600_000_000 }),
  logLines: fc.integer({ min: 0, max: 10_000 }),
  ttl: fc.integer({ min: 1 }),
}
const plainJob = {
  name,
  data,
  ...policy,
  ...mapJobTexts((text) => fc.string({ unit: 'binary', minLength: 1, maxLength: Math.min(250, JOB_TEXTS[text].kind.max / 2) })),
  tags: fc.array(key, { maxLength: 4 }),
  meta: anyText(100),
}
const keyedJob = record(
  {
    ...plainJob,
    delay: duration,
    runAt: time,
    idempotencyKey: key,
    idempotencyTtl: fc.integer({ min: 1 }),
    unique: record(
      { key, onConflict: fc.constantFrom('skip', 'replace', 'reschedule', 'error'), until: fc.constantFrom(...UNIQUE_UNTILS) },
      { requiredKeys: ['key', 'onConflict'] },
    ),
  },
  { requiredKeys: ['name', 'data'] },
)
const debounce = fc
  .tuple(fc.integer({ min: 1, max: 1_000 }), fc.option(fc.integer({ min: 1_000 }), { nil: undefined }))
  .chain(([delay, maxDelay]) =>
    record({ key, delay: fc.constant(delay), mode: fc.constantFrom('trailing', 'leading') }).map((of) => ({
      ...of,
      ...(maxDelay !== undefined && { maxDelay }),
    })),
  )
const throttle = record({ key, period: fc.integer({ min: 1 }) })
/** Options that exclude each other never occur together. */
const newJob = fc.oneof(
  { weight: 3, arbitrary: keyedJob },
  record({ ...plainJob, debounce }, { requiredKeys: ['name', 'data', 'debounce'] }),
  record({ ...plainJob, delay: duration, throttle }, { requiredKeys: ['name', 'data', 'throttle'] }),
) as fc.Arbitrary<NewJob>
const cancellation = { reason: anyText(60), by: anyText(60) }
const run = { seq, run: count }
const runKey = record(run)
const id = record({ seq, node, enqueuedAt: idTime })
const uuid = anyText(128)
const cause = fc.array(record({ name: anyText(60), message: anyText(100), code: anyText(60) }, { requiredKeys: ['name', 'message'] }), {
  maxLength: 5,
})
const error = record(
  { name: anyText(60), message: anyText(300), stack: anyText(300), code: anyText(60), cause },
  { requiredKeys: ['name', 'message'] },
)
const line = record(
  { at: time, level: fc.constantFrom('debug', 'info', 'warn', 'error'), message: anyText(60), fields: anyText(60) },
  { requiredKeys: ['at', 'level', 'message'] },
)

const positive = (max: number) => fc.oneof(fc.constant(null), fc.integer({ min: 1, max }))
const keep = record({ age: duration, count: fc.integer({ min: 0, max: 1_000_000_000 }) })
const rate = fc.option(
  record({
    limit: fc.integer({ min: 1, max: 1_000_000_000 }),
    period: fc.integer({ min: 1, max: 86_400_000 }),
    burst: fc.integer({ min: 1, max: 1_000 }),
  }),
)

const queueChanges = record(
  {
    concurrencyLimit: positive(1_000_000),
    sharedLimit: fc.option(record({ name, limit: fc.integer({ min: 1, max: 1_000_000 }) })),
    perKeyLimit: positive(1),
    keyOrder: fc.constantFrom('strict', 'turns', null),
    rateLimit: rate,
    perKeyRateLimit: rate,
    keyTiers: fc.option(fc.dictionary(fc.constantFrom('gold', 'trial/1', 'toString'), fc.constant({ perKeyLimit: 1 }), { minKeys: 1 })),
    maxLength: positive(1_000_000_000),
    onFull: fc.constantFrom('drop-oldest', 'reject', null),
    share: positive(1_000),
    fairness: fc.constantFrom('name', 'none'),
    repeats: fc.constantFrom('event', 'silent'),
    empties: fc.constantFrom('event', 'silent'),
    deadLetter: fc.option(name),
    retention: fc.option(record({ completed: keep, failed: keep, cancelled: keep }, { requiredKeys: [] })),
    defaults: fc.option(
      record(policy, { requiredKeys: [] }).map((of) => without(without(of as never, 'queue' as never), 'backoff' as never)),
    ),
  },
  { requiredKeys: [] },
).filter(({ onFull, maxLength }) => onFull !== 'drop-oldest' || maxLength !== null)
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.stringify({ value }))
  .filter(isContained)
const state = fc.nat({ max: STATES.length - 1 })
const filter = record(
  { state, queue: name, name, tag: key, states: fc.array(state, { maxLength: STATES.length }), data: json, meta: json, flow: id },
  { requiredKeys: [] },
)
const { priority, weight, maxAttempts, timeout } = policy
const PLACE = { runAt: time, priority, weight, maxAttempts, timeout, backoff, tags: fc.array(key, { maxLength: 4 }), meta: anyText(100) }

const keyless = newJob.map((job) => without(without(without(without(job, 'idempotencyKey'), 'unique'), 'debounce'), 'throttle'))

const stepNumber = fc.integer({ min: 1, max: 10_000 })
const heldKey = record({ kind: fc.constantFrom(...KEY_KINDS), name, key })

const MANY = { filter, limit: fc.integer({ min: 1 }), before: count, dryRun: fc.boolean(), ids: fc.array(id, { maxLength: 3 }) }
const many = record(MANY, { requiredKeys: ['filter', 'limit', 'dryRun'] }) as never

/** The arbitraries of the operations: a new operation without one does not compile. */
export const COMMANDS: { readonly [Op in Operation]: fc.Arbitrary<Omit<CommandOf<Op>, 'op'>> } = {
  enqueue: record({ jobs: fc.array(newJob, { maxLength: 3 }) }),
  forward: record({
    source: uuid,
    number: fc.integer({ min: 1, max: NODE_LIMIT - 1 }),
    first: fc.integer({ min: 1, max: PLACE_LIMIT - 1 }),
    entries: fc.array(record({ at: idTime, jobs: fc.array(newJob, { maxLength: 3 }) }), { maxLength: 3 }),
  }),
  flow: record(
    {
      nodes: fc
        .array(
          record({
            ref: key,
            job: keyless,
            parents: fc.uniqueArray(fc.nat({ max: 3 }), { maxLength: 3 }),
            onFailure: fc.constantFrom(...ON_PARENT_FAILURE),
          }),
          { minLength: 1, maxLength: 4 },
        )
        .map((nodes) =>
          nodes.map((node, place) => ({ ...node, ref: `${place} ${node.ref}`, parents: node.parents.filter((parent) => parent < place) })),
        ),
      idempotencyKey: key,
      idempotencyTtl: fc.integer({ min: 1 }),
    },
    { requiredKeys: ['nodes'] },
  ) as never,
  parents: record({ ...run, after: count, until: count }, { requiredKeys: ['seq', 'run'] }) as never,
  join: record({ ...run, name: key, jobs: fc.array(keyless, { minLength: 1, maxLength: 3 }) }),
  step: record(
    {
      ...run,
      ...{ number: stepNumber, asked: stepNumber, name: key, kind: fc.constantFrom('step', 'change'), startedAt: time, value: data },
      error,
    },
    { requiredKeys: ['seq', 'run', 'number', 'asked', 'name', 'kind', 'startedAt', 'value'] },
  ) as never,
  wait: record({
    ...run,
    settled: count,
    waits: fc.array(
      record({ name: key, asked: stepNumber, delay: duration, until: time, message: key }, { requiredKeys: ['name', 'asked'] }),
      {
        maxLength: 3,
      },
    ),
    end: fc.boolean(),
  }) as never,
  recorded: record({ ...run, after: count }),
  send: fc.oneof(
    record({ id, name: key, value: data, idempotencyKey: key, by: key }, { requiredKeys: ['id', 'name', 'value'] }),
    record({ of: heldKey, name: key, value: fc.constant('null'), only: fc.array(name, { maxLength: 3 }) }),
  ) as never,
  getFlow: record(
    { id, limit: fc.integer({ min: 1, max: 200 }), from: record({ seq, place: count }) },
    { requiredKeys: ['id', 'limit'] },
  ) as never,
  listFlows: record(
    { limit: fc.integer({ min: 1, max: 200 }), state: fc.constantFrom(...FLOW_STATES), before: count },
    { requiredKeys: ['limit'] },
  ) as never,
  attach: record({
    session: record({
      uuid,
      worker: anyText(128),
      host: anyText(128),
      pid: count,
      local: fc.constant(false),
      handlers: fc.array(record({ name, defaults: record(policy, { requiredKeys: [] }) }), { maxLength: 3 }),
      queues: fc.array(name, { maxLength: 3 }),
      minConcurrency: fc.integer({ min: 1, max: 100_000 }),
      maxConcurrency: fc.integer({ min: 1, max: 100_000 }),
      abortGrace: duration,
      pooled: fc.boolean(),
      paused: fc.boolean(),
      isolated: fc.boolean(),
      order: fc.constantFrom(...QUEUE_ORDERS),
      defines: fc.boolean(),
    })
      .chain((session) => fc.boolean().map((every) => (every ? without(session, 'defines') : session)))
      .chain((session) => fc.boolean().map((all) => (all ? without(session, 'queues') : session)))
      .chain((session) =>
        fc.boolean().map((old) => (old ? without(without(without(without(session, 'pooled'), 'paused'), 'isolated'), 'order') : session)),
      ),
    held: fc.array(runKey),
  }) as never,
  adjust: record(
    {
      session: uuid,
      minConcurrency: fc.integer({ min: 1, max: 100_000 }),
      maxConcurrency: fc.integer({ min: 1, max: 100_000 }),
      paused: fc.boolean(),
    },
    { requiredKeys: ['session', 'minConcurrency', 'maxConcurrency'] },
  ) as never,
  drain: record({ session: uuid }),
  leave: record({ session: uuid }),
  renew: record(
    {
      renewal: count,
      vitals: record({ eventLoopDelayMs: fc.double({ min: 0, max: 1e6, noNaN: true }), rssBytes: count }, { requiredKeys: [] }),
    },
    { requiredKeys: ['renewal'] },
  ) as never,
  complete: record({ ...run, output: data, enqueues: fc.array(newJob, { maxLength: 2 }) }, { requiredKeys: ['seq', 'run', 'output'] }),
  fail: record(
    {
      ...run,
      error,
      retry: fc.oneof(duration, fc.constant(false as const)),
      cancel: fc.constant(true as const),
      atLeast: fc.constant(true as const),
      changed: fc.constant(true as const),
    },
    { requiredKeys: ['seq', 'run', 'error'] },
  ) as never,
  snooze: record({ ...run, delay: duration }),
  giveBack: record({ ...run, started: fc.boolean() }, { requiredKeys: ['seq', 'run'] }) as never,
  heartbeat: record(run),
  checkpoint: record({ ...run, value: data }),
  progress: record({ ...run, fraction, note: anyText(100), value: anyText(100) }, { requiredKeys: ['seq', 'run', 'fraction'] }) as never,
  log: record({ ...run, lines: fc.array(line, { maxLength: 3 }) }) as never,
  explain: record({ id }),
  logs: record(
    { id, run: count, after: count, limit: fc.integer({ min: 1, max: 1_000 }), newest: fc.boolean() },
    { requiredKeys: ['id', 'limit'] },
  ) as never,
  steps: record({ id, after: count, limit: fc.integer({ min: 1, max: 1_000 }) }),
  get: record({ id, payloadBytes: count, only: fc.constantFrom(...PAYLOADS) }, { requiredKeys: ['id'] }) as never,
  watch: record({ id }),
  unwatch: record({ request: signed }),
  cancel: record({ id, ...cancellation }, { requiredKeys: ['id'] }) as never,
  cancelTree: record({ id, ...cancellation }, { requiredKeys: ['id'] }) as never,
  retryTree: record({ id }),
  update: record({
    id,
    changes: record({ ...PLACE, data, checkpoint: data }, { requiredKeys: [] }),
  }) as never,
  retry: record({ id, from: key }, { requiredKeys: ['id'] }) as never,
  redrive: record(
    { queue: name, name, limit: fc.integer({ min: 1 }), after: record({ finishedAt: time, seq }) },
    { requiredKeys: ['limit'] },
  ) as never,
  runNow: record({ id }),
  delete: record({ id }),
  byKey: record(
    {
      of: heldKey,
      call: fc.constantFrom(...KEYED_CALLS),
      changes: record({ ...PLACE, data, checkpoint: data }, { requiredKeys: [] }),
      from: key,
    },
    { requiredKeys: ['of', 'call'] },
  ) as never,
  getByKey: record({ of: heldKey, payloadBytes: count, only: fc.constantFrom(...PAYLOADS) }, { requiredKeys: ['of'] }) as never,
  configure: record({ queue: name, changes: queueChanges.map(validateQueueOptions) }) as never,
  drainQueue: record({ queue: name }),
  deleteQueue: record({ queue: name }),
  stopWorker: record({ worker: name, timeout: policy.timeout }),
  pause: record({ queue: name, job: name, key, paused: fc.boolean() }, { requiredKeys: ['queue', 'paused'] }) as never,
  queues: record({ queue: name, after: name, limit: fc.integer({ min: 1, max: 500 }) }, { requiredKeys: [] }) as never,
  queueKeys: record({ queue: name, limit: fc.integer({ min: 1, max: 200 }) }),
  cancelMany: record({ ...MANY, ...cancellation }, { requiredKeys: ['filter', 'limit', 'dryRun'] }) as never,
  retryMany: many,
  runNowMany: many,
  updateMany: record(
    { ...MANY, changes: record(PLACE, { requiredKeys: [] }) },
    { requiredKeys: ['filter', 'limit', 'dryRun', 'changes'] },
  ) as never,
  deleteMany: many,
  stats: record(
    { names: fc.constantFrom('histograms', 'percentiles', 'none'), definitions: fc.constantFrom('all', 'disputed') },
    { requiredKeys: [] },
  ) as never,
  workers: record({ after: count, limit: fc.integer({ min: 1, max: 500 }) }, { requiredKeys: [] }) as never,
  list: record(
    {
      filter,
      limit: fc.integer({ min: 1, max: 200 }),
      before: count,
      search: key,
      payloadBytes: count,
      lastRun: fc.boolean(),
    },
    { requiredKeys: ['filter', 'limit'] },
  ) as never,
  subscribe: record({ on: fc.boolean() }),
  events: record({
    after: count,
    filter: record({ types: fc.subarray([...EVENT_TYPES]), queue: name, name, id }, { requiredKeys: [] }),
  }) as never,
  export: record({ name, limit: fc.integer({ min: 1, max: 200 }), upTo: count }, { requiredKeys: ['name', 'limit'] }) as never,
  exports: record({}),
  deleteExport: record({ name }),
  backup: record({ file: anyText(200).filter((file) => file !== '') }),
  upsertSchedule: record(
    {
      id: name,
      spec: record(
        {
          cron: anyText(100),
          timezone: anyText(60),
          every: fc.integer({ min: 1_000 }),
          startAt: time,
          endAt: time,
          jitter: fc.nat({ max: 86_400_000 }),
          overlap: fc.constantFrom('skip', 'queue', 'cancel', 'allow'),
          catchUp: fc.constantFrom('latest', 'all', 'none'),
          catchUpWithin: fc.integer({ min: 1 }),
          maxRuns: fc.integer({ min: 1, max: 1_000_000_000 }),
        },
        { requiredKeys: ['jitter', 'overlap', 'catchUp'] },
      ),
      job: newJob,
      runImmediately: fc.boolean(),
      paused: fc.boolean(),
      absent: fc.boolean(),
      updatedAt: time,
      updateWaiting: fc.boolean(),
    },
    { requiredKeys: ['id', 'spec', 'job', 'runImmediately'] },
  ) as never,
  getSchedule: record({ id: name, times: fc.nat({ max: 1_000 }) }),
  listSchedules: record(
    { prefix: anyText(128), limit: fc.integer({ min: 1, max: 200 }), after: name },
    { requiredKeys: ['prefix', 'limit'] },
  ) as never,
  deleteSchedule: record({ id: name }),
  pauseAll: record({ paused: fc.boolean() }),
  pauseSchedule: record({ id: name }),
  resumeSchedule: record({ id: name }),
  triggerSchedule: record({ id: name, meta: anyText(100) }, { requiredKeys: ['id'] }) as never,
  history: record(
    { queue: name, step: fc.constantFrom('minute', 'hour'), from: time, to: time, busiest: fc.nat(50) },
    { requiredKeys: ['queue', 'step', 'from'] },
  ) as never,
  failures: record(
    { queue: name, name, limit: fc.integer({ min: 1, max: 200 }), order: fc.constantFrom('last', 'count'), trend: fc.constant('hour') },
    { requiredKeys: ['limit'] },
  ) as never,
}

function without<T extends object>(of: T, property: keyof T): T {
  const { [property]: _gone, ...rest } = of
  return rest as T
}

const command: fc.Arbitrary<Command> = fc.oneof(
  ...Object.entries(COMMANDS).map(([op, fields]) => (fields as fc.Arbitrary<object>).map((of) => ({ op, ...of }) as Command)),
)

const request: fc.Arbitrary<Request> = record({ id: signed, command })

/** Plain values, such as those of `get`, `list` or the details of an error. */
const plain: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.constant(null),
    fc.boolean(),
    signed,
    fc.double({ noNaN: true }).map((any) => any + 0),
    anyText(60),
    fc.uint8Array({ maxLength: 40 }),
  ),
  key: fc.string({ maxLength: 12 }).filter((any) => any !== '__proto__' && any !== 'constructor' && any !== 'prototype'),
  node: fc.oneof(
    { maxDepth: 5 },
    tie('leaf'),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(tie('key') as fc.Arbitrary<string>, tie('node'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).node

const counts = record(Object.fromEntries(STATES.map((state) => [state, count])))
const queueStats = record({ waiting: count, paused: fc.boolean(), oldestWaitingMs: count })
const timing = record({ p50: count, p95: count, p99: count, sum: count, buckets: fc.array(count, { maxLength: 24 }) })
const stats = record({
  states: counts,
  totals: record({ enqueued: count, completed: count, failed: count, cancelled: count }),
  queues: fc.dictionary(name, queueStats, { maxKeys: 4, noNullPrototype: true }),
  unserved: fc.array(record({ queue: name, name, waiting: count }), { maxLength: 2 }),
  failing: fc.array(
    record({ queue: name, name, runs: count, failed: count, failedJobs: count, streak: count, firstAt: count, lastAt: count }),
    { maxLength: 2 },
  ),
  workers: count,
  writer: record({
    turns: count,
    commitMsP50: fc.double({ min: 0, max: 1e6, noNaN: true }).map((any) => any + 0),
    draining: fc.boolean(),
  }),
  definitions: fc.array(record({ name, worker: name, host: name, saidAt: count }), { maxLength: 2 }),
  names: fc.array(record({ queue: name, name, started: count, waitMs: timing }), { maxLength: 2 }),
  paused: fc.boolean(),
  queuesLeftOut: count,
  node: count,
  seq: count,
  retrying: count,
  owner: record({ host: name, pid: count, epoch: count }),
  store: record({ file: name, bytes: count, freeBytes: count, walBytes: count, oldestEventAt: time }, { requiredKeys: ['bytes'] }),
})

const reply = fc.oneof(
  record({
    id: signed,
    value: fc.oneof(
      fc.constant(true),
      fc.array(record({ seq, node, enqueuedAt: idTime, created: fc.boolean() }), { maxLength: 3 }),
      record({ lost: fc.array(runKey, { maxLength: 3 }) }),
      stats,
      plain,
    ),
  }),
  record({
    id: signed,
    refusal: record(
      {
        code: fc.constantFrom(...ERROR_CODES),
        message: anyText(200),
        details: fc.dictionary(fc.constantFrom('jobId', 'retryAfter', 'issues'), plain, { noNullPrototype: true }),
      },
      { requiredKeys: ['code', 'message'] },
    ),
  }),
) as fc.Arbitrary<Reply>

const grant = record({
  session: fc.oneof(fc.constantFrom('s1', 's2'), uuid),
  seq,
  node,
  enqueuedAt: idTime,
  name: fc.oneof(fc.constantFrom('resize', 'thumbnail'), name),
  queue: name,
  run: count,
  attempt: count,
  maxAttempts: count,
  priority: policy.priority,
  weight: policy.weight,
  runAt: time,
  timeout: policy.timeout,
  heartbeatTimeout: duration,
  data,
  checkpoint: data,
  tags: fc.option(fc.array(key, { maxLength: 3 }), { nil: undefined }),
  meta: fc.option(anyText(60), { nil: undefined }),
  concurrencyKey: key,
  idempotencyKey: key,
  joined: fc.array(record({ name, place: count, jobs: count }), { maxLength: 2 }),
  logLines: count,
})
  .chain((each) => fc.boolean().map((usual) => (usual ? without(each, 'logLines') : each)))
  .chain((each) => fc.boolean().map((keyless) => (keyless ? without(each, 'concurrencyKey') : each)))
  .chain((each) => fc.boolean().map((keyless) => (keyless ? without(each, 'idempotencyKey') : each)))
  .chain((each) => fc.boolean().map((alone) => (alone ? without(each, 'joined') : each))) as fc.Arbitrary<Grant>

const notice = fc.oneof(
  record(
    { kind: fc.constant('abort'), session: uuid, ...run, cause: fc.constantFrom('timeout', 'cancel', 'stop'), ...cancellation },
    { requiredKeys: ['kind', 'session', 'seq', 'run', 'cause'] },
  ),
  record({ kind: fc.constant('lost'), session: uuid, ...run }),
  record({ kind: fc.constant('messaged'), session: uuid, ...run }),
  record({ kind: fc.constant('gap'), first: count, last: count }),
  record({ kind: fc.constant('stop'), session: uuid, timeout: policy.timeout }),
  fc.constant({ kind: 'reattach' }),
) as fc.Arbitrary<Notice>

const jobEvent = record(
  {
    seq: count,
    type: fc.constantFrom(...JOB_EVENT_TYPES),
    jobSeq: seq,
    node,
    enqueuedAt: idTime,
    queue: name,
    name,
    at: time,
    run: count,
    attempt: count,
    error: anyText(40),
    fraction,
    runAt: time,
    message: anyText(100),
    code: anyText(60),
    cause,
  },
  { requiredKeys: ['seq', 'type', 'jobSeq', 'node', 'enqueuedAt', 'queue', 'name', 'at', 'run', 'attempt'] },
) as fc.Arbitrary<JobEvent>

const stamp = { seq: count, at: time }
const systemEventType = <Prefix extends string>(prefix: Prefix) =>
  fc.constantFrom(
    ...SYSTEM_EVENT_TYPES.filter((type): type is Extract<SystemEventType, `${Prefix}.${string}`> => type.startsWith(`${prefix}.`)),
  )
const event: fc.Arbitrary<JournalEvent> = fc.oneof(
  jobEvent,
  record<QueueEvent>(
    { ...stamp, type: systemEventType('queue'), queue: name, name: name as never, key: key as never },
    { requiredKeys: ['seq', 'at', 'type', 'queue'] },
  ),
  record<ScheduleEvent>(
    {
      ...stamp,
      type: systemEventType('schedule'),
      schedule: name,
      tick: time as never,
      job: id as never,
      reason: fc.constantFrom(...MISS_REASONS) as never,
    },
    { requiredKeys: ['seq', 'at', 'type', 'schedule'] },
  ),
  record<WorkerEvent>({ ...stamp, type: systemEventType('worker'), worker: name, session: uuid }),
  record<EnginePauseEvent>({ ...stamp, type: systemEventType('engine') }),
)

const few = { maxLength: 4 }
const delivery: fc.Arbitrary<Delivery> = record({
  replies: fc.array(reply, few),
  grants: fc.array(grant, few),
  notices: fc.array(notice, few),
  events: fc.array(event, few),
  renewal: count,
})

/** The arbitraries of the types of messages: a new type without one does not compile. */
export const MESSAGES: { readonly [Type in Message['type']]: fc.Arbitrary<Omit<Extract<Message, { type: Type }>, 'type'>> } = {
  hello: record({
    versions: fc.tuple(count, count),
    token: fc.option(anyText(100), { nil: undefined }),
    client: record({ library: anyText(60), host: anyText(60), pid: count, process: anyText(60) }),
  }),
  welcome: record({
    version: count,
    server: anyText(60),
    node,
    scopes: fc.subarray([...SCOPES]),
    limits: record(
      { frameBytes: count, requestsInFlight: count, bytesInFlight: count, pingMs: count, silenceMs: count, dataBytes: count },
      { requiredKeys: ['frameBytes', 'requestsInFlight', 'bytesInFlight', 'pingMs', 'silenceMs'] },
    ),
  }),
  requests: record({ requests: fc.array(request, { maxLength: 6 }) }),
  delivery: record({ delivery }),
  ping: record({ nonce: count }),
  pong: record({ nonce: count }),
  goodbye: record({ code: anyText(60), message: anyText(200), retryAfterMs: signed }),
}

export const message: fc.Arbitrary<Message> = fc.oneof(
  ...Object.entries(MESSAGES).map(([type, fields]) => (fields as fc.Arbitrary<object>).map((of) => ({ type, ...of }) as Message)),
)
