/** Refuses a flag that takes one value and is given twice: in a filter, the last one alone would match more jobs than the command says. */
import type { EventEmitter } from 'node:events'
import type { Command, Option } from 'commander'
import { UsageError } from './errors.ts'
import { REPEATABLE } from './values.ts'

/** Watches the flags of a command and of all commands below it. Call it after all commands are added. */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if (option.variadic || REPEATABLE.has(option.parseArg)) continue
    // This listener runs before that of commander, which stores the value. Commander's types leave out that a command is an emitter.
    ;(command as Command & EventEmitter).prependListener(`option:${option.name()}`, () => check(command, option))
  }
  for (const each of command.commands) refuseRepeats(each)
}

/** @throws UsageError */
function check(command: Command, option: Option): void {
  const name = option.attributeName()
  if (command.getOptionValueSource(name) !== 'cli') return
  if (option.required || option.optional) throw new UsageError(`${option.long} is given twice; it takes one value`)
  // The same switch may be given again.
  if (command.getOptionValue(name) !== option.negate) return
  const other = command.options.find((each) => each.attributeName() === name && each.negate !== option.negate)
  throw new UsageError(`${other?.long} and ${option.long} exclude each other`)
}
