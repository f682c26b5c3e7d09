/** The output of `--help`: commands in groups, the flags of every command, and examples for each. */
import type { Command, CommanderError } from 'commander'
import { EXAMPLES } from './examples.ts'
import { defaultOf, shownCommands } from './groups.ts'
import type { Output } from './output/output.ts'

const GLOBAL_OPTIONS = 'Options of every command:'

/** Configures the help. Call it before commands are added, so that all inherit it. Help always goes where answers go. */
export function configureHelp(program: Command, out: Output): void {
  const write = (text: string) => {
    // `answerHelp` prints it as JSON.
    if (!out.json) void out.raw(text)
  }
  program
    .configureHelp({
      showGlobalOptions: true,
      // A description names its default itself, in readable form.
      optionDescription: ({ description }) => description,
      subcommandDescription: (command) =>
        `${command.description()}${command.parent !== null && defaultOf(command.parent) === command ? ' (default)' : ''}`,
      styleTitle: (title) => (title === 'Global Options:' ? GLOBAL_OPTIONS : title),
    })
    // Errors are reported in one place: explain.ts.
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} })
}

/** Adds examples to the help of each command, and the command to each of its errors. Call it after all commands are added. */
export function finishHelp(command: Command, path = ''): void {
  const examples = EXAMPLES[path]
  if (examples !== undefined && path !== '')
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}\n`)
  command.exitOverride((error) => {
    throw Object.assign(error, { command })
  })
  for (const each of command.commands) finishHelp(each, `${path} ${each.name()}`.trim())
}

/** Returns true if the error is only help or the version, which people have already seen. As JSON, it is printed here. */
export async function answerHelp(error: CommanderError & { readonly command?: Command }, out: Output): Promise<boolean> {
  const { code, command } = error
  if (code === 'commander.version') {
    if (out.json) await out.answer({ version: error.message }, () => [])
    return true
  }
  if (code !== 'commander.help' && code !== 'commander.helpDisplayed') return false
  if (out.json && command !== undefined) await out.answer(shapeOf(command), () => [])
  return true
}

function shapeOf(command: Command): object {
  return {
    usage: `${pathOf(command)} ${command.usage()}`,
    description: command.description(),
    commands: shownCommands(command).map((each) => ({ name: each.name(), description: each.description() })),
    options: command.options.map(({ flags, description }) => ({ flags, description })),
  }
}

/** Returns the words of a command, with `millrace` first. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
