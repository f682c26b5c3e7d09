/** Translates a job or a schedule of pg-boss, as its row has it. */
import type { BackoffOptions, EnqueueOptions, ScheduleOptions } from '@millrace/core'
import { UnfitError } from '../errors.ts'
import { attemptsLeft, capped, dataOf, priorityOf, scheduleId } from '../mapping.ts'
import { ACTIVE_LEFT, type Found, type Outcome } from '../source.ts'
import { unlessUnfit } from '../unfit.ts'
import type { Row } from './snapshot.ts'

/** Names each feature of pg-boss that a job may use, and what becomes of it. docs/import.md has the same table. */
export const FEATURES = {
  startAfter: 'The job keeps its time.',
  priority: 'The same: higher ones start first.',
  'priority beyond 1,000,000': 'Such jobs get the nearest priority that Millrace has.',
  'retryLimit, retryDelay, retryBackoff': 'The job gets the attempts that it has left, with the same delays between them.',
  expireInSeconds: 'The `timeout` of an attempt.',
  'policy exclusive': 'The `singletonKey`, or the name of the queue, becomes the `unique` key.',
  'policy singleton or key_strict_fifo': 'The `singletonKey`, or the name of the queue, becomes the `concurrencyKey`.',
  'policy short or stately': 'Not imported: use `unique` or `debounce` for new jobs.',
  singletonKey: 'Not imported for queues without one of these policies: use `throttle` or `debounce` for new jobs.',
  group: 'The id of the group becomes the `concurrencyKey`.',
  'dead letter': 'Not imported.',
  schedule: 'A schedule with `overlap: "allow"`, because pg-boss waits for no earlier job.',
} as const

type Uses = Set<keyof typeof FEATURES>

const SECOND = 1_000
/** The delays of pg-boss double up to this often. */
const DOUBLINGS = 16

interface Retries {
  readonly limit: number
  readonly used: number
  readonly delay: number
  readonly backoff: boolean
  readonly delayMax: number | null
}

export function pgBossFound(row: Row, includeActive: boolean): Found {
  const { id, name, state } = row as { readonly [column in string]: string }
  const uses: Uses = new Set()
  const outcome = unlessUnfit(() => outcomeOf(row, state as string, includeActive, uses))
  return { queue: name as string, state: state as string, id: `${name}:${id}`, uses: [...uses], outcome }
}

/** Translates a schedule. `queue` has the defaults of its options. */
export function scheduleFound(row: Row, queue: Row): Found {
  const { name, key = '', kind = 'cron', cron, timezone } = row as { readonly [column in string]: string }
  const options = (row['options'] ?? {}) as Row
  const uses: Uses = new Set(['schedule'])
  const outcome = unlessUnfit((): Outcome => {
    if (kind !== 'cron') throw new UnfitError(`its rule is of the kind '${kind}', and Millrace has cron expressions: ${cron}`)
    const times: ScheduleOptions = { cron: cron as string, timezone: timezone ?? 'UTC', overlap: 'allow' }
    const setting = (option: string, column: string) => options[option] ?? queue[column] ?? null
    const retries = {
      ...{ limit: setting('retryLimit', 'retry_limit'), used: 0, delay: setting('retryDelay', 'retry_delay') },
      ...{ backoff: setting('retryBackoff', 'retry_backoff'), delayMax: setting('retryDelayMax', 'retry_delay_max') },
    } as Retries
    const job = {
      ...{
        queue: name as string,
        ...retryOptions(retries, uses),
        timeout: (setting('expireInSeconds', 'expire_seconds') as number) * SECOND,
      },
      ...priorityOption((options['priority'] as number | undefined) ?? 0, uses),
    }
    const data = row['data'] === null ? undefined : dataOf(row['data'] as string)
    return { as: 'schedule', id: scheduleId(name as string, key), options: times, job: { job: name as string, data, options: job } }
  })
  return { queue: name as string, state: 'schedule', id: `schedule:${name}:${key}`, uses: [...uses], outcome }
}

function outcomeOf(row: Row, state: string, includeActive: boolean, uses: Uses): Outcome {
  if (state === 'active' && !includeActive) return { as: 'left', why: ACTIVE_LEFT }
  const { name, data, blocked, blocking, later, start_after, expire_seconds, dead_letter, priority } = row
  if (blocked === true || blocking === true) throw new UnfitError('it belongs to a flow: let pg-boss end its flows')
  if (later === true) uses.add('startAfter')
  if (isSet(dead_letter)) uses.add('dead letter')
  uses.add('expireInSeconds')
  const retries = {
    ...{ limit: row['retry_limit'], used: row['retry_count'], delay: row['retry_delay'] },
    ...{ backoff: row['retry_backoff'], delayMax: row['retry_delay_max'] ?? null },
  } as Retries
  const options: EnqueueOptions = {
    ...{ queue: name as string, ...retryOptions(retries, uses), timeout: (expire_seconds as number) * SECOND },
    ...(later === true && { runAt: start_after as Date }),
    ...priorityOption(priority as number, uses),
    ...keysOf(row, uses),
  }
  return { as: 'job', job: { job: name as string, data: data === null ? undefined : dataOf(data as string), options } }
}

function priorityOption(number: number, uses: Uses): EnqueueOptions {
  if (number === 0) return {}
  const { priority, beyond } = priorityOf(number)
  uses.add(beyond ? 'priority beyond 1,000,000' : 'priority')
  return { priority }
}

/** A key is unique here only if pg-boss makes it so: of an unfinished job, whatever its state. */
function keysOf({ name, policy, singleton_key: singletonKey, group_id: group }: Row, uses: Uses): EnqueueOptions {
  const key = (singletonKey ?? name) as string
  if (policy === 'exclusive') {
    uses.add('policy exclusive')
    return { unique: { key, onConflict: 'error' } }
  }
  if (policy === 'singleton' || policy === 'key_strict_fifo') {
    uses.add('policy singleton or key_strict_fifo')
    return { concurrencyKey: key }
  }
  if (policy === 'short' || policy === 'stately') uses.add('policy short or stately')
  else if (isSet(singletonKey)) uses.add('singletonKey')
  if (!isSet(group)) return {}
  uses.add('group')
  return { concurrencyKey: group as string }
}

function retryOptions({ limit, used, delay, backoff, delayMax }: Retries, uses: Uses): EnqueueOptions {
  uses.add('retryLimit, retryDelay, retryBackoff')
  const maxAttempts = attemptsLeft(limit + 1, used)
  if (maxAttempts === 1) return { maxAttempts }
  const fixed: BackoffOptions = { type: 'fixed', delay: capped(delay * SECOND) }
  if (!backoff) return { maxAttempts, backoff: fixed }
  const first = Math.max(1, delay) * SECOND
  const most = delayMax === null ? first * 2 ** DOUBLINGS : delayMax * SECOND
  // pg-boss takes half of the delay, and a random part of the other half.
  const growing = { type: 'exponential' as const, delay: capped(first * 2 ** Math.min(DOUBLINGS, used + 1)), jitter: 'equal' as const }
  return { maxAttempts, backoff: { ...growing, maxDelay: capped(most) } }
}

/** A column of a later version is undefined. */
function isSet(value: unknown): boolean {
  return value !== null && value !== undefined
}
