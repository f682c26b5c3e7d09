/** Option objects hold known names only: a mistyped option is an error and not a silent default. */
import { OptionTypeError } from '../errors.ts'
import { describe, shortened } from './describe.ts'
import { optionHint } from './synonyms.ts'

/** Throws OptionTypeError if `options` is no plain object, or has a name that is not among `known`. `example` shows how to write them. */
export function checkKnown(
  call: string,
  options: unknown,
  known: ReadonlySet<string>,
  example?: string,
): asserts options is Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const hint = example === undefined ? '' : `: ${example}`
    throw new OptionTypeError('options', `the options of ${call} must be an object, got ${describe(options)}${hint}`)
  }
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue
    const hint = optionHint(name, known) ?? `it accepts ${[...known].join(', ')}`
    throw new OptionTypeError(shortened(name), `${call} has no option '${shortened(name)}'; ${hint}`)
  }
}

/** Throws OptionTypeError if a call that has no options was given some, as JavaScript can. `instead` names the call that has them. */
export function checkNone(call: string, given: readonly unknown[], instead: string): void {
  for (const options of given) {
    if (options === undefined) continue
    if (typeof options !== 'object' || options === null)
      throw new OptionTypeError('options', `${call} takes no options, got ${describe(options)}: ${instead}`)
    const [name] = Object.keys(options)
    if (name !== undefined)
      throw new OptionTypeError(shortened(name), `${call} has no option '${shortened(name)}': it takes no options; ${instead}`)
  }
}
