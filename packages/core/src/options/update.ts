/** The options of `update`. */
import type { JobChanges, PlaceChanges } from '../commands.ts'
import { OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { encodeData } from './data.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type Time, timeOption } from './milliseconds.ts'

/** Changes of the place at which jobs wait. A field that is left out stays as it is. */
export interface UpdateManyChanges {
  /** The jobs do not start before then: a Date, milliseconds since 1970, or an ISO 8601 string with its zone. */
  readonly runAt?: Time
  /** −1,000,000 to 1,000,000. */
  readonly priority?: number
  /** 1 to 1,000,000. */
  readonly weight?: number
}

/** Changes of a job. A field that is left out stays as it is. */
export interface UpdateOptions extends UpdateManyChanges {
  /** The new data. */
  readonly data?: unknown
  /** The value that the next attempt finds in `job.checkpoint`. */
  readonly checkpoint?: unknown
}

const PLACES = ['runAt', 'priority', 'weight'] as const
const KNOWN = new Set([...PLACES, 'data', 'checkpoint'])
const KNOWN_OF_MANY = new Set<string>(PLACES)

/** Undefined leaves a field as it is; null data is stored as JSON null. */
export function validateUpdateOptions(options: unknown, maxDataBytes: number): JobChanges {
  checkKnown('update', options, KNOWN)
  const { data, checkpoint } = options
  return someOf('update', KNOWN, {
    ...(data !== undefined && { data: encodeData('data', data, maxDataBytes) }),
    ...placeOf(options),
    ...(checkpoint !== undefined && { checkpoint: encodeData('checkpoint', checkpoint, maxDataBytes) }),
  })
}

/** @throws OptionTypeError, OptionRangeError */
export function validateUpdateManyChanges(changes: unknown): PlaceChanges {
  checkKnown('the changes of updateMany', changes, KNOWN_OF_MANY)
  return someOf('updateMany', KNOWN_OF_MANY, placeOf(changes))
}

function placeOf({ runAt, priority, weight }: Readonly<Record<string, unknown>>): PlaceChanges {
  return {
    ...(runAt !== undefined && { runAt: timeOption('runAt', runAt) }),
    ...(priority !== undefined && { priority: integerOption('priority', priority, -LIMITS.priority, LIMITS.priority) }),
    ...(weight !== undefined && { weight: integerOption('weight', weight, 1, LIMITS.weight) }),
  }
}

function someOf<Changes extends object>(call: string, known: ReadonlySet<string>, changes: Changes): Changes {
  if (Object.keys(changes).length === 0) throw new OptionTypeError('changes', `${call} changes at least one of ${[...known].join(', ')}`)
  return changes
}
