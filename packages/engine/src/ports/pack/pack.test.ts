import { type Delivery, type Grant, type JobView, type Reply, type Request, STATES, STEP_KINDS } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packDelivery, unpackDelivery } from './deliveries.ts'
import { packRequests, unpackRequests } from './requests.ts'

const count = fc.nat({ max: 2 ** 48 - 1 })
const data = fc.oneof(fc.string(), fc.constant(null), fc.uint8Array())
const backoff = fc.constantFrom({ type: 'fixed', delay: 1 }, { type: 'fixed', delay: 2 })
/** As a definition makes them: equal but for their data. */
const defined = fc
  .tuple(
    fc.constantFrom(
      { name: 'a', maxAttempts: 5, timeout: Number.POSITIVE_INFINITY },
      { name: 'a', maxAttempts: 5 },
      { name: 'b', queue: 'q' },
    ),
    fc.option(backoff, { nil: undefined }),
    data,
  )
  .map(([definition, retries, value]) => ({ ...definition, ...(retries !== undefined && { backoff: retries }), data: value }))
const newJob = fc.oneof(
  fc.record(
    { name: fc.string(), data, queue: fc.string(), priority: fc.integer(), tags: fc.array(fc.string()) },
    { requiredKeys: ['name', 'data'] },
  ),
  defined,
)
const command = fc.oneof(
  fc.record({ op: fc.constant('enqueue' as const), jobs: fc.array(newJob, { maxLength: 3 }) }),
  fc.record(
    { op: fc.constant('complete' as const), seq: count, run: count, output: data, enqueues: fc.array(newJob) },
    { requiredKeys: ['op', 'seq', 'run', 'output'] },
  ),
  fc.record(
    {
      op: fc.constant('step' as const),
      ...{ seq: count, run: count, number: count, asked: count, name: fc.string(), startedAt: count, value: data },
      ...{ kind: fc.constantFrom('step' as const, 'change' as const), error: fc.object() },
    },
    { requiredKeys: ['op', 'seq', 'run', 'number', 'asked', 'name', 'startedAt', 'value', 'kind'] },
  ),
  fc.record({ op: fc.constant('giveBack' as const), seq: count, run: count }),
  fc.constant({ op: 'stats' as const }),
)
const lone = defined.map((job) => ({ op: 'enqueue' as const, jobs: [job] }))
const requests = fc.array(fc.record({ id: count, command: fc.oneof(command, lone) })) as fc.Arbitrary<Request[]>
const attempt = fc.record(
  {
    run: fc.nat(),
    attempt: fc.nat(),
    startedAt: count,
    endedAt: count,
    worker: fc.constantFrom('w1', 'w2'),
    error: fc.object(),
    logs: fc.array(fc.object()),
  },
  { requiredKeys: ['run', 'attempt', 'startedAt', 'endedAt', 'worker', 'logs'] },
)
const job = fc
  .record({
    seq: count,
    node: count,
    enqueuedAt: count,
    name: fc.constantFrom('a', 'b'),
    queue: fc.constantFrom('q', 'r'),
    state: fc.constantFrom(...STATES),
    data,
    output: data,
    checkpoint: data,
    run: fc.nat(),
    attempt: fc.nat(),
    maxAttempts: fc.constantFrom(1, 4),
    maxAge: fc.constantFrom(5, Number.POSITIVE_INFINITY),
    maxLost: fc.constantFrom(undefined, 0, 3),
    keep: fc.constantFrom(undefined, 0, 3),
    logLines: fc.constantFrom(0, 100, 10_000),
    timeout: fc.constantFrom(1, Number.POSITIVE_INFINITY),
    heartbeatTimeout: fc.constantFrom(0, 1),
    backoff,
    priority: fc.integer(),
    weight: count,
    runAt: count,
    expiresAt: count,
    startedAt: count,
    finishedAt: count,
    progress: fc.option(fc.string()),
    cancelRequested: fc.boolean(),
    tags: fc.array(fc.string(), { maxLength: 2 }),
    meta: fc.option(fc.string()),
    idempotencyKey: fc.option(fc.string()),
    uniqueKey: fc.option(fc.string()),
    concurrencyKey: fc.option(fc.string()),
    flow: fc.option(fc.object()),
    attempts: fc.array(attempt, { maxLength: 2 }),
    own: fc.option(fc.constantFrom('w1', 'w2')),
    bytes: fc.option(fc.record({ data: fc.nat(), output: fc.option(fc.nat()), checkpoint: fc.constant(null) }), { nil: undefined }),
    lastRun: fc.option(fc.option(fc.record({ run: fc.nat(), worker: fc.string() })), { nil: undefined }),
    cancellation: fc.option(fc.record({ reason: fc.string(), by: fc.string() }, { requiredKeys: [] }), { nil: undefined }),
    lostRuns: fc.option(fc.nat(), { nil: undefined }),
    originalRunAt: fc.option(fc.nat(), { nil: undefined }),
  })
  .map(({ own, bytes, lastRun, cancellation, lostRuns, originalRunAt, ...view }) => {
    const { run, attempt: number, startedAt, finishedAt: endedAt } = view
    // As most are: done at once.
    const attempts = own === null ? view.attempts : [{ run, attempt: number, startedAt, endedAt, worker: own, logs: [] }]
    const some = {
      ...(cancellation && { cancellation }),
      ...(lostRuns !== undefined && { lostRuns }),
      ...(originalRunAt !== undefined && { originalRunAt }),
    }
    return { ...view, attempts, ...(bytes && { bytes }), ...(lastRun !== undefined && { lastRun }), ...some }
  }) as unknown as fc.Arbitrary<JobView>
