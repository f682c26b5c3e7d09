/** The options of `cancel` and `cancelMany`. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import type { Cancellation } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { booleanOption } from './choice.ts'
import { describe } from './describe.ts'
import { checkKnown } from './known.ts'
import type { ManyOptions } from './many.ts'
import type { TreeOptions } from './retry.ts'

interface CancellationOptions {
  /** The reason: 1 to 1,000 characters. It is stored with the job, and its handler finds it in `signal.reason`. Default none. */
  readonly reason?: string
  /** The name of who cancels: 1 to 128 characters. Default: over a connection the name of its token, otherwise none. */
  readonly by?: string
}

/** The options of `cancel`. */
export interface CancelOptions extends TreeOptions, CancellationOptions {}

/** The options of `cancelMany`. */
export interface CancelManyOptions extends ManyOptions, CancellationOptions {}

const KNOWN = new Set(['descendants', 'reason', 'by'])

/** @throws OptionTypeError, OptionRangeError */
export function validateCancelOptions(options: unknown = {}): { readonly descendants: boolean; readonly cancellation: Cancellation } {
  checkKnown('cancel', options, KNOWN)
  return { descendants: booleanOption('descendants', options['descendants'] ?? false), cancellation: readCancellation(options) }
}

/** Separates what `cancelMany` says of each cancel from the options of all bulk calls. @throws OptionTypeError, OptionRangeError */
export function validateCancelManyOptions(options: unknown): {
  readonly cancellation: Cancellation
  readonly rest: ManyOptions | undefined
} {
  if (typeof options !== 'object' || options === null) return { cancellation: {}, rest: options as undefined }
  const { reason, by, ...rest } = options as CancellationOptions & ManyOptions
  return { cancellation: readCancellation({ reason, by }), rest }
}

function readCancellation({ reason, by }: Readonly<Record<string, unknown>>): Cancellation {
  return {
    ...(reason !== undefined && { reason: sentence('reason', reason, LIMITS.reasonLength) }),
    ...(by !== undefined && { by: sentence('by', by, LIMITS.nameLength) }),
  }
}

function sentence(option: string, value: unknown, most: number): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}`)
  if (value.length === 0 || value.length > most) {
    throw new OptionRangeError(option, most, `${option} must have 1 to ${most} characters, got ${value.length}`)
  }
  return value
}
