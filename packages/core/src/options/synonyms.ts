/** Options and states by the words of other queues, and what Millrace has in their place: one table for the library, the CLI and HTTP. */
import { COMPARED_LENGTH, nearest } from './nearest.ts'

interface Synonym {
  /** Options of ours, the likeliest first: the one that the call knows is meant. */
  readonly ours?: readonly string[]
  /** A sentence behind the option, or alone where the call knows none of them. */
  readonly note?: string
  /** The options to use instead if the call knows none of them. */
  readonly elsewhere?: string
}

const ATTEMPTS: Synonym = { ours: ['maxAttempts'], note: 'It counts the first attempt too' }
const BACKOFF: Synonym = { ours: ['backoff'], note: "It takes { type: 'fixed', delay: '5s' } or { type: 'exponential', delay: '1s' }" }
const RECURRING: Synonym = {
  elsewhere: 'a recurring job is a schedule: create one with schedules.upsert (CLI: millrace schedules set, HTTP: PUT /v1/schedules/{id})',
}
const UNIQUE: Synonym = {
  ours: ['idempotencyKey', 'unique'],
  note: 'It creates a job once; unique allows one live job for each key',
  elsewhere: 'set idempotencyKey or unique when you enqueue the job',
}
const LIVE: Synonym = {
  ours: ['unique'],
  note: 'It allows one live job for each key; debounce and throttle limit how often jobs come',
  elsewhere: 'set unique, debounce or throttle when you enqueue the job',
}
const RETENTION: Synonym = {
  ours: ['retention', 'keep'],
  note: 'It says how long finished jobs are kept',
  elsewhere: 'keep of a job, or retention of the queue (queues.configure) or of openEngine, says how long finished jobs are kept',
}
const RATE: Synonym = {
  ours: ['rateLimit'],
  note: "It takes { limit: 100, period: '1s' }",
  elsewhere: "a rate limit belongs to the queue: queues.configure(queue, { rateLimit: { limit: 100, period: '1s' } })",
}
const CONCURRENCY: Synonym = {
  ours: ['concurrency', 'concurrencyLimit'],
  elsewhere: 'set concurrency on the worker (work), or concurrencyLimit on the queue (queues.configure)',
}
const KEY: Synonym = { ours: ['concurrencyKey'] }
const TIMEOUT: Synonym = { ours: ['timeout'], note: "It is a duration, such as 30000 (milliseconds) or '30s'" }
const LEASE: Synonym = { ours: ['heartbeatTimeout'] }
const START: Synonym = { ours: ['runAt', 'delay'], note: 'It is a time; delay is a duration' }
const FLOW: Synonym = { ours: ['dependsOn'], elsewhere: 'jobs that wait for others are a flow: create it with flow([...])' }
const DEAD_LETTER: Synonym = {
  ours: ['deadLetter'],
  elsewhere: "a dead-letter queue belongs to the queue whose jobs fail: queues.configure(queue, { deadLetter: 'dead' })",
}
const FILE: Synonym = { ours: ['file'] }

