// Misuse is found out where the worker starts, with the option, the bound and the remedy.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { durationOption, OptionRangeError, OptionTypeError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { execHandlers } from './handlers.ts'
import { findTool } from './process/launch.ts'
import { temporaryFolder } from './testing/folder.ts'

const SH = '/bin/sh'

function thrown(commands: unknown, options?: unknown): OptionTypeError | OptionRangeError {
  try {
    execHandlers(commands as never, options as never)
  } catch (error) {
    if (error instanceof OptionTypeError || error instanceof OptionRangeError) return error
    throw error
  }
  throw new Error('it was taken')
}

test('each command is a handler of its name', () => {
  const handlers = execHandlers({ one: { file: SH }, 'two.three': { file: 'echo', shell: true, queue: 'q', timeout: '1m' } })
  expect(handlers.map(({ kind, definition }) => [kind, definition.name, definition.defaults])).toEqual([
    ['inline', 'one', {}],
    ['inline', 'two.three', { queue: 'q', timeout: 60_000 }],
  ])
  expect(execHandlers({})).toEqual([])
})

describe('of a command', () => {
  test.for([
    ['file', { file: 'sh' }, /absolute path, got "sh": neither PATH nor a folder is searched/],
    ['file', { file: './sh' }, /absolute/],
    ['file', {}, /absolute path, got undefined/],
    ['file', { file: 3 }, /absolute path, got 3/],
    ['file', { file: '/no/such/tool' }, /does not exist: install it/],
    ['file', { file: '/usr' }, /is not a file/],
    ['file', { file: '/bin/sh\0' }, /NUL/],
    ['file', { file: '/x/run.bat' }, /is a batch file: cmd.exe/],
    ['file', { file: '/x/run.CMD' }, /is a batch file/],
    ['file', { file: ' ', shell: true }, /text of a script/],
    ['file', { file: 'rm {{path}}', shell: true }, /no template, and has {{path}}: say "\$JOB_DATA_/],
    ['file', { file: 'x\0', shell: true }, /NUL/],
    ['shell', { file: SH, shell: 1 }, /true or false, got 1/],
    ['args', { file: SH, args: '-c' }, /array of arguments, got "-c"/],
    ['args[1]', { file: SH, args: ['x', 3] }, /got 3/],
    ['args[0]', { file: SH, args: [{ text: 'x' }] }, /literal/],
    ['args[0]', { file: SH, args: ['a\0'] }, /NUL/],
    ['args[0]', { file: SH, args: ['{{a.b}}'] }, /braces that are no field/],
    ['args[0]', { file: SH, args: ['{{a'] }, /braces that are no field/],
    ['args[0]', { file: SH, args: ['a}}'] }, /braces that are no field/],
    ['stdin', { file: SH, stdin: 'dta' }, /did you mean 'data'/],
    ['variables', { file: SH, variables: 'yes' }, /true or false/],
    ['env', { file: SH, env: { inherited: [] } }, /did you mean 'inherit'/, 'inherited'],
    ['env.inherit', { file: SH, env: { inherit: 'PATH' } }, /array of names/],
    ['env.inherit', { file: SH, env: { inherit: ['A-B'] } }, /letters, digits and _/],
    ['env.inherit', { file: SH, env: { inherit: ['JOB_ID'] } }, /reserved for the job/],
    ['env.set', { file: SH, env: { set: { A: 1 } } }, /string without NUL/],
    ['env.set', { file: SH, env: { set: { A: 'x\0' } } }, /string without NUL/],
    ['env.set', { file: SH, env: { set: { PWD: '/' } } }, /shells set themselves/],
    ['env.set', { file: SH, env: { set: ['A'] } }, /object of strings/],
    ['cwd', { file: SH, cwd: 'tmp' }, /absolute/],
    ['cwd', { file: SH, cwd: '/no/such' }, /not a folder/],
    ['umask', { file: SH, umask: 63 }, /octal digits/],
    ['umask', { file: SH, umask: '088' }, /octal digits/],
    ['uid', { file: SH, uid: 'nobody' }, /whole number/],
    ['maxOutputBytes', { file: SH, maxOutputBytes: '1M' }, /whole number/],
    ['limits', { file: SH, limits: { cpu: 1 } }, /cpuSeconds/, 'cpu'],
    ['limits.files', { file: SH, limits: { files: 1.5 } }, /whole number/],
    ['successCodes', { file: SH, successCodes: 0 }, /array of exit codes/],
    ['successCodes[0]', { file: SH, successCodes: ['0'] }, /whole number/],
    ['noRetryCodes', { file: SH, retryCodes: [1], noRetryCodes: [2] }, /leave one out/],
    ['killGrace', { file: SH, killGrace: 'soon' }, /duration/],
    ['timeot', { file: SH, timeot: '1m' }, /did you mean 'timeout'/, 'timeot'],
  ] as const)('%s: %j', ([option, spec, message, name]) => {
    const error = thrown({ job: spec })
    expect(error).toBeInstanceOf(OptionTypeError)
    expect(error.message).toMatch(message)
    expect(error.option).toBe(name ?? `commands['job'].${option}`)
  })

  test.for([
    ['maxOutputBytes', 100, 32_768],
    ['maxOutputBytes', 2 ** 30, 16 * 2 ** 20],
    ['killGrace', '1h', 600_000],
    ['uid', -1, 0],
  ] as const)('%s is out of range: %j', ([option, value, limit]) => {
    expect(thrown({ job: { file: SH, [option]: value } })).toMatchObject({
      code: 'OPTION_RANGE',
      option: `commands['job'].${option}`,
      limit,
    })
  })

  test.for([
    ['the default', {}, '10s'],
    ['one as long', { killGrace: '5s' }, '5s'],
    ['one that is longer', { killGrace: '1m' }, { seconds: 59 }],
    ['none at all, where nobody waits', { killGrace: 0 }, 0],
  ] as const)('killGrace is below the abortGrace of the worker: %s', ([, spec, abortGrace]) => {
    const error = thrown({ job: { file: SH, ...spec } }, { abortGrace })
    expect(error).toMatchObject({ code: 'OPTION_RANGE', option: "commands['job'].killGrace", limit: durationOption('limit', abortGrace) })
    expect(error.message).toMatch(/^commands\['job'\]\.killGrace .* abortGrace .*: lower killGrace, or raise abortGrace$/)
  })

  test('a killGrace that fits its worker, or whose worker is not known, is taken', () => {
    expect(execHandlers({ job: { file: SH } }, { abortGrace: 10_001 })).toHaveLength(1)
    expect(execHandlers({ job: { file: SH, killGrace: '10m' } })).toHaveLength(1)
    expect(thrown({}, { abortGrace: 'soon' })).toMatchObject({ code: 'OPTION_TYPE', option: 'abortGrace' })
  })

  test('exit codes are from 0 to 255', () => {
    expect(thrown({ job: { file: SH, successCodes: [256] } })).toMatchObject({ code: 'OPTION_RANGE', limit: 255 })
  })

  test('an argument, or a script, that no process could be given', () => {
    const text = 'x'.repeat(2 ** 17)
    expect(thrown({ job: { file: SH, args: [text] } })).toMatchObject({ code: 'OPTION_RANGE', limit: 2 ** 17 - 1 })
    expect(thrown({ job: { file: text, shell: true } })).toMatchObject({ code: 'OPTION_RANGE', limit: 2 ** 17 - 1 })
    expect(thrown({ job: { file: SH, args: Array.from({ length: 1_001 }, () => 'x') } })).toMatchObject({ limit: 1_000 })
  })

  test('a file that may not be executed', () => {
    const file = join(temporaryFolder(), 'tool')
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o600 })
    expect(thrown({ job: { file } }).message).toMatch(/chmod \+x/)
    chmodSync(file, 0o700)
    expect(execHandlers({ job: { file } })).toHaveLength(1)
  })

  test('limits that nothing could run in are refused with the reason', ({ skip }) => {
    if (findTool('prlimit') === undefined) skip('prlimit is not on this system')
    const { message } = thrown({ job: { file: SH, limits: { memoryBytes: 4_096 } } })
    expect(message).toMatch(/^commands\['job'\] cannot be started as it is configured \(limits, cwd\): ./)
  })

  test('a name that no job has, and an option of the definition', () => {
    expect(thrown({ 'no blanks': { file: SH } })).toMatchObject({ option: 'name' })
    expect(thrown({ job: { file: SH, maxAttempts: 0 } })).toMatchObject({ option: 'maxAttempts', limit: 1 })
  })

  test('a command, and the commands, are objects', () => {
    expect(thrown({ job: SH }).message).toMatch(/the options of commands\['job'\] must be an object, got "\/bin\/sh"/)
    for (const commands of [undefined, null, [], 'x']) expect(thrown(commands).option).toBe('commands')
  })
})

