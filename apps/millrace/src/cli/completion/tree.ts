/** The words that can follow each command, read from the program itself. */
import type { Command } from 'commander'
import { takesSettings } from '../configured.ts'
import { defaultOf, shownCommands } from '../groups.ts'
import { type Kind, kindOfArgument, kindOfFlag } from './kinds.ts'

export interface Flag {
  /** `-f`, `--follow`. */
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  /** The names that its value may be; undefined if the engine knows none. */
  readonly kind: Kind | undefined
}

/** An argument of a command, and the names that it may be. */
export interface Argument {
  readonly variadic: boolean
  readonly kind: Kind | undefined
}

export interface Node {
  /** The words of the command, such as `jobs list`; empty for the program. */
  readonly path: string
  readonly description: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  /** The flags of the command, and those of every command. */
  readonly flags: readonly Flag[]
  readonly arguments: readonly Argument[]
}

/** @param settings the flags of commands that take every setting of the daemon; none where only names are completed */
export function nodesOf(program: Command, settings: readonly Flag[] = []): readonly Node[] {
  const global = flagsOf(program, '')
  const visit = (command: Command, path: string): Node[] => {
    // A group alone takes the flags and arguments of the command that runs then.
    const alone = defaultOf(command)
    return [
      {
        path,
        description: command.description(),
        commands: shownCommands(command).map((each) => ({ name: each.name(), description: each.description() })),
        flags: [
          ...[command, alone].flatMap((each) => (each === undefined || each === program ? [] : flagsOf(each, path))),
          ...([command, alone].some(takesSettings) ? settings : []),
          ...global,
          HELP,
        ],
        arguments: (alone ?? command).registeredArguments.map((each) => ({
          variadic: each.variadic,
          kind: each.argChoices ?? kindOfArgument(path, each.name()),
        })),
      },
      ...shownCommands(command).flatMap((each) => visit(each, `${path} ${each.name()}`.trim())),
    ]
  }
  return visit(program, '')
}

const HELP: Flag = { names: ['-h', '--help'], description: 'print the help', takesValue: false, kind: undefined }

function flagsOf(command: Command, path: string): Flag[] {
  return command.options.map(({ short, long, flags, description, required, optional }) => ({
    names: [short, long].filter((name) => name !== undefined),
    description,
    takesValue: required || optional,
    kind: kindOfFlag(path, flags),
  }))
}

/** Returns the flags of all commands that take a value, or only those whose value may be a name. */
export function valueFlags(nodes: readonly Node[], which: 'all' | 'named' = 'all'): readonly string[] {
  const wanted = nodes.flatMap(({ flags }) => flags).filter(({ takesValue, kind }) => takesValue && (which === 'all' || kind !== undefined))
  return [...new Set(wanted.flatMap(({ names }) => names))].sort()
}

/** Returns the paths of the commands with an argument that may be a name. */
export function namedPaths(nodes: readonly Node[]): readonly string[] {
  return nodes.filter((node) => node.arguments.some(({ kind }) => kind !== undefined)).map(({ path }) => path)
}
