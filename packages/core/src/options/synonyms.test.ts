// Options by the words of other queues, through the calls that people write them to.
import { expect, test } from 'vitest'
import { validateDefinition } from './definition.ts'
import { newJobFrom } from './enqueue.ts'
import { validateListOptions } from './list.ts'
import { timeOption } from './milliseconds.ts'
import { validateOpenOptions } from './open.ts'
import { validateQueueOptions } from './queue.ts'
import { validateScheduleOptions } from './schedule.ts'
import { choiceMeant, optionHint } from './synonyms.ts'
import { validateWorkOptions } from './work.ts'

const enqueue = (options: object) => () => newJobFrom('n', null, options, undefined)
const define = (options: object) => () => validateDefinition({ name: 'n', ...options })
const configure = (options: object) => () => validateQueueOptions(options)
const upsert = (options: object) => () => validateScheduleOptions(options, { next: () => 1 } as never)
const open = (options: object) => () => validateOpenOptions({ ...options })
const FIRST = "did you mean 'maxAttempts'? It counts the first attempt too"

test.each<[string, () => unknown, string]>([
  ...['attempts', 'retries', 'retry', 'maxRetries', 'retryLimit'].flatMap<[string, () => unknown, string]>((word) => [
    [`enqueue ${word}`, enqueue({ [word]: 3 }), FIRST],
    [`defineJob ${word}`, define({ [word]: 3 }), FIRST],
    [`defaults ${word}`, configure({ defaults: { [word]: 3 } }), FIRST],
  ]),
  ['retryDelay', enqueue({ retryDelay: 30 }), "did you mean 'backoff'? It takes { type: 'fixed', delay: '5s' }"],
  ['retryBackoff', enqueue({ retryBackoff: true }), "did you mean 'backoff'?"],
  ['jobId', enqueue({ jobId: '1' }), "did you mean 'idempotencyKey'? It creates a job once; unique allows one live job for each key"],
  ['singletonKey', enqueue({ singletonKey: '1' }), "did you mean 'unique'?"],
  ['jobKey', enqueue({ jobKey: '1' }), "did you mean 'unique'?"],
  ['deduplication', enqueue({ deduplication: { id: '1' } }), 'debounce and throttle'],
  ['repeat', enqueue({ repeat: { every: 1 } }), 'a recurring job is a schedule: create one with schedules.upsert'],
  ['cron', enqueue({ cron: '* * * * *' }), 'schedules.upsert'],
  ['pattern', upsert({ pattern: '* * * * *' }), "did you mean 'cron'?"],
  ['repeat of a schedule', upsert({ repeat: '* * * * *' }), "did you mean 'cron'?"],
  ['tz', upsert({ cron: '* * * * *', tz: 'UTC' }), "did you mean 'timezone'?"],
  ['removeOnComplete', enqueue({ removeOnComplete: true }), "did you mean 'keep'? It says how long finished jobs are kept"],
  ['removeOnComplete of a worker', () => validateWorkOptions({ removeOnComplete: {} }), 'keep of a job, or retention of the queue'],
  ['removeOnFail', configure({ removeOnFail: true }), "did you mean 'retention'?"],
  ['limiter', configure({ limiter: { max: 1, duration: 1 } }), "did you mean 'rateLimit'? It takes { limit: 100, period: '1s' }"],
  ['limiter of a worker', () => validateWorkOptions({ limiter: {} }), 'a rate limit belongs to the queue'],
  ['max', configure({ rateLimit: { max: 1 } }), "did you mean 'limit'?"],
  ['duration', configure({ rateLimit: { limit: 1, duration: 1 } }), "did you mean 'period'?"],
  ['concurrency of a job', define({ concurrency: 5 }), 'set concurrency on the worker (work), or concurrencyLimit on the queue'],
  ['concurrency of a queue', configure({ concurrency: 5 }), "did you mean 'concurrencyLimit'?"],
  ['startAfter', enqueue({ startAfter: 5 }), "did you mean 'runAt'? It is a time; delay is a duration"],
  ['expireInSeconds', enqueue({ expireInSeconds: 5 }), "did you mean 'timeout'? It is a duration"],
  ['timeoutMs', enqueue({ timeoutMs: 5 }), "did you mean 'timeout'?"],
  ['delayMs', enqueue({ delayMs: 5 }), "did you mean 'delay'?"],
  ['ttl_seconds', enqueue({ ttl_seconds: 5 }), "did you mean 'ttl'?"],
  ['lifo', enqueue({ lifo: true }), "did you mean 'priority'? Jobs start by priority, and then first in, first out"],
  ['max_attempts', enqueue({ max_attempts: 5 }), "did you mean 'maxAttempts'?"],
  ['path', open({ path: 'jobs.db' }), "did you mean 'file'?"],
  ['openEngine("jobs.db")', () => validateOpenOptions('jobs.db'), `got "jobs.db": openEngine({ file: 'jobs.db' })`],
  ['defineJob("mail")', () => validateDefinition('mail'), `got "mail": defineJob({ name: 'mail' })`],
  ["backoff: 'exponential'", enqueue({ backoff: 'exponential' }), `got "exponential": { type: 'exponential', delay: '1s' }`],
  ['state dead', () => validateListOptions({ state: 'dead' }), "did you mean 'failed'?"],
])('%s is answered with what we have', (_what, call, hint) => {
  expect(call).toThrow(hint)
})

test('an option of ours is taken, whoever else calls it otherwise', () => {
  expect(enqueue({ timeout: 5, tags: ['a'] })).not.toThrow()
  expect(optionHint('constructor', new Set(['file']))).toBeUndefined()
})

test('states by the words of other queues', () => {
  const states = ['scheduled', 'waiting', 'active', 'blocked', 'completed', 'failed', 'cancelled']
  const words = ['dead', 'pending', 'processing', 'delayed', 'waiting-children', 'Running', 'complete']
  expect(words.map((word) => choiceMeant(word, states))).toEqual([
    'failed',
    'waiting',
    'active',
    'scheduled',
    'blocked',
    'active',
    'completed',
  ])
  expect(choiceMeant('dead', ['skip', 'replace'])).toBeUndefined()
})

test('a time as an ISO 8601 string with its zone', () => {
  expect(timeOption('runAt', '2030-01-31T12:00:00Z')).toBe(Date.UTC(2030, 0, 31, 12))
  expect(timeOption('runAt', '2030-01-31T12:00:00.250+02:00')).toBe(Date.UTC(2030, 0, 31, 10, 0, 0, 250))
  expect(() => timeOption('runAt', '2030-01-31T12:00')).toThrow("write its zone, as in '2030-01-31T12:00Z'")
  for (const text of ['tomorrow', '2030-02-30T12:00:00Z', '2030-01-31', '2030-01-31T25:00:00Z', '1700000000000'])
    expect(() => timeOption('runAt', text)).toThrow(`ISO 8601 string with its zone ('2030-01-31T12:00:00Z'), got "${text}"`)
})
