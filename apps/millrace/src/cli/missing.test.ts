// Flags whose value is missing: every flag of every command that takes one, from the program itself, and every setting.
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { flagsOf } from '../config/flags.ts'
import { flagOf, SETTABLE } from '../config/keys.ts'
import type { Context } from './context.ts'
import { pathOf } from './help.ts'
import { createProgram } from './program.ts'

const allOf = (command: Command): Command[] => [command, ...command.commands.flatMap(allOf)]
/** One for all rows: a refused flag is stored nowhere. */
const program = createProgram({ out: {} } as Context)
const VALUED = allOf(program).flatMap((command) =>
  command.options
    .filter(({ required }) => required)
    .flatMap((option) =>
      [option.short, option.long].flatMap((flag) => (flag === undefined ? [] : [{ command, path: pathOf(command), flag, option }])),
    ),
)

test.each(VALUED)('$path $flag takes no flag for its value', ({ command, flag, option }) => {
  for (const next of ['--json', '--nowhere', '-f', '--']) {
    const message = expect.stringMatching(new RegExp(`^${flag} requires a value, and ${next} is a flag: .*write ${flag}.?${next} if`))
    expect(() => command.parseOptions([flag, next])).toThrow(expect.objectContaining({ code: 'USAGE', message }))
    expect(command.getOptionValueSource(option.attributeName())).not.toBe('cli')
  }
})

test('a value may begin with a dash if it is written into the flag, is a number, or is stdin', () => {
  const parsed = (...args: readonly string[]) => {
    const command = allOf(createProgram({ out: {} } as Context)).find((each) => pathOf(each) === 'millrace enqueue') as Command
    return command.parseOptions([...args]) && command.opts()
  }
  expect(parsed('--queue=--json', '--tag=-f')).toMatchObject({ queue: '--json', tag: ['-f'] })
  expect(parsed('--priority', '-5', '--queue', '-')).toMatchObject({ priority: -5, queue: '-' })
  expect(parsed('mail', '--', '--queue', '--json')).not.toHaveProperty('queue')
})

test.each(SETTABLE.map(flagOf))('%s of the daemon takes no flag for its value', (flag) => {
  expect(() => flagsOf([flag, '--http-port', '80'])).toThrow(`${flag} requires a value, and --http-port is a flag`)
})

test('a setting may begin with a dash', () => {
  expect(flagsOf(['--http-host=--x', '--http-port', '-1']).flags).toEqual({ 'http.host': '--x', 'http.port': '-1' })
  expect(() => flagsOf(['--config', '--http-port'])).toThrow('--config requires a value')
})
