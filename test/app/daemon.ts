/** A daemon in a process of its own, in a folder of its own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Engine } from '@millrace/remote'
import { onTestFinished } from 'vitest'
import { type Program, startProgram } from '../program.ts'

const PROGRAM = new URL('../../apps/millrace/src/serve/program.ts', import.meta.url)
export const HANDLERS = new URL('./programs/daemonHandlers.ts', import.meta.url).pathname

export interface DaemonOptions {
  readonly flags?: Readonly<Record<string, string | number>>
  readonly env?: Readonly<Record<string, string>>
}

export interface Daemon extends Program {
  /** What it has logged as `serving`. */
  readonly serving: Promise<{ readonly url: string; readonly sockets: readonly string[] } & Readonly<Record<string, unknown>>>
}

/** At a port that the system chooses, unless a flag says otherwise. */
export function startDaemon(folder: string, { flags = {}, env = {} }: DaemonOptions = {}): Daemon {
  const given = Object.entries({ 'http-port': 0, ...flags }).map(([name, value]) => `--${name}=${value}`)
  const program = startProgram(PROGRAM, given, ['env', '-C', folder, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)])
  const serving = program.said(/"msg":"serving"/).then((line) => JSON.parse(line))
  // Of a daemon that is to fail.
  serving.catch(() => {})
  return Object.assign(program, { serving })
}

/** The token that the first run has left. */
export function tokenIn(folder: string): string {
  return readFileSync(join(folder, 'millrace.db-token'), 'utf8').trim()
}

/** An engine that is attached to the daemon by its socket. */
export async function attached(daemon: Daemon, folder: string, token?: string): Promise<Engine> {
  const { sockets } = await daemon.serving
  const engine = await connect(sockets[0] as string, { token: token ?? tokenIn(folder), connectTimeout: '30s' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}
