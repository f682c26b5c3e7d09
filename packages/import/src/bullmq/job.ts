/** Translates a job or a scheduler of BullMQ, as its hash in Redis has it. */
import type { JobRequest, ScheduledJob } from '@millrace/client'
import type { BackoffOptions, EnqueueOptions, ScheduleOptions } from '@millrace/core'
import { UnfitError } from '../errors.ts'
import { attemptsLeft, capped, dataOf, priorityOf } from '../mapping.ts'
import type { Hash } from './redis.ts'

/** Names each feature of BullMQ that a job may use, and what becomes of it. docs/import.md has the same table. */
export const FEATURES = {
  delay: 'The job keeps its time.',
  priority: 'Turned round: 5 becomes -5, because Millrace starts the highest number first.',
  'priority beyond 1,000,000': 'All such jobs get -1,000,000, the lowest priority.',
  attempts: 'The job gets the attempts that it has left.',
  backoff: 'The delays continue where they were.',
  'custom backoff': 'Not imported: the job gets the default backoff. Millrace has `backoff` as a function of the definition.',
  deduplication: 'The id becomes the `unique` key of the job.',
  'deduplication with ttl': 'Not imported: use `throttle` or `debounce` for new jobs.',
  'removeOnComplete, removeOnFail': 'Not imported: use `keep` for a job, or the retention of its queue.',
  'finished children': 'Their results are in `meta.children` of the job that waits for the others.',
  'deduplication in a flow': 'Not imported: a job of a flow has no key of its own.',
  timezone: 'The scheduler has none: its cron expression goes by UTC.',
  limit: 'The schedule ends after the runs that are left.',
} as const

export type Feature = keyof typeof FEATURES

/** The options of a job, with the short names that Redis has. */
interface StoredOptions {
  readonly attempts?: number
  readonly backoff?: number | { readonly type: string; readonly delay?: number; readonly jitter?: number }
  readonly priority?: number
  readonly delay?: number
  readonly removeOnComplete?: unknown
  readonly removeOnFail?: unknown
  readonly de?: { readonly id: string; readonly ttl?: number }
  readonly fpof?: boolean
  readonly cpof?: boolean
  readonly idof?: boolean
  readonly rdof?: boolean
}

export interface Translated {
  readonly job: JobRequest & { readonly options: EnqueueOptions }
  readonly uses: Set<Feature>
}

/** The name of jobs that were added without one, in queues that began with Bull. */
const UNNAMED = '__default__'

/** @throws UnfitError */
export function jobOf(queue: string, hash: Hash): Translated {
  const { name = UNNAMED, data = '{}' } = hash
  const stored = optionsOf(hash['opts'])
  const uses = new Set<Feature>()
  const made = Number(hash['atm'] ?? hash['attemptsMade'] ?? 0)
  const options: EnqueueOptions = { queue, ...runOptionsOf(stored, made, uses, Number(hash['priority'] ?? stored.priority ?? 0)) }
  return { job: { job: name === UNNAMED ? queue : name, data: dataOf(data), options }, uses }
}

/** Returns the id by which later jobs are recognized as duplicates, and whether that ends at a time. */
export function deduplicationOf(hash: Hash): { readonly id: string; readonly timed: boolean } | undefined {
  const { de } = optionsOf(hash['opts'])
  return de === undefined ? undefined : { id: de.id, timed: (de.ttl ?? 0) > 0 }
}

export type OnFailure = 'fail' | 'continue' | 'ignore'

/** Returns what a failure of the job means for the job that waits for it. @throws UnfitError */
export function onFailureOf(hash: Hash): OnFailure {
  const { cpof, idof, rdof } = optionsOf(hash['opts'])
  if (cpof === true) throw new UnfitError('a child has continueParentOnFailure, which Millrace does not have')
  return idof === true ? 'continue' : rdof === true ? 'ignore' : 'fail'
}

/** Returns the delay that a job has once its children have ended. */
export function delayAfterChildren(hash: Hash): number {
  return capped(optionsOf(hash['opts']).delay ?? 0)
}

