/** The words that can follow each command, read from the program itself. */
import type { Command } from 'commander'
import { defaultOf } from '../groups.ts'

export interface Flag {
  /** `-f`, `--follow`. */
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
}

export interface Node {
  /** The words of the command, such as `jobs list`; empty for the program. */
  readonly path: string
  readonly description: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  /** The flags of the command, and those of every command. */
  readonly flags: readonly Flag[]
}

export function nodesOf(program: Command): readonly Node[] {
  const global = flagsOf(program)
  const visit = (command: Command, path: string): Node[] => {
    // A group alone takes the flags of the command that runs then.
    const alone = defaultOf(command)
    return [
      {
        path,
        description: command.description(),
        commands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
        flags: [...(command === program ? [] : flagsOf(command)), ...(alone === undefined ? [] : flagsOf(alone)), ...global, HELP],
      },
      ...command.commands.flatMap((each) => visit(each, `${path} ${each.name()}`.trim())),
    ]
  }
  return visit(program, '')
}

const HELP: Flag = { names: ['-h', '--help'], description: 'print the help', takesValue: false }

function flagsOf(command: Command): Flag[] {
  return command.options.map(({ short, long, description, required, optional }) => ({
    names: [short, long].filter((name) => name !== undefined),
    description,
    takesValue: required || optional,
  }))
}

/** Returns the flags of all commands that take a value. */
export function valueFlags(nodes: readonly Node[]): readonly string[] {
  return [...new Set(nodes.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue).flatMap(({ names }) => names)))].sort()
}
