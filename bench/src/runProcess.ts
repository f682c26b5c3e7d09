/** Runs a scenario in a fresh process, and takes its figures. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Figures, Settings } from './measurement.ts'

const TIMEOUT_MS = 10 * 60_000
const PEER_TIMEOUT_MS = 3 * 60_000
/** Of what a failed process said. */
const SAID_LENGTH = 10_000
const REASON_LENGTH = 300

export interface Started {
  /** Before `node`: a tracer. */
  readonly prefix?: readonly string[]
  /** Whether what the process says on stderr is passed on at once. */
  readonly passOn?: boolean
  /** Whose scenario and engine: default this checkout's. */
  readonly root?: string
}

/** This checkout. */
export const ROOT = join(import.meta.dirname, '..', '..')

/** Where a checkout of this repository has its scenarios. */
export function scriptIn(root: string): string {
  return join(root, 'bench', 'src', 'scenario.ts')
}

export async function runProcess(
  scenario: string,
  settings: Partial<Settings>,
  { prefix = [], passOn = false, root = ROOT }: Started = {},
): Promise<Figures> {
  const [command = '', ...args] = [...prefix, process.execPath, scriptIn(root), scenario, JSON.stringify(settings)]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (passOn) process.stderr.write(text)
    if (stderr.length < SAID_LENGTH) stderr += text
  })
  const end = () => void child.kill('SIGTERM')
  process.once('exit', end)
  const timer = setTimeout(end, (scenario === 'peer' ? PEER_TIMEOUT_MS : TIMEOUT_MS) + (settings.seconds ?? 0) * 1_000)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  process.off('exit', end)
  if (code !== 0) throw new Error(`${scenario} ended with ${code ?? signal}: ${reasonIn(stderr)}`)
  // Another system may have its own things to say before.
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Figures
}

/** The line that names the error, of what Node prints at an uncaught one. */
function reasonIn(stderr: string): string {
  return /^\w*[Ee]rror(?: \[\w+\])?: .*$/m.exec(stderr)?.[0] ?? stderr.trim().slice(0, REASON_LENGTH)
}
