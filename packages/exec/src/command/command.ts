/** A command of the configuration, checked, with its defaults: nothing of it is found out to be wrong by a job. */
import { spawnSync } from 'node:child_process'
import {
  booleanOption,
  checkKnown,
  choiceOption,
  describe,
  durationOption,
  integerOption,
  OptionTypeError,
  RUN_OPTION_NAMES,
} from '@millrace/core'
import { findTool, type Launch, type ProcessLimits, preparationOf, SHELL } from '../process/launch.ts'
import { environmentOption } from './environment.ts'
import { fileOption, folderOption, scriptOption } from './file.ts'
import type { CommandSpec } from './spec.ts'
import { parseTemplate, type Template } from './template.ts'

export interface Command {
  readonly name: string
  readonly template: Template
  readonly stdin: 'data' | 'none'
  readonly variables: boolean
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly uid: number | undefined
  readonly gid: number | undefined
  readonly maxOutputBytes: number
  readonly killGraceMs: number
  isSuccess(exitCode: number): boolean
  /** Returns true if another attempt may end differently. */
  isRetried(exitCode: number): boolean
  /** How it is started with these arguments. */
  launch(args: readonly string[]): Launch
}

const KNOWN = new Set<string>([
  ...['file', 'args', 'stdin', 'variables', 'env', 'cwd', 'shell', 'uid', 'gid', 'umask', 'maxOutputBytes', 'limits'],
  ...['successCodes', 'retryCodes', 'noRetryCodes', 'killGrace'],
  ...RUN_OPTION_NAMES,
])
const LIMITS_KNOWN = new Set(['cpuSeconds', 'memoryBytes', 'files', 'processes'])
const KIB = 1_024
const MIB = KIB * KIB
/** Enough for the longest path of a log, and some text. */
const OUTPUT_BYTES_MIN = 32 * KIB
const OUTPUT_BYTES_MAX = 16 * MIB
const ID_MAX = 2 ** 32 - 2
const KILL_GRACE_MS = 10_000
const KILL_GRACE_MAX_MS = 600_000

/** @throws OptionTypeError, OptionRangeError */
export function commandOption(option: string, name: string, spec: CommandSpec): Command {
  checkKnown(option, spec, KNOWN)
  const shell = spec.shell === undefined ? false : booleanOption(`${option}.shell`, spec.shell)
  const stdin = spec.stdin === undefined ? 'none' : choiceOption(`${option}.stdin`, spec.stdin, ['data', 'none'])
  const file = shell ? scriptOption(`${option}.file`, spec.file) : fileOption(`${option}.file`, spec.file)
  const umask = umaskOption(`${option}.umask`, spec.umask ?? '077')
  const limits = spec.limits === undefined ? undefined : limitsOption(`${option}.limits`, spec.limits)
  const prepared = preparationOf(umask, limits, limits && prlimitFor(`${option}.limits`))
  const command: Command = {
    name,
    template: parseTemplate(`${option}.args`, spec.args ?? []),
    stdin,
    variables: spec.variables === undefined ? stdin === 'none' : booleanOption(`${option}.variables`, spec.variables),
    env: environmentOption(`${option}.env`, spec.env ?? {}, process.env),
    cwd: folderOption(`${option}.cwd`, spec.cwd ?? '/'),
    uid: identityOption(`${option}.uid`, spec.uid, process.getuid?.()),
    gid: identityOption(`${option}.gid`, spec.gid, process.getgid?.()),
    maxOutputBytes: integerOption(`${option}.maxOutputBytes`, spec.maxOutputBytes ?? MIB, OUTPUT_BYTES_MIN, OUTPUT_BYTES_MAX),
    killGraceMs: durationOption(`${option}.killGrace`, spec.killGrace ?? KILL_GRACE_MS, { max: KILL_GRACE_MAX_MS }),
    ...codesOf(option, spec),
    launch: (args) =>
      // What follows the text of a script is `$0`, and then its arguments.
      prepared(shell ? { file: SHELL, args: ['-c', file, name, ...args] } : { file, args }),
  }
  if (limits !== undefined || spec.uid !== undefined || spec.gid !== undefined)
    tryOut(option, command, prepared({ file: SHELL, args: ['-c', ':'] }), limits !== undefined)
  return command
}

function codesOf(option: string, spec: CommandSpec): Pick<Command, 'isSuccess' | 'isRetried'> {
  const success = codesOption(`${option}.successCodes`, spec.successCodes ?? [0])
  if (spec.retryCodes !== undefined && spec.noRetryCodes !== undefined) {
    throw new OptionTypeError(
      `${option}.noRetryCodes`,
      `${option} has retryCodes, so that all others fail at once, and noRetryCodes, so that all others are tried again: leave one out`,
    )
  }
  const retried = spec.retryCodes === undefined ? undefined : codesOption(`${option}.retryCodes`, spec.retryCodes)
  const hopeless = codesOption(`${option}.noRetryCodes`, spec.noRetryCodes ?? [])
  return {
    isSuccess: (exitCode) => success.has(exitCode),
    isRetried: (exitCode) => (retried === undefined ? !hopeless.has(exitCode) : retried.has(exitCode)),
  }
}

function codesOption(option: string, value: unknown): ReadonlySet<number> {
  if (!Array.isArray(value)) throw new OptionTypeError(option, `${option} must be an array of exit codes, got ${describe(value)}`)
  return new Set(value.map((code, index) => integerOption(`${option}[${index}]`, code, 0, 255)))
}

function umaskOption(option: string, value: unknown): string {
  if (typeof value === 'string' && /^[0-7]{3,4}$/.test(value)) return value
  throw new OptionTypeError(option, `${option} must be three or four octal digits in a string, such as '077', got ${describe(value)}`)
}

function identityOption(option: string, value: unknown, own: number | undefined): number | undefined {
  if (value === undefined) return undefined
  const id = integerOption(option, value, 0, ID_MAX)
  if (id === own || process.getuid?.() === 0) return id
  throw new OptionTypeError(option, `${option} is ${id}, and this worker runs as ${own}: only root can start a command as another user`)
}

function limitsOption(option: string, value: unknown): ProcessLimits {
  checkKnown(option, value, LIMITS_KNOWN)
  const set = Object.entries(value).filter(([, limit]) => limit !== undefined)
  return Object.fromEntries(set.map(([name, limit]) => [name, integerOption(`${option}.${name}`, limit, 1, Number.MAX_SAFE_INTEGER)]))
}

function prlimitFor(option: string): string {
  const prlimit = findTool('prlimit')
  if (prlimit !== undefined) return prlimit
  throw new OptionTypeError(
    option,
    `${option} needs prlimit (of util-linux), which is not in this system's folders: install it, or leave the limits out`,
  )
}

/** A limit above the system's own, or a user who may not enter the folder, is found out now, with a program that does nothing. */
function tryOut(option: string, { cwd, env, uid, gid }: Command, { file, args }: Launch, isLimited: boolean): void {
  const { status, signal, stderr, error } = spawnSync(file, args, {
    cwd,
    env: { ...env },
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
    encoding: 'utf8',
  })
  if (status === 0) return
  const reason = error?.message ?? (stderr.trim() || `it has ended with ${signal ?? status}`)
  const what = [isLimited && 'limits', uid !== undefined && 'uid', gid !== undefined && 'gid', 'cwd'].filter(Boolean).join(', ')
  throw new OptionTypeError(option, `${option} cannot be started as it is configured (${what}): ${reason.slice(0, 500)}`)
}
