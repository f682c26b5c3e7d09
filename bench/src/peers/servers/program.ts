/** Finds programs, asks them for their version, starts and ends them. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'

const READY_MS = 20_000
const ASK_EVERY_MS = 20
const PATIENCE_MS = 3_000
const SAID_LENGTH = 2_000

/** Its path; undefined where it is not on PATH. */
export function findProgram(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** The first number with dots in what it says of itself. */
export function versionOf(program: string, flag: string): string {
  const { stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8' })
  return /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown'
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('the system gave no port')
  return address.port
}

/** Starts a server, and waits until it takes connections, and has said what says that it is `ready`. */
export async function startProgram(
  program: string,
  args: readonly string[],
  port: number,
  { ready = /(?:)/, ...options }: SpawnOptions & { readonly ready?: RegExp } = {},
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID_LENGTH)
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const deadlineMs = performance.now() + READY_MS
  while (!(ready.test(said) && (await listens(port)))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said.trim()}`)
    if (performance.now() > deadlineMs) throw new Error(`${program} did not listen within ${READY_MS} ms: ${said.trim()}`)
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
  return child
}

/** Asks it to end, and to hurry where it does not. */
export async function endProgram(child: ChildProcess, then: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill(then), PATIENCE_MS)
  await ended
  clearTimeout(timer)
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
