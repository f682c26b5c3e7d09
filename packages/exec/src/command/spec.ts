/** The configuration of one command of a worker. */
import type { Duration, FileUrl, RunOptions } from '@millrace/core'
import type { ProcessLimits } from '../process/launch.ts'
import type { ArgumentTemplate } from './template.ts'

/** The environment of a command: only the variables that it names. */
export interface EnvironmentOptions {
  /** Names of variables to inherit from the worker's own environment if they are set there; default `['PATH']`. */
  readonly inherit?: readonly string[]
  /** Fixed values, which take precedence over inherited ones. Default none. */
  readonly set?: Readonly<Record<string, string>>
}

/** `queue`, `priority`, `weight`, `tokens`, `maxAttempts`, `maxLost`, `maxAge`, `backoff`, `timeout`, `heartbeatTimeout` and `keep` are as in a job's definition. */
export interface CommandSpec extends RunOptions {
  /** An absolute path or a `file:` URL; with `shell`, the source of a script. */
  readonly file: string | FileUrl
  /** `'{{field}}'` stands for a field of the job's data: a string, a number or a boolean. Default none. */
  readonly args?: readonly ArgumentTemplate[]
  /** The content of stdin: the job's data (bytes as they are, all else as JSON), or nothing. Default `'none'`. */
  readonly stdin?: 'data' | 'none'
  /** Passes fields of the data in `JOB_DATA_<KEY>`; default true, or false if stdin has the data. */
  readonly variables?: boolean
  readonly env?: EnvironmentOptions
  /** The working directory, an absolute path or a `file:` URL; default `/`. */
  readonly cwd?: string | FileUrl
  /** Runs `file` as a script of `/bin/sh -c`. Data is in variables and in `$1`, `$2` ... (from `args`), never in the script. */
  readonly shell?: boolean
  /** The ids of the user and the group that it runs as. Only root can choose them. Default the worker's. */
  readonly uid?: number
  readonly gid?: number
  /** The file mask in octal digits; default `'077'`. */
  readonly umask?: string
  /** The maximum size of the output as stored JSON: 32 KiB to 16 MiB, default 1 MiB, which an engine accepts by default. */
  readonly maxOutputBytes?: number
  /** Limits for each process of the command, except that `processes` counts those of its user. Requires `prlimit`. */
  readonly limits?: ProcessLimits
  /** Exit codes that mean success; default `[0]`. */
  readonly successCodes?: readonly number[]
  /** Exit codes that are retried; others fail the job at once. Default: all but `successCodes`. */
  readonly retryCodes?: readonly number[]
  /** Exit codes that fail the job at once; in place of `retryCodes`. */
  readonly noRetryCodes?: readonly number[]
  /** The time between SIGTERM and SIGKILL: at most 10 minutes, default 10 s. Keep it some seconds below the worker's `abortGrace`. */
  readonly killGrace?: Duration
}
