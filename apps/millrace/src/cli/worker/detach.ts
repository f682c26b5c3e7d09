/** Starts a worker as a process of its own, which outlives the terminal that it was started from. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { FailedError } from '../errors.ts'

export interface DetachOptions {
  /** The arguments of `millrace`, without --detach. */
  readonly args: readonly string[]
  /** The log file, to which the output of the worker is appended. */
  readonly log: string
  readonly env: NodeJS.ProcessEnv
}

const TAIL_LENGTH = 2_000

/** Starts the worker, and resolves to its process id when it is ready. */
export async function startDetached({ args, log, env }: DetachOptions): Promise<number> {
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
  const ended = once(child, 'exit')
  const first = await Promise.race([once(child, 'message').then(() => 'ready' as const), ended])
  if (first !== 'ready') throw new FailedError(`the worker ended at its start: ${tailOf(log)}`)
  if (child.connected) child.disconnect()
  child.unref()
  return child.pid as number
}

function tailOf(log: string): string {
  const text = readFileSync(log, 'utf8').slice(-TAIL_LENGTH).trim()
  return text === '' ? `it has printed nothing to ${log}` : (text.split('\n').at(-1) as string)
}
