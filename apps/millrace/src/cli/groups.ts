/** Groups of commands, and the command of each that runs if the group is named alone. */
import type { Command } from 'commander'

const DEFAULTS = new WeakMap<Command, Command>()

/** Adds the command that runs if its group is named alone, as a rule the list. The flags of the group are then those of the command. */
export function defaultCommand(group: Command, name: string): Command {
  const command = group.command(name, { isDefault: true })
  DEFAULTS.set(group, command)
  return command
}

/** Returns the command that runs if its group is named alone; undefined if the group prints its help. */
export function defaultOf(group: Command): Command | undefined {
  return DEFAULTS.get(group)
}

/** Returns the commands that people see. Those whose names begin with `__` are for shells. */
export function shownCommands(group: Command): readonly Command[] {
  return group.commands.filter((each) => !each.name().startsWith('__'))
}