/** Synonyms by their name in lower case. */
const SYNONYMS: Readonly<Record<string, Synonym>> = {
  attempts: ATTEMPTS,
  maxretries: ATTEMPTS,
  maxtries: ATTEMPTS,
  retries: ATTEMPTS,
  retry: ATTEMPTS,
  retrylimit: ATTEMPTS,
  tries: ATTEMPTS,
  retrybackoff: BACKOFF,
  retrydelay: BACKOFF,
  retrydelaymax: BACKOFF,
  retrystrategy: BACKOFF,
  cron: { ...RECURRING, ours: ['cron'] },
  every: { ...RECURRING, ours: ['every'] },
  interval: { ours: ['period', 'every'] },
  pattern: { ...RECURRING, ours: ['cron'] },
  repeat: { ...RECURRING, ours: ['cron', 'every'] },
  repeatevery: { ...RECURRING, ours: ['every'] },
  schedule: { ...RECURRING, ours: ['cron', 'every'] },
  tz: { ours: ['timezone'] },
  startdate: { ours: ['startAt'] },
  enddate: { ours: ['endAt'] },
  immediately: { ours: ['runImmediately'] },
  id: { ours: ['ids', 'jobId', 'idempotencyKey'] },
  jobid: UNIQUE,
  dedupe: LIVE,
  deduplication: LIVE,
  jobkey: LIVE,
  jobkeymode: { ours: ['onConflict', 'unique'], note: 'unique takes { key, onConflict }' },
  singletonkey: LIVE,
  singletonseconds: { ours: ['throttle'], note: "It takes { key, period: '1m' }" },
  deleteafterseconds: RETENTION,
  keepcompleted: RETENTION,
  keepuntil: RETENTION,
  removeoncomplete: RETENTION,
  removeonfail: RETENTION,
  retentiondays: RETENTION,
  retentionseconds: RETENTION,
  limiter: RATE,
  ratelimiter: RATE,
  ratelimit: RATE,
  max: { ours: ['limit', 'concurrencyLimit', 'maxLength'] },
  duration: { ours: ['period', 'timeout'] },
  concurrency: CONCURRENCY,
  concurrencylimit: CONCURRENCY,
  globalconcurrency: CONCURRENCY,
  maxconcurrency: CONCURRENCY,
  parallelism: CONCURRENCY,
  teamconcurrency: CONCURRENCY,
  teamsize: CONCURRENCY,
  maxsize: { ours: ['maxLength'] },
  group: KEY,
  groupid: KEY,
  groupkey: KEY,
  partitionkey: KEY,
  expirein: TIMEOUT,
  expireinhours: TIMEOUT,
  expireinminutes: TIMEOUT,
  expireinseconds: TIMEOUT,
  jobtimeout: TIMEOUT,
  maxduration: TIMEOUT,
  timeoutms: TIMEOUT,
  heartbeatseconds: LEASE,
  lease: LEASE,
  lockduration: LEASE,
  stalledinterval: LEASE,
  visibilitytimeout: LEASE,
  scheduledat: START,
  scheduledfor: START,
  startafter: START,
  lifo: {
    ours: ['priority'],
    note: 'Jobs start by priority, and then first in, first out',
  },
  children: FLOW,
  dependencies: FLOW,
  parent: FLOW,
  parents: FLOW,
  deadletter: DEAD_LETTER,
  deadletterexchange: DEAD_LETTER,
  deadletterqueue: DEAD_LETTER,
  dlq: DEAD_LETTER,
  args: { ours: ['data'] },
  body: { ours: ['data'] },
  payload: { ours: ['data'] },
  opts: { ours: ['options'] },
  name: { ours: ['job', 'name'] },
  type: { ours: ['job', 'name'] },
  queuename: { ours: ['queue'] },
  metadata: { ours: ['meta'] },
  labels: { ours: ['tags'] },
  connection: FILE,
  connectionstring: FILE,
  database: FILE,
  filename: FILE,
  path: FILE,
}

/**
 * Suggests a name in place of one that a call does not know: its own option for another queue's word, the place where that word
 * belongs, or its nearest own option. Undefined if there is nothing like it.
 *
 * @param shown how an option is written there: `--max-attempts`
 */
export function optionHint(name: string, known: ReadonlySet<string>, shown = (option: string) => `'${option}'`): string | undefined {
  if (name.length > COMPARED_LENGTH) return undefined
  const plain = name.toLowerCase().replace(/[^a-z]/g, '')
  const synonym = Object.hasOwn(SYNONYMS, plain) ? SYNONYMS[plain] : undefined
  const own = synonym?.ours?.find((option) => known.has(option))
  if (own !== undefined) return `did you mean ${shown(own)}?${synonym?.note === undefined ? '' : ` ${synonym.note}`}`
  if (synonym?.elsewhere !== undefined) return synonym.elsewhere
  const meant = withoutUnit(name, known) ?? nearest(name, known)
  return meant === undefined ? undefined : `did you mean ${shown(meant)}?`
}

/** `delayMs`, `ttlSeconds`: durations carry their unit in the value. */
function withoutUnit(name: string, known: ReadonlySet<string>): string | undefined {
  const bare = name.replace(/(?:_?in)?_?(?:ms|millis|milliseconds|seconds|secs|minutes)$/i, '')
  return known.has(bare) ? bare : undefined
}

/** States by the words of other queues. */
const STATES: Readonly<Record<string, string>> = {
  dead: 'failed',
  deadletter: 'failed',
  delayed: 'scheduled',
  done: 'completed',
  finished: 'completed',
  pending: 'waiting',
  processing: 'active',
  prioritized: 'waiting',
  queued: 'waiting',
  running: 'active',
  succeeded: 'completed',
  success: 'completed',
  'waiting-children': 'blocked',
}

/** The choice that a word most likely means. */
export function choiceMeant(word: string, choices: readonly string[]): string | undefined {
  const state = STATES[word.toLowerCase()]
  return state !== undefined && choices.includes(state) ? state : nearest(word, choices)
}
