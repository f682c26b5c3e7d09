/** What `--help` shows: commands in groups, the flags that go with every command, and an example for each. */
import type { Command, CommanderError } from 'commander'
import { EXAMPLES } from './examples.ts'
import type { Output } from './output/output.ts'

const GLOBAL_OPTIONS = 'Options of every command:'

/** Before commands are added, so that all of them inherit it. Help goes where answers go, however it is asked for. */
export function configureHelp(program: Command, out: Output): void {
  const write = (text: string) => {
    // As JSON it is answered by `answerHelp`.
    if (!out.json) void out.raw(text)
  }
  program
    .configureHelp({
      showGlobalOptions: true,
      // A description names its default itself, as people write it.
      optionDescription: ({ description }) => description,
      styleTitle: (title) => (title === 'Global Options:' ? GLOBAL_OPTIONS : title),
    })
    // Errors are told in one place: explain.ts.
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} })
}

/** After commands are added: an example behind the help of each, and an error that knows the command it is of. */
export function finishHelp(command: Command, path = ''): void {
  const examples = EXAMPLES[path]
  if (examples !== undefined && path !== '')
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}\n`)
  command.exitOverride((error) => {
    throw Object.assign(error, { command })
  })
  for (const each of command.commands) finishHelp(each, `${path} ${each.name()}`.trim())
}

/** Whether it is no error, but help or the version, which people have been shown; as JSON it is answered here. */
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
    commands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: command.options.map(({ flags, description }) => ({ flags, description })),
  }
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
