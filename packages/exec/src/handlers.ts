/** Commands that a worker allows, as handlers: a job of another name is nothing to it. */

import {
  checkKnown,
  type Duration,
  describe,
  durationOption,
  type FileUrl,
  formatDuration,
  integerOption,
  OptionRangeError,
  OptionTypeError,
  RUN_OPTION_NAMES,
  type RunOption,
  UnsupportedRuntimeError,
} from '@millrace/core'
import { defineJob, type InlineHandler } from '@millrace/worker'
import { type Command, commandOption } from './command/command.ts'
import { pathOption } from './command/file.ts'
import type { CommandSpec } from './command/spec.ts'
import { LogFolder } from './logs/folder.ts'
import { runCommand } from './run.ts'

/** The options of `execHandlers`. */
export interface ExecOptions {
  /** An absolute path or a `file:` URL: a log for each run, in up to three files, and what is needed to end the commands of a worker that was killed. Default none. */
  readonly logFolder?: string | FileUrl
  /** The size of one run's log: 4 KiB to 1 TiB, default 64 MiB, in files of a third each. A longer one keeps its beginning and its end. */
  readonly maxLogBytes?: number
  /** The size of all logs together: 4 KiB to 1 TiB, default 1 GiB. The logs of the oldest runs are removed first. */
  readonly maxFolderBytes?: number
  /** Older logs are removed: at least 1 minute, default 7 days. */
  readonly maxLogAge?: Duration
  /** That of the worker which is given these handlers, 0 to 100 years: a command whose `killGrace` is not below it is refused. Default: not looked at. */
  readonly abortGrace?: Duration
}

const KNOWN = new Set(['logFolder', 'maxLogBytes', 'maxFolderBytes', 'maxLogAge', 'abortGrace'])
const LOG_BYTES_MIN = 4 * 2 ** 10
const LOG_BYTES_MAX = 2 ** 40
const LOG_BYTES = 64 * 2 ** 20
const FOLDER_BYTES = 2 ** 30
const AGE_MS = 7 * 86_400_000
const AGE_MIN_MS = 60_000

/**
 * Returns a handler for each command, under the name of its job.
 *
 * Where a log folder is given, commands that a killed worker of it has left running are ended now.
 *
 * @example
 * ```ts
 * engine.work(execHandlers({ thumbnail: { file: '/opt/app/thumbnail', args: ['--', '{{path}}'] } }), { concurrency: 2 })
 * ```
 * @throws OptionTypeError, OptionRangeError for whatever would not work later
 * @throws UnsupportedRuntimeError on Windows
 */
export function execHandlers(commands: Readonly<Record<string, CommandSpec>>, options: ExecOptions = {}): InlineHandler[] {
  if (process.platform === 'win32') {
    throw new UnsupportedRuntimeError('commands need process groups, which Windows does not have: run this worker on Linux or macOS')
  }
  if (typeof commands !== 'object' || commands === null || Array.isArray(commands)) {
    throw new OptionTypeError('commands', `commands must be an object of commands by the names of their jobs, got ${describe(commands)}`)
  }
  checkKnown('execHandlers', options, KNOWN)
  const { abortGrace } = options
  const abortGraceMs = abortGrace === undefined ? Number.POSITIVE_INFINITY : durationOption('abortGrace', abortGrace)
  const allowed = Object.entries(commands).map(([name, spec]) => {
    const option = `commands['${name}']`
    const command = commandOption(option, name, spec)
    checkGraces(option, command, abortGraceMs)
    return { command, definition: defineJob({ name, ...runOptionsOf(spec) }) }
  })
  const folder = folderOf(options)
  return allowed.map(({ command, definition }) => definition.handler((context) => runCommand(command, context, folder)))
}

function runOptionsOf(spec: CommandSpec): Pick<CommandSpec, RunOption> {
  return Object.fromEntries(RUN_OPTION_NAMES.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]))
}

/** Past its `abortGrace` a worker waits for no run: what the command has said is lost, and the next attempt may meet it. */
function checkGraces(option: string, { killGraceMs }: Command, abortGraceMs: number): void {
  if (killGraceMs < abortGraceMs) return
  const [kill, abort] = [formatDuration(killGraceMs), formatDuration(abortGraceMs)]
  throw new OptionRangeError(
    `${option}.killGrace`,
    abortGraceMs,
    `${option}.killGrace is ${kill}, and has to be below abortGrace of the worker, which is ${abort}: lower killGrace, or raise abortGrace`,
  )
}

function folderOf(options: ExecOptions): LogFolder | undefined {
  const { logFolder, maxLogBytes = LOG_BYTES, maxFolderBytes = FOLDER_BYTES, maxLogAge = AGE_MS } = options
  const bounds = {
    logBytes: integerOption('maxLogBytes', maxLogBytes, LOG_BYTES_MIN, LOG_BYTES_MAX),
    folderBytes: integerOption('maxFolderBytes', maxFolderBytes, LOG_BYTES_MIN, LOG_BYTES_MAX),
    ageMs: durationOption('maxLogAge', maxLogAge, { min: AGE_MIN_MS }),
  }
  return logFolder === undefined ? undefined : new LogFolder(pathOption('logFolder', logFolder), bounds)
}
