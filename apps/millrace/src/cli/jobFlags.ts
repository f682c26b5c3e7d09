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
    .option('--queue <name>', 'queue, default "default"')
    .option('--priority <number>', 'higher ones start first, default 0', number)
    .option('--weight <number>', "what it counts against its worker's concurrency, default 1", number)
    .option('--max-attempts <number>', 'attempts in total, default 4', number)
    .option('--max-age <duration>', 'no retry later than so long after the enqueue', duration)
    .option('--backoff <spec>', 'fixed:5s, linear:5s, exponential:1s:2 (delay, factor, cap), or JSON', backoff)
    .option('--timeout <duration>', 'of one attempt: 30s, 5m, none; default 5m', duration)
    .option('--heartbeat-timeout <duration>', 'lease of a run, default 2m', duration)
    .option('--ttl <duration>', 'fails if not started by then', duration)
    .option('--tag <tag>', 'label to find it by; again for more', texts)
    .option('--meta <json>', 'small facts for people', json)
    .option('--concurrency-key <key>', 'of its limit per key in the queue')
}

export function addJobFlags(command: Command): Command {
  return addRunFlags(command)
    .option('--delay <duration>', 'not before so long from now', duration)
    .option('--run-at <time>', 'not before then: an ISO time', time)
    .option('--idempotency-key <key>', 'create once: a repeat answers the first job')
    .option('--idempotency-ttl <duration>', 'how long a repeat is known, default 24h', duration)
    .option('--unique <key>', 'at most one live job of that name and key')
    .option('--on-conflict <what>', 'with --unique: skip, replace, reschedule or error')
    .option('--debounce <key>', 'many calls in quick succession become one job')
    .option('--debounce-delay <duration>', 'with --debounce: how long it is to be quiet', duration)
    .option('--throttle <key>', 'one job per period')
    .option('--throttle-period <duration>', 'with --throttle', duration)
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
