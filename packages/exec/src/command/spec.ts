/** What a worker's configuration says of one command. */
import type { Duration, RunOptions } from '@millrace/core'
import type { ProcessLimits } from '../process/launch.ts'
import type { ArgumentTemplate } from './template.ts'

export interface EnvironmentOptions {
  /** Names that are taken over from the worker's own environment, where they are set there; default `['PATH']`. */
  readonly inherit?: readonly string[]
  /** Fixed values; they come before inherited ones. Default none. */
  readonly set?: Readonly<Record<string, string>>
}

/** `queue`, `priority`, `weight`, `maxAttempts`, `maxAge`, `backoff`, `timeout` and `heartbeatTimeout` are those of the job's definition. */
export interface CommandSpec extends RunOptions {
  /** An absolute path; with `shell`, the text of a script. */
  readonly file: string
  /** `'{{field}}'` stands for a field of the job's data: a string, a number or a boolean. Default none. */
  readonly args?: readonly ArgumentTemplate[]
  /** What the command reads from stdin: the job's data, bytes as they are and all else as JSON, or nothing. Default `'none'`. */
  readonly stdin?: 'data' | 'none'
  /** Whether fields of the data are told in `JOB_DATA_<KEY>`; default true, and false where stdin has them. */
  readonly variables?: boolean
  readonly env?: EnvironmentOptions
  /** An absolute path; default `/`. */
  readonly cwd?: string
  /** Runs `file` as a script of `/bin/sh -c`. Data is in variables and in `$1`, `$2` ... (from `args`), and never in the text. */
  readonly shell?: boolean
  /** Numbers of the user and the group that it runs as; only root can choose. Default the worker's. */
  readonly uid?: number
  readonly gid?: number
  /** Octal digits; default `'077'`. */
  readonly umask?: string
  /** Of the output as it is stored, as JSON: 32 KiB to 16 MiB, default 1 MiB, which is what an engine takes by default. */
  readonly maxOutputBytes?: number
  /** Of each process of the command, but for `processes`, which counts those of its user. Needs `prlimit`. */
  readonly limits?: ProcessLimits
  /** Default `[0]`. */
  readonly successCodes?: readonly number[]
  /** Other exit codes fail the job at once. Default: each but `successCodes` is tried again. */
  readonly retryCodes?: readonly number[]
  /** Exit codes that fail the job at once; in place of `retryCodes`. */
  readonly noRetryCodes?: readonly number[]
  /** Between SIGTERM and SIGKILL; at most 10 minutes, default 10 s. Keep it some seconds below the worker's `abortGrace`. */
  readonly killGrace?: Duration
}
