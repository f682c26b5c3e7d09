// Flags that are given twice: every option of every command, from the program itself.
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { flagsOf } from '../config/flags.ts'
import { settingFlags, settingsOf } from './configured.ts'
import type { Context } from './context.ts'
import { addFilters } from './filterFlags.ts'
import { pathOf } from './help.ts'
import { Output } from './output/output.ts'
import { createProgram } from './program.ts'
import { refuseRepeats } from './repeats.ts'
import { REPEATABLE } from './values.ts'

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)]
}

const out = new Output(process, () => {})
const program = () => createProgram({ out } as unknown as Context)
const valued = allOf(program()).flatMap((command, at) =>
  command.options
    .filter((option) => option.required || option.optional)
    .map((option) => ({ at, path: pathOf(command), flag: option.long ?? '', option })),
)
const isRepeatable = ({ option }: (typeof valued)[number]) => option.variadic || REPEATABLE.has(option.parseArg)

describe('each flag with a value', () => {
  test.each(valued.filter((each) => !isRepeatable(each)))('$path $flag takes one', ({ at, flag, option }) => {
    const command = allOf(program())[at] as Command
    command.setOptionValueWithSource(option.attributeName(), 'first', 'cli')
    expect(() => command.parseOptions([flag, 'second'])).toThrow(
      expect.objectContaining({ code: 'USAGE', message: `${flag} is given twice; it takes one value` }),
    )
    expect(command.getOptionValue(option.attributeName())).toBe('first')
  })

  test.each(valued.filter(isRepeatable))('$path $flag takes several', ({ at, flag, option }) => {
    const command = allOf(program())[at] as Command
    command.parseOptions([flag, 'a', `${flag}=b`])
    expect(command.getOptionValue(option.attributeName())).toEqual(['a', 'b'])
  })

  test.each(valued.filter(({ option }) => /\brepeat (for more|or separate)/.test(option.description)))(
    '$path $flag says that it repeats',
    (each) => {
      expect(isRepeatable(each)).toBe(true)
    },
  )
})

test('a filter: one value for each flag, however it is written, and no flag with its opposite', () => {
  const parsed = (...args: string[]) => {
    const command = addFilters(new Command('cancel')).option('-n, --times <number>', '', Number, 5)
    refuseRepeats(command)
    command.parseOptions(args)
    return command.opts()
  }
  expect(parsed('--tag', 'a', '--name', 'b', '-n', '1')).toEqual({ tag: 'a', name: 'b', times: 1 })
  expect(parsed('--retrying', '--retrying')).toEqual({ retrying: true, times: 5 })
  expect(parsed('--no-retrying', '--no-retrying')).toEqual({ retrying: false, times: 5 })
  expect(() => parsed('--tag', 'a', '--tag=a')).toThrow('--tag is given twice')
  expect(() => parsed('-n', '1', '--times', '2')).toThrow('--times is given twice')
  expect(() => parsed('--retrying', '--no-retrying')).toThrow('--retrying and --no-retrying exclude each other')
  expect(() => parsed('--no-retrying', '--retrying')).toThrow('--no-retrying and --retrying exclude each other')
})

test('a setting of the daemon takes one value, too', () => {
  expect(() => flagsOf(['--http-port', '1', '--http-port=2'])).toThrow('--http-port is given twice; it takes one value')
  expect(() => flagsOf(['--config', 'a', '--config', 'b'])).toThrow('--config is given twice; it takes one value')
})

test('--json sets the format of the log, unless a flag does', () => {
  const formatOf = (...args: string[]) => {
    const command = settingFlags(new Command('serve').option('--json'))
    command.parse(args, { from: 'user' })
    return flagsOf(settingsOf(command)).flags['log.format']
  }
  expect(formatOf('--json')).toBe('json')
  expect([formatOf('--json', '--log-format', 'text'), formatOf('--json', '--log-format=text')]).toEqual(['text', 'text'])
})
