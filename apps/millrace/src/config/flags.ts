/** Reads the arguments of a command line as settings: `--http-port 80`, `--http-port=80`. */
import { ConfigError } from './errors.ts'
import { isFlag, valueMissing } from './flagName.ts'
import { flagOf, SETTABLE, secretIn, variableOf } from './keys.ts'
import { meant } from './layers.ts'

const KEY_OF_FLAG = new Map(SETTABLE.map((key) => [flagOf(key), key]))
const CONFIG = '--config'

export interface ReadFlags {
  readonly flags: Readonly<Record<string, string>>
  readonly configFile?: string
}

/** @throws ConfigError for a flag that is unknown or given twice, and for a secret, because every user of the machine can list the arguments of a process */
export function flagsOf(argv: readonly string[]): ReadFlags {
  const flags: Record<string, string> = {}
  let configFile: string | undefined
  for (let index = 0; index < argv.length; index++) {
    const [name, given] = split(argv[index] as string)
    const key = KEY_OF_FLAG.get(name)
    if (key === undefined && name !== CONFIG)
      throw new ConfigError([`unknown flag '${name}': ${meant(name, [CONFIG, ...KEY_OF_FLAG.keys()])}`])
    const value = given ?? argv[++index]
    if (value === undefined) throw new ConfigError([`${name} requires a value`])
    if (given === undefined && isFlag(value)) throw new ConfigError([valueMissing(name, value)])
    if (key === undefined ? configFile !== undefined : Object.hasOwn(flags, key))
      throw new ConfigError([`${name} is given twice; it takes one value`])
    if (key === undefined) configFile = value
    else flags[key] = open(key, value)
  }
  return { flags, ...(configFile !== undefined && { configFile }) }
}

function split(argument: string): [name: string, value: string | undefined] {
  const at = argument.indexOf('=')
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)]
}

function open(key: string, value: string): string {
  const secret = secretIn(key, value)
  if (secret === undefined) return value
  throw new ConfigError([
    `${flagOf(key)} shows the secret '${secret}' to every user of this machine, in the list of its processes: set it in ${variableOf(key)} or in a configuration file`,
  ])
}
