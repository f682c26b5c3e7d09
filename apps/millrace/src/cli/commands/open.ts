/** `millrace open`: opens the dashboard of the daemon that serves here. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import type { Command } from 'commander'
import type { Config } from '../../config/schema/schema.ts'
import { SETTINGS_HELP, settingFlags, settingsOf } from '../configured.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'

/** The programs that open an address in the user's browser. Each takes it as its last argument. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...given: string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
const PATIENCE_MS = 5_000

export function addOpen(program: Command, { env, out }: Context): void {
  settingFlags(
    program
      .command('open')
      .description('Open the dashboard of the running daemon in a browser; without a display, print its address')
      .option('--print', 'only print the address')
      .addHelpText('after', SETTINGS_HELP),
  ).action(async ({ print = false }: { readonly print?: boolean }, command: Command) => {
    const [{ flagsOf }, { loadConfig }] = await Promise.all([import('../../config/flags.ts'), import('../../config/load.ts')])
    const { config } = await loadConfig({ ...flagsOf(settingsOf(command)), env, cwd: process.cwd() })
    const url = addressOf(config)
    await assertServed(config.http, url)
    await out.answer({ url }, () => url)
    if (!print && hasBrowser(env)) show(url, env)
  })
}

function addressOf({ http: { enabled, host, port, dashboard }, tls }: Config): string {
  if (!enabled || !dashboard.enabled) throw new UsageError('the dashboard is off: set http.enabled and http.dashboard.enabled to true')
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls.key === undefined ? 'http' : 'https'}://${name}:${port}/`
}

/** @throws ConnectFailedError if nothing listens there */
async function assertServed({ host, port }: Config['http'], url: string): Promise<void> {
  const { ConnectFailedError } = await import('@millrace/remote')
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, timeout: PATIENCE_MS })
    const fail = () => {
      socket.destroy()
      reject(
        new ConnectFailedError(`nothing answers at ${url}: start the daemon with millrace serve, or name its --http-port and --http-host`),
      )
    }
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', fail)
    socket.once('timeout', fail)
  })
}

/** Returns false where a browser would open on another machine, or nowhere. */
function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  const isSet = (name: string) => (env[name] ?? '') !== ''
  const hasDisplay = process.platform in OPENERS || isSet('DISPLAY') || isSet('WAYLAND_DISPLAY')
  return hasDisplay && !isSet('SSH_CONNECTION') && !isSet('SSH_TTY')
}

/** The address is printed already: a program that is missing is no failure. */
function show(url: string, env: NodeJS.ProcessEnv): void {
  const [command, ...given] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...given, url], { stdio: 'ignore', detached: true, env })
  child.on('error', () => {})
  child.unref()
}