const jobs = fc.array(job, { maxLength: 5 })
/** What a page of a flow has of a job. */
const flowJob = fc.record({ seq: count, ref: fc.string(), name: fc.string(), dependsOn: fc.constant([{ seq: 1, ref: 'a', told: null }]) })
const result = fc.record(
  {
    ...{ number: count, asked: count, name: fc.string(), kind: fc.constantFrom(...STEP_KINDS), run: count },
    ...{ startedAt: count, endedAt: count, value: data, error: fc.object() },
  },
  { requiredKeys: ['number', 'asked', 'name', 'kind', 'run', 'startedAt', 'endedAt', 'value'] },
)
const reply = fc.oneof(
  fc.record({
    id: count,
    value: fc.record({ results: fc.array(result), next: fc.option(count), generation: fc.nat(), waits: fc.array(fc.object()) }),
  }),
  fc.record({ id: count, value: fc.record({ jobs, next: fc.option(count) }) }),
  fc.record({
    id: count,
    value: fc.record(
      { jobs, missed: fc.nat(), next: count, gap: fc.constant({ after: 1, resumesAt: 5 }) },
      { requiredKeys: ['jobs', 'missed', 'next'] },
    ),
  }),
  fc.record({
    id: count,
    value: fc.record({ first: fc.constant({ seq: 1, node: 1, enqueuedAt: 1 }), jobs: fc.array(flowJob), next: fc.constant(null) }),
  }),
  fc.record({
    id: count,
    value: fc.oneof(fc.constant(true), fc.constant(null), fc.constant('cancelled'), fc.constant([]), fc.constant({ lost: [] })),
  }),
  fc.record({
    id: count,
    value: fc.array(fc.record({ seq: count, node: count, enqueuedAt: count, created: fc.boolean() }), { maxLength: 3 }),
  }),
  fc.record({ id: count, refusal: fc.record({ code: fc.constant('STALE_RUN' as const), message: fc.string() }) }),
) as fc.Arbitrary<Reply>
const grant = fc.record({
  session: fc.constantFrom('s1', 's2', 's3'),
  seq: count,
  node: count,
  enqueuedAt: count,
  name: fc.string(),
  queue: fc.string(),
  run: count,
  attempt: count,
  maxAttempts: count,
  priority: fc.integer(),
  weight: count,
  runAt: count,
  timeout: fc.oneof(count, fc.constant(Number.POSITIVE_INFINITY)),
  heartbeatTimeout: count,
  data,
  checkpoint: data,
  tags: fc.option(fc.array(fc.string()), { nil: undefined }),
  meta: fc.option(fc.string(), { nil: undefined }),
  concurrencyKey: fc.option(fc.string(), { nil: undefined }),
  joined: fc.option(fc.array(fc.record({ name: fc.string(), place: count, jobs: count })), { nil: undefined }),
  logLines: fc.option(count, { nil: undefined }),
}) as fc.Arbitrary<Grant>

test('requests come out of the channel as they went in', () => {
  fc.assert(
    fc.property(requests, (sent) => {
      expect(unpackRequests(structuredClone(packRequests(sent)))).toEqual(sent)
    }),
  )
})

test('deliveries come out of the channel as they went in', () => {
  const delivery = fc.record({
    replies: fc.array(reply),
    grants: fc.array(grant),
    notices: fc.constant([]),
    events: fc.constant([]),
    renewal: fc.nat(),
  }) as fc.Arbitrary<Delivery>
  fc.assert(
    fc.property(delivery, (sent) => {
      expect(unpackDelivery(structuredClone(packDelivery(sent)))).toEqual(sent)
    }),
  )
})
