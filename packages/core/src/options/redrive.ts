/** The options of `redrive`. */
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { nameOption } from './name.ts'

export interface RedriveOptions {
  /** Only jobs of this queue. Default: all queues. */
  readonly queue?: string
  /** Only jobs of this name. Default: all names. */
  readonly name?: string
  /** At most so many jobs; default all of them. */
  readonly limit?: number
}

export interface RedriveSettings {
  readonly queue?: string
  readonly name?: string
  readonly limit: number
}

const KNOWN = new Set(['queue', 'name', 'limit'])

export function validateRedriveOptions(options: unknown = {}): RedriveSettings {
  checkKnown('redrive', options, KNOWN)
  const { queue, name, limit } = options
  return {
    ...(queue !== undefined && { queue: nameOption('queue', queue) }),
    ...(name !== undefined && { name: nameOption('name', name) }),
    limit: limit === undefined ? Number.POSITIVE_INFINITY : integerOption('limit', limit, 1, Number.MAX_SAFE_INTEGER),
  }
}
