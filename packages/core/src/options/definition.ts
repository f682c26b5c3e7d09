/** The options of `defineJob`. */
import type { Defaults } from '../commands.ts'
import { OptionTypeError } from '../errors.ts'
import type { BackoffFunction, BackoffOptions } from './backoff.ts'
import { describe } from './describe.ts'
import { checkKnown } from './known.ts'
import { nameOption } from './name.ts'
import { RUN_OPTION_NAMES, type RunOptions, type RunSettings, readRunOptions } from './runOptions.ts'

/** The options of a definition that are not about its schema. */
export interface DefinitionOptions extends Omit<RunOptions, 'backoff'> {
  /** Routes jobs to handlers: 1 to 128 of `A-Z a-z 0-9 _ . : / -`, except `.` and `..`. */
  readonly name: string
  /**
   * The delay between attempts, as data, or as a function that runs in the worker. Default exponential from 20 s, factor 2, cap 1 h,
   * jitter 0.2.
   */
  readonly backoff?: BackoffOptions | BackoffFunction
}

/** A definition's options, checked. */
export interface DefinitionSettings {
  readonly name: string
  /** The options of its enqueues that a call does not set. */
  readonly defaults: Defaults
  readonly backoff: BackoffFunction | undefined
}

const KNOWN = new Set<string>(['name', 'schema', ...RUN_OPTION_NAMES])

/** @throws OptionTypeError, OptionRangeError */
export function validateDefinition(options: unknown): DefinitionSettings {
  checkKnown('defineJob', options, KNOWN, "defineJob({ name: 'mail' })")
  const name = nameOption('name', options['name'])
  checkSchema(options['schema'])
  const { backoff, ...rest } = options
  const defaults: RunSettings = {}
  readRunOptions(typeof backoff === 'function' ? rest : options, defaults)
  return { name, defaults: Object.freeze(defaults), backoff: typeof backoff === 'function' ? (backoff as BackoffFunction) : undefined }
}

function checkSchema(schema: unknown): void {
  if (schema === undefined) return
  const standard =
    typeof schema === 'object' || typeof schema === 'function'
      ? (schema as { '~standard'?: { validate?: unknown } } | null)?.['~standard']
      : undefined
  if (typeof standard?.validate === 'function') return
  throw new OptionTypeError(
    'schema',
    `schema must be a Standard Schema (Zod, Valibot, ArkType ...), which has '~standard'.validate; got ${describe(schema)}`,
  )
}
