/** The options of `update`. */
import type { JobChanges, LabelChanges, PlaceChanges } from '../commands.ts'
import type { Duration } from '../duration.ts'
import { OptionTypeError } from '../errors.ts'
import type { BackoffOptions } from './backoff.ts'
import { encodeData, encodeMeta } from './data.ts'
import { checksOf } from './kind.ts'
import { checkKnown } from './known.ts'
import { type Time, timeOption } from './milliseconds.ts'
import { RUN_CHANGES } from './runOptions.ts'
import { tagsOption } from './text.ts'

/**
 * Changes of many jobs. A field that is left out stays as it is. Tags and meta can be changed in any state, the rest
 * only before the job has started.
 */
export interface UpdateManyChanges {
  /** The new tags, which replace all that the job has: at most 32. An empty array removes them. */
  readonly tags?: readonly string[]
  /** The new meta, which replaces the whole: at most 16 KiB of JSON. */
  readonly meta?: unknown
  /** The jobs do not start before then: a Date, milliseconds since 1970, or an ISO 8601 string with its zone. */
  readonly runAt?: Time
  /** −1,000,000 to 1,000,000. */
  readonly priority?: number
  /** 1 to 1,000,000. */
  readonly weight?: number
  /** Attempts in total, those that the job has used included: 1 to 100,000. A retry that already waits still runs. */
  readonly maxAttempts?: number
  /** From hand-out to the deadline of each further attempt: at least 1 ms, or Infinity. */
  readonly timeout?: Duration
  /** The delay after each further failed attempt. A retry that already waits keeps its time. */
  readonly backoff?: BackoffOptions
}

/** Changes of a job. A field that is left out stays as it is. */
export interface UpdateOptions extends UpdateManyChanges {
  /** The new data. */
  readonly data?: unknown
  /** The value that the next attempt finds in `job.checkpoint`. */
  readonly checkpoint?: unknown
}

const RUN_CHECKS = checksOf(RUN_CHANGES)

const OF_MANY = ['runAt', ...Object.keys(RUN_CHECKS), 'tags', 'meta']
const KNOWN = new Set([...OF_MANY, 'data', 'checkpoint'])
const KNOWN_OF_MANY = new Set(OF_MANY)

/** Undefined leaves a field as it is; null data is stored as JSON null. */
export function validateUpdateOptions(options: unknown, maxDataBytes: number): JobChanges {
  checkKnown('update', options, KNOWN)
  const { data, checkpoint } = options
  return someOf('update', KNOWN, {
    ...(data !== undefined && { data: encodeData('data', data, maxDataBytes) }),
    ...ofMany(options),
    ...(checkpoint !== undefined && { checkpoint: encodeData('checkpoint', checkpoint, maxDataBytes) }),
  })
}

/** @throws OptionTypeError, OptionRangeError */
export function validateUpdateManyChanges(changes: unknown): PlaceChanges & LabelChanges {
  checkKnown('the changes of updateMany', changes, KNOWN_OF_MANY)
  return someOf('updateMany', KNOWN_OF_MANY, ofMany(changes))
}

function ofMany(options: Readonly<Record<string, unknown>>): PlaceChanges & LabelChanges {
  const { runAt, tags, meta } = options
  const ofRuns = Object.entries(RUN_CHECKS).filter(([name]) => options[name] !== undefined)
  return {
    ...(runAt !== undefined && { runAt: timeOption('runAt', runAt) }),
    ...Object.fromEntries(ofRuns.map(([name, check]) => [name, check(name, options[name])])),
    ...(tags !== undefined && { tags: tagsOption('tags', tags) }),
    ...(meta !== undefined && { meta: encodeMeta(meta) }),
  }
}

function someOf<Changes extends object>(call: string, known: ReadonlySet<string>, changes: Changes): Changes {
  if (Object.keys(changes).length === 0) throw new OptionTypeError('changes', `${call} changes at least one of ${[...known].join(', ')}`)
  return changes
}