/** The job that a scheduler has created for its next time. */
export interface NextRun {
  readonly at: number
  /** `job` if the job waits or runs already, so that it is imported as a job. */
  readonly as: 'later' | 'due' | 'job'
}

/** Translates a scheduler. @throws UnfitError */
export function scheduleOf(
  queue: string,
  key: string,
  hash: Hash,
  next: NextRun,
): { readonly options: ScheduleOptions; readonly job: ScheduledJob; readonly uses: ReadonlySet<Feature> } {
  const { name = key, pattern, every, tz, limit, ic, startDate, endDate, data = '{}', opts } = hash
  if (pattern === undefined && every === undefined)
    throw new UnfitError('a repeatable job of a version before schedulers: let BullMQ 5 replace it with upsertJobScheduler first')
  const uses = new Set<Feature>()
  if (limit !== undefined) uses.add('limit')
  if (pattern !== undefined && tz === undefined) uses.add('timezone')
  // `ic` counts the next run too, which is the schedule's unless it is a job by now.
  const left = limit === undefined ? undefined : Number(limit) - Number(ic ?? 1) + (next.as === 'job' ? 0 : 1)
  if (left !== undefined && left < 1) throw new UnfitError('it has reached its limit')
  const stored = optionsOf(opts)
  return {
    options: {
      ...(pattern === undefined ? { every: Number(every), startAt: next.at } : { cron: pattern, timezone: tz ?? 'UTC' }),
      ...(pattern !== undefined && startDate !== undefined && { startAt: Number(startDate) }),
      ...(endDate !== undefined && { endAt: Number(endDate) }),
      ...(left !== undefined && { maxRuns: left }),
      // The schedule would begin with the time after now.
      ...(next.as === 'due' && { runImmediately: true }),
    },
    job: { job: name, data: dataOf(data), options: { queue, ...runOptionsOf(stored, 0, uses, stored.priority ?? 0) } },
    uses,
  }
}

function runOptionsOf(stored: StoredOptions, made: number, uses: Set<Feature>, number: number) {
  const { attempts = 1, removeOnComplete, removeOnFail } = stored
  const maxAttempts = attemptsLeft(attempts, made)
  if (attempts > 1) uses.add('attempts')
  const { priority, beyond } = priorityOf(-number)
  if (number !== 0) uses.add(beyond ? 'priority beyond 1,000,000' : 'priority')
  if (removeOnComplete !== undefined || removeOnFail !== undefined) uses.add('removeOnComplete, removeOnFail')
  const backoff = maxAttempts > 1 ? backoffOf(stored.backoff, made, uses) : undefined
  // BullMQ has no time limit: a worker keeps its job as long as it lives.
  return { maxAttempts, timeout: Number.POSITIVE_INFINITY, ...(number !== 0 && { priority }), ...(backoff !== undefined && { backoff }) }
}

/** Translates a backoff so that the next delay is the one that BullMQ would have taken. Undefined for the default of Millrace. */
function backoffOf(stored: StoredOptions['backoff'], made: number, uses: Set<Feature>): BackoffOptions | undefined {
  const { type, delay = 0, jitter = 0 } = typeof stored === 'object' ? stored : { type: 'fixed', delay: stored ?? 0 }
  if (type !== 'fixed' && type !== 'exponential') {
    uses.add('custom backoff')
    return undefined
  }
  if (delay > 0) uses.add('backoff')
  const base = type === 'exponential' ? delay * 2 ** made : delay
  // BullMQ takes off up to this part, and Millrace adds or takes off: the middle of the range is the delay here.
  const spread = jitter / 2
  return { type, delay: capped(base * (1 - spread)), ...(jitter > 0 && { jitter: spread / (1 - spread) }) }
}

function optionsOf(text: string | undefined): StoredOptions {
  if (text === undefined) return {}
  let options: unknown
  try {
    options = JSON.parse(text)
  } catch (cause) {
    throw new UnfitError(`its options are not JSON: ${(cause as Error).message}`, { cause })
  }
  // BullMQ looks at what is there, so null is nothing.
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== null))
}
