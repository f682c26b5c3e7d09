/** The flags that say how a job is enqueued, and what they mean to the engine. */

import { type EnqueueOptions, JOB_TEXTS, type JobText, type Row, RUN_OPTIONS, type RunOption, type UniqueOptions } from '@millrace/core'
import type { Command } from 'commander'
import { defined } from '../defined.ts'
import { UsageError } from './errors.ts'
import { duration, json, texts, time } from './values.ts'
import { flagOf, writtenOf } from './written.ts'

const ROWS = { ...RUN_OPTIONS, ...JOB_TEXTS }
const ROW_NAMES = Object.keys(ROWS) as (keyof typeof ROWS)[]

/** The flags of core's tables of job options, and what else any job may have. */
export interface RunFlags extends Readonly<Partial<Record<JobText | RunOption, unknown>>> {
  readonly tag?: readonly string[]
  readonly meta?: unknown
}

export interface JobFlags extends RunFlags {
  readonly delay?: number
  readonly runAt?: Date
  readonly idempotencyKey?: string
  readonly idempotencyTtl?: number
  readonly unique?: string
  readonly uniqueData?: boolean
  readonly uniqueBy?: readonly string[]
  readonly uniqueUntil?: string
  readonly onConflict?: string
  readonly debounce?: string
  readonly debounceDelay?: number
  readonly throttle?: string
  readonly throttlePeriod?: number
}

/** Adds a flag for each row of a table. */
export function addRowFlags(command: Command, rows: Readonly<Record<string, Row>>): Command {
  for (const [name, { kind }] of Object.entries(rows)) {
    const { flag, help } = flagOf(rows, name)
    command.option(flag, help, writtenOf(kind).parse as (text: string) => unknown)
  }
  return command
}

export function addRunFlags(command: Command): Command {
  return addRowFlags(command, ROWS)
    .option('--tag <tag>', 'tag to find the job by; repeat for more', texts)
    .option('--meta <json>', 'small facts about the job, as JSON', json)
}

export function addJobFlags(command: Command): Command {
  return addRunFlags(command)
    .option('--delay <duration>', 'start the job after this long at the earliest: 5s, 10m', duration)
    .option('--run-at <time>', 'start the job at this ISO 8601 time at the earliest', time)
    .option('--idempotency-key <key>', 'create the job once: a repeat returns the first one')
    .option('--idempotency-ttl <duration>', 'how long a repeat is recognized; default 24h', duration)
    .option('--unique <key>', 'allow one live job with this name and key')
    .option('--unique-data', 'allow one live job with this name and data')
    .option('--unique-by <path>', 'allow one live job with this name and field of its data: customer, order.id; repeat for more', texts)
    .option('--unique-until <when>', 'with a unique key: hold it until the job has ended (end, the default) or started (start)')
    .option('--on-conflict <what>', 'with a unique key: skip, replace, reschedule or error')
    .option('--debounce <key>', 'merge calls in quick succession into one job')
    .option('--debounce-delay <duration>', 'with --debounce: quiet time before the job starts', duration)
    .option('--throttle <key>', 'create at most one job per period')
    .option('--throttle-period <duration>', 'with --throttle: the period', duration)
}

/** Only the flags that were given: the engine checks them. */
export function runOptionsOf(flags: RunFlags): EnqueueOptions {
  const { tag, meta } = flags
  const rows = Object.fromEntries(ROW_NAMES.map((name) => [name, flags[name]]))
  return defined<EnqueueOptions>({ ...rows, tags: tag, meta })
}

export function enqueueOptionsOf(flags: JobFlags): EnqueueOptions {
  const { delay, runAt, idempotencyKey, idempotencyTtl, debounce, debounceDelay, throttle, throttlePeriod } = flags
  return defined<EnqueueOptions>({
    ...runOptionsOf(flags),
    delay,
    runAt,
    idempotencyKey,
    idempotencyTtl,
    unique: uniqueOf(flags),
    debounce: debounce === undefined && debounceDelay === undefined ? undefined : defined({ key: debounce, delay: debounceDelay }),
    throttle: throttle === undefined && throttlePeriod === undefined ? undefined : defined({ key: throttle, period: throttlePeriod }),
  })
}

function uniqueOf({ unique: key, uniqueData, uniqueBy, uniqueUntil: until, onConflict }: JobFlags): UniqueOptions | undefined {
  if (uniqueData === true && uniqueBy !== undefined) throw new UsageError('--unique-data and --unique-by exclude each other')
  const by = uniqueData === true ? 'data' : uniqueBy
  const options = defined<UniqueOptions>({ key, by, onConflict, until })
  return Object.keys(options).length === 0 ? undefined : options
}
