/** Starts a worker as a process of its own, which outlives the terminal that it was started from. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ErrorCategory } from '@millrace/core'
import { FailedError } from '../errors.ts'

export interface DetachOptions {
  /** The arguments of `millrace`, without --detach. */
  readonly args: readonly string[]
  /** The log file, to which the output of the worker is appended. */
  readonly log: string
  readonly env: NodeJS.ProcessEnv
  /** Ends the worker if it aborts before the worker is ready. */
  readonly signal: AbortSignal
}

/** The message of a worker that its parent waits for. */
export type StartMessage = { readonly ready: string } | { readonly failed: Failure }

/** An error of the worker, with what decides the exit code. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly category: ErrorCategory
  readonly option?: string
}

const TAIL_LENGTH = 2_000

/**
 * Starts the worker, and resolves to its process id when it is ready.
 *
 * @throws the error of the worker, with its code; FailedError if the worker has ended without one
 */
export async function startDetached({ args, log, env, signal }: DetachOptions): Promise<number> {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 })
  const output = openSync(log, 'a', 0o600)
  const main = process.argv[1] as string
  // The process is detached, so that no terminal hangs it up.
  const child = spawn(process.execPath, [...process.execArgv, main, ...args], {
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
    env,
  })
  closeSync(output)
  const end = () => child.kill()
  signal.addEventListener('abort', end, { once: true })
  const ended = once(child, 'exit').then(() => undefined)
  const started: StartMessage | undefined = await Promise.race([once(child, 'message').then(([message]) => message as StartMessage), ended])
  signal.removeEventListener('abort', end)
  if (child.connected) child.disconnect()
  child.unref()
  if (started === undefined) throw new FailedError(`the worker ended at its start: ${tailOf(log)}`)
  if ('ready' in started) return child.pid as number
  const { message, ...details } = started.failed
  throw Object.assign(new Error(`the worker ended at its start: ${message}`), details)
}

function tailOf(log: string): string {
  const text = readFileSync(log, 'utf8').slice(-TAIL_LENGTH).trim()
  return text === '' ? `it has printed nothing to ${log}` : (text.split('\n').at(-1) as string)
}
