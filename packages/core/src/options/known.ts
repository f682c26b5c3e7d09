/** Option objects hold known names only: a mistyped option is an error and not a silent default. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'
import { nearest } from './nearest.ts'

/** Throws OptionTypeError where `options` is no plain object or has a name that is not among `known`. */
export function checkKnown(
  call: string,
  options: unknown,
  known: ReadonlySet<string>,
): asserts options is Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new OptionTypeError('options', `the options of ${call} are an object, not ${describe(options)}`)
  }
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue
    const meant = nearest(name, known)
    const hint = meant === undefined ? `it knows ${[...known].join(', ')}` : `did you mean '${meant}'?`
    throw new OptionTypeError(name, `${call} has no option '${name}'; ${hint}`)
  }
}
