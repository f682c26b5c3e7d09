/** The flags that say how a job is enqueued, and what they mean to the engine. */

import type { EnqueueOptions } from '@millrace/core'
import type { Command } from 'commander'
import { duration, json, number, texts, time } from './values.ts'

/** How a job stands in line, runs and runs again. */
export interface RunFlags {
  readonly queue?: string
  readonly priority?: number
  readonly weight?: number
  readonly maxAttempts?: number
  readonly maxAge?: number
  readonly backoff?: unknown
  readonly timeout?: number
  readonly heartbeatTimeout?: number
  readonly ttl?: number
  readonly tag?: readonly string[]
  readonly meta?: unknown
  readonly concurrencyKey?: string
}

export interface JobFlags extends RunFlags {
  readonly delay?: number
  readonly runAt?: Date
  readonly idempotencyKey?: string
  readonly idempotencyTtl?: number
  readonly unique?: string
  readonly onConflict?: string
  readonly debounce?: string
  readonly debounceDelay?: number
  readonly throttle?: string
  readonly throttlePeriod?: number
}

export function addRunFlags(command: Command): Command {
  return command
    .option('--queue <name>', 'queue; default "default"')
    .option('--priority <number>', 'jobs with a higher priority start first; default 0', number)
    .option('--weight <number>', "share of its worker's concurrency that it takes; default 1", number)
    .option('--max-attempts <number>', 'attempts in total, the first included; default 4', number)
    .option('--max-age <duration>', 'stop retrying this long after the enqueue', duration)
    .option('--backoff <spec>', 'fixed:5s, linear:5s, exponential:1s:2 (delay, factor, cap), or JSON', backoff)
    .option('--timeout <duration>', 'time limit of one attempt: 30s, 5m, none; default 5m', duration)
    .option('--heartbeat-timeout <duration>', 'how long a heartbeat extends an attempt; default 2m', duration)
    .option('--ttl <duration>', 'fail the job if it has not started after this long', duration)
    .option('--tag <tag>', 'label to find it by; repeat for more', texts)
    .option('--meta <json>', 'small facts about it', json)
    .option('--concurrency-key <key>', 'key of the limits per key in its queue')
}

export function addJobFlags(command: Command): Command {
  return addRunFlags(command)
    .option('--delay <duration>', 'start it no sooner than after this long: 5s, 10m', duration)
    .option('--run-at <time>', 'start it no sooner than at this ISO 8601 time', time)
    .option('--idempotency-key <key>', 'create the job once: a repeat returns the first one')
    .option('--idempotency-ttl <duration>', 'how long a repeat is recognized; default 24h', duration)
    .option('--unique <key>', 'allow one live job with this name and key')
    .option('--on-conflict <what>', 'with --unique: skip, replace, reschedule or error')
    .option('--debounce <key>', 'merge calls in quick succession into one job')
    .option('--debounce-delay <duration>', 'with --debounce: quiet time before the job starts', duration)
    .option('--throttle <key>', 'create at most one job per period')
    .option('--throttle-period <duration>', 'with --throttle: the period', duration)
}

/** Only what was said: the engine checks it. */
export function runOptionsOf(flags: RunFlags): EnqueueOptions {
  const { queue, priority, weight, maxAttempts, maxAge, backoff, timeout, heartbeatTimeout, ttl, tag, meta, concurrencyKey } = flags
  return said<EnqueueOptions>({
    queue,
    priority,
    weight,
    maxAttempts,
    maxAge,
    backoff,
    timeout,
    heartbeatTimeout,
    ttl,
    tags: tag,
    meta,
    concurrencyKey,
  })
}

export function enqueueOptionsOf(flags: JobFlags): EnqueueOptions {
  const { delay, runAt, idempotencyKey, idempotencyTtl, unique, onConflict, debounce, debounceDelay, throttle, throttlePeriod } = flags
  return said<EnqueueOptions>({
    ...runOptionsOf(flags),
    delay,
    runAt,
    idempotencyKey,
    idempotencyTtl,
    unique: unique === undefined && onConflict === undefined ? undefined : said({ key: unique, onConflict }),
    debounce: debounce === undefined && debounceDelay === undefined ? undefined : said({ key: debounce, delay: debounceDelay }),
    throttle: throttle === undefined && throttlePeriod === undefined ? undefined : said({ key: throttle, period: throttlePeriod }),
  })
}

/** Without what was not given. What is left is for the engine to check, whatever it is. */
export function said<Options extends object>(values: { readonly [Name in keyof Options]: unknown }): Options {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Options
}

/** `type:delay:factor:maxDelay`, or JSON. */
export function backoff(text: string): unknown {
  if (text.startsWith('{')) return json(text)
  const [type, delay, factor, maxDelay] = text.split(':')
  return said({
    type,
    delay: delay === undefined ? undefined : duration(delay),
    factor: factor === undefined ? undefined : number(factor),
    maxDelay: maxDelay === undefined ? undefined : duration(maxDelay),
  })
}
