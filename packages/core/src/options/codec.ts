/** The codec between values and their stored bytes: encryption, or compression. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'
import { checkKnown } from './known.ts'

/**
 * Bytes to bytes, both at once and not by a promise: they run on the caller's and on the worker's side, between other calls. `encode`
 * gets data, output and checkpoint of a job, each by itself. What `decode` throws fails the job without retries.
 */
export interface Codec {
  encode(plain: Uint8Array): Uint8Array
  decode(encoded: Uint8Array): Uint8Array
}

const KNOWN = new Set(['encode', 'decode'])

/** An object with the two methods; other properties of a class's instance are its own. */
export function codecOption(option: string, value: unknown): Codec {
  if (typeof value !== 'object' || value === null)
    throw new OptionTypeError(option, `${option} must be { encode, decode }, got ${describe(value)}`)
  if (Object.getPrototypeOf(value) === Object.prototype) checkKnown(option, value, KNOWN)
  for (const method of ['encode', 'decode'] as const) {
    const given = (value as Partial<Codec>)[method]
    if (typeof given !== 'function')
      throw new OptionTypeError(`${option}.${method}`, `${option}.${method} must be a function, got ${describe(given)}`)
  }
  return value as Codec
}