describe('of execHandlers', () => {
  test.for([
    [{ logFolder: 'logs' }, 'logFolder', /absolute/],
    [{ logFolder: 1 }, 'logFolder', /absolute/],
    [{ logfolder: '/x' }, 'logfolder', /did you mean 'logFolder'/],
    [{ maxLogBytes: 1 }, 'maxLogBytes', /between 4096 and/],
    [{ maxFolderBytes: 'x' }, 'maxFolderBytes', /whole number/],
    [{ maxLogAge: 1 }, 'maxLogAge', /at least 60000 ms/],
  ] as const)('%j', ([options, option, message]) => {
    const error = thrown({}, options)
    expect(error.option).toBe(option)
    expect(error.message).toMatch(message)
  })

  test('5.4: a folder of logs that others can enter', () => {
    const folder = join(temporaryFolder(), 'open')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const error = thrown({}, { logFolder: folder })
    expect(error.option).toBe('logFolder')
    expect(error.message).toMatch(/mode 755.*chmod 700/)
  })

  test('5.4: a folder of logs that belongs to somebody else', ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root can make one')
    const folder = join(temporaryFolder(), 'theirs')
    mkdirSync(folder, { mode: 0o700 })
    chownSync(folder, 65_534, 65_534)
    expect(thrown({}, { logFolder: folder }).message).toMatch(/belongs to another user \(65534\)/)
  })
})
