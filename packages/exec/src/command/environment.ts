/** The environment of a command: the variables that are named, and nothing else. */
import { checkKnown, describe, OptionTypeError } from '@millrace/core'

const KNOWN = new Set(['inherit', 'set'])
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Variables that every shell sets itself. */
const OF_THE_SHELL = new Set(['PWD', 'OLDPWD', 'SHLVL', '_'])

/** @param own the worker's own environment */
export function environmentOption(option: string, value: unknown, own: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  checkKnown(option, value, KNOWN)
  const { inherit = ['PATH'], set = {} } = value
  if (!Array.isArray(inherit))
    throw new OptionTypeError(`${option}.inherit`, `${option}.inherit must be an array of names, got ${describe(inherit)}`)
  if (typeof set !== 'object' || set === null || Array.isArray(set)) {
    throw new OptionTypeError(`${option}.set`, `${option}.set must be an object of strings, got ${describe(set)}`)
  }
  const variables: Record<string, string> = {}
  for (const name of inherit) {
    const inherited = own[nameOf(`${option}.inherit`, name)]
    if (inherited !== undefined) variables[name] = inherited
  }
  for (const [name, text] of Object.entries(set)) {
    nameOf(`${option}.set`, name)
    if (typeof text !== 'string' || text.includes('\0')) {
      throw new OptionTypeError(`${option}.set`, `${option}.set.${name} must be a string without NUL characters, got ${describe(text)}`)
    }
    variables[name] = text
  }
  return variables
}

function nameOf(option: string, name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new OptionTypeError(option, `${option} must have names of letters, digits and _, got ${describe(name)}`)
  }
  if (name.startsWith('JOB_'))
    throw new OptionTypeError(option, `${option} has ${name}: names with JOB_ are reserved for the job; choose another`)
  if (OF_THE_SHELL.has(name)) throw new OptionTypeError(option, `${option} has ${name}, which shells set themselves: leave it out`)
  return name
}
