/** Refuses a flag whose value is missing: without this, it takes the flag behind it for its value. */
import type { Command, Option } from 'commander'
import { isFlag, valueMissing } from '../config/flagName.ts'
import { UsageError } from './errors.ts'

/** Watches the arguments of a command and of all commands below it. Call it after all commands are added. */
export function refuseMissing(command: Command): void {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (argv) => {
    check(command.options, argv)
    return parse(argv)
  }
  for (const each of command.commands) refuseMissing(each)
}

/** @throws UsageError */
function check(options: readonly Option[], argv: readonly string[]): void {
  for (let index = 0; index < argv.length && argv[index] !== '--'; index++) {
    const flag = argv[index] as string
    // Its value stands behind it, and not in it: `--queue=mail`.
    if (!options.some((option) => option.required && [option.short, option.long].includes(flag))) continue
    const value = argv[++index]
    if (value !== undefined && isFlag(value)) throw new UsageError(valueMissing(flag, value))
  }
}
