/** A daemon in a folder of its own: in a process of its own, or in that of the test. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Engine } from '@millrace/remote'
import { onTestFinished } from 'vitest'
import { flagsOf } from '../../apps/millrace/src/config/flags.ts'
import { onSignal } from '../../apps/millrace/src/host.ts'
import { runDaemon } from '../../apps/millrace/src/serve/run.ts'
import { type Program, startProgram } from '../program.ts'
import { type Here, startHere } from './here.ts'

const MAIN = new URL('../../apps/millrace/dist/main.js', import.meta.url)
export const HANDLERS = new URL('./programs/daemonHandlers.ts', import.meta.url).pathname

export interface DaemonOptions {
  readonly flags?: Readonly<Record<string, string | number>>
  readonly env?: Readonly<Record<string, string>>
}

interface Serving {
  /** What it has logged as `serving`. */
  readonly serving: Promise<{ readonly url: string; readonly sockets: readonly string[] } & Readonly<Record<string, unknown>>>
}

export type Daemon = Program & Serving
export type DaemonHere = Here & Serving

/** Starts a daemon as a process, at a port that the system chooses unless a flag says otherwise. */
export function startDaemon(folder: string, { flags = {}, env = {} }: DaemonOptions = {}): Daemon {
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return heard(startProgram(MAIN, ['serve', ...argumentsOf(flags)], ['env', '-C', folder, ...given]))
}

/** Starts a daemon in this process. Where a test leaves it running, its jobs are aborted. */
export function startDaemonHere(folder: string, { flags = {}, env = {} }: DaemonOptions = {}): DaemonHere {
  const read = flagsOf(argumentsOf({ 'shutdown-timeout': 0, ...flags }))
  return heard(
    startHere((host) => runDaemon({ ...read, cwd: folder }, host, (heard) => onSignal(host, heard)), {
      ...(process.env as Record<string, string>),
      ...env,
    }),
  )
}

const argumentsOf = (flags: Required<DaemonOptions>['flags']): string[] =>
  Object.entries({ 'http-port': 0, ...flags }).map(([name, value]) => `--${name}=${value}`)

function heard<Started extends Program | Here>(program: Started): Started & Serving {
  const serving = program.said(/"msg":"serving"/).then((line) => JSON.parse(line))
  // Of a daemon that is to fail.
  serving.catch(() => {})
  // A copy would have the text of its beginning.
  return Object.defineProperty(program, 'serving', { value: serving }) as Started & Serving
}

/** The token that the first run has left. */
export function tokenIn(folder: string): string {
  return readFileSync(join(folder, 'millrace.db-token'), 'utf8').trim()
}

/** An engine that is attached to the daemon by its socket. */
export async function attached(daemon: Serving, folder: string, token?: string): Promise<Engine> {
  const { sockets } = await daemon.serving
  const engine = await connect(sockets[0] as string, { token: token ?? tokenIn(folder), connectTimeout: '30s' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}
