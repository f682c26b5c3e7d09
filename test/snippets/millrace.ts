/** The command line of `millrace` as its own parser reads it. No command is run. */
import { settingsOf } from '../../apps/millrace/src/cli/configured.ts'
import type { Context } from '../../apps/millrace/src/cli/context.ts'
import { createProgram } from '../../apps/millrace/src/cli/program.ts'
import { readFlags } from '../../apps/millrace/src/config/environment.ts'
import { flagsOf } from '../../apps/millrace/src/config/flags.ts'
import { Layers } from '../../apps/millrace/src/config/layers.ts'
import { SCHEMA } from '../../apps/millrace/src/config/schema/schema.ts'

type Command = ReturnType<typeof createProgram>

/** Commands that take each setting as a flag. */
const SETTINGS = new Set(['serve', 'config show', 'open'])

/** The words of the command that was parsed last. The parser forgets the flags of one parse before the next. */
let path = ''
// No action is left that would look at the rest of it.
const program = createProgram({ out: { raw: () => {} } } as unknown as Context)
for (const each of program.commands) prepare(each, each.name())

function prepare(command: Command, at: string): void {
  // Nobody is there to ask.
  command.setOptionValue('yes', true)
  command.action((...given: readonly unknown[]) => {
    path = at
    const ran = given.at(-1) as Command
    if (SETTINGS.has(at)) checkSettings(settingsOf(ran).filter((word) => word !== '--print'))
  })
  for (const each of command.commands) prepare(each, `${at} ${each.name()}`.trim())
}

/**
 * Parses the words after `millrace`, and returns the words of the command.
 *
 * @throws Error of the parser: for a command or a flag that is not there, a value that is missing or of another kind
 */
export function parseMillrace(words: readonly string[]): string {
  path = ''
  try {
    program.parse(words as string[], { from: 'user' })
  } catch (error) {
    // Of a text that names no more than a group, or the help itself.
    if (!/^commander\.(?:help|helpDisplayed|version)$/.test((error as { readonly code?: string }).code ?? '')) throw error
  }
  return path
}

function checkSettings(argv: readonly string[]): void {
  const layers = new Layers()
  for (const layer of readFlags(flagsOf(argv).flags)) layers.add(layer)
  SCHEMA.parse(layers.values)
}

/**
 * Parses a mention: the beginning of a command line, whose arguments may be missing or stand in brackets.
 *
 * @throws Error as `parseMillrace` does, except for arguments that are missing
 */
export function parseMention(words: readonly string[]): void {
  const end = words.findIndex((word) => /^[[<|]|\.\.\./.test(word))
  const given = (end < 0 ? words : words.slice(0, end)).map((word) => (word === 'N' ? '1' : word))
  try {
    parseMillrace(given)
  } catch (error) {
    if (!INCOMPLETE.test((error as { readonly code?: string }).code ?? '')) throw error
  }
}

const INCOMPLETE = /^commander\.(?:missingArgument|optionMissingArgument|missingMandatoryOptionValue)$/
