/** The options of `update`. */
import type { JobChanges } from '../commands.ts'
import { OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { encodeData } from './data.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type Time, timeOption } from './milliseconds.ts'

/** Changes of a job. A field that is left out stays as it is. */
export interface UpdateOptions {
  /** The new data. */
  readonly data?: unknown
  /** The job does not start before then: a Date, milliseconds since 1970, or an ISO 8601 string with its zone. */
  readonly runAt?: Time
  /** −1,000,000 to 1,000,000. */
  readonly priority?: number
  /** 1 to 1,000,000. */
  readonly weight?: number
  /** The value that the next attempt finds in `job.checkpoint`. */
  readonly checkpoint?: unknown
}

const KNOWN = new Set(['data', 'runAt', 'priority', 'weight', 'checkpoint'])

/** Undefined leaves a field as it is; null data is stored as JSON null. */
export function validateUpdateOptions(options: unknown, maxDataBytes: number): JobChanges {
  checkKnown('update', options, KNOWN)
  const { data, runAt, priority, weight, checkpoint } = options
  const changes: JobChanges = {
    ...(data !== undefined && { data: encodeData('data', data, maxDataBytes) }),
    ...(runAt !== undefined && { runAt: timeOption('runAt', runAt) }),
    ...(priority !== undefined && { priority: integerOption('priority', priority, -LIMITS.priority, LIMITS.priority) }),
    ...(weight !== undefined && { weight: integerOption('weight', weight, 1, LIMITS.weight) }),
    ...(checkpoint !== undefined && { checkpoint: encodeData('checkpoint', checkpoint, maxDataBytes) }),
  }
  if (Object.keys(changes).length === 0) throw new OptionTypeError('changes', `update changes at least one of ${[...KNOWN].join(', ')}`)
  return changes
}
