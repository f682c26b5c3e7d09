/** The demo as users run it, as a process of its own; and as a call in the process of the test, where no process is the point. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { demo } from '../../apps/demo/src/demo.ts'
import { startHere } from '../app/here.ts'

const MAIN = fileURLToPath(new URL('../../apps/demo/src/main.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Demo {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves with what stderr has said when that matches, or with all of it at the end. */
  said(pattern: RegExp): Promise<string>
}

export function startDemo(args: readonly string[], cwd: string): Demo {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, stdout, stderr }))
  const said = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(stderr) && child.exitCode === null && child.signalCode === null)
      await Promise.race([once(child.stderr, 'data'), ended])
    return stderr
  }
  return { child, ended, said }
}

/** Runs the demo to its end, in this process. */
export function runDemo(args: readonly string[], cwd: string): Promise<Ended> {
  const program = startHere((host) => demo(args, Object.assign(host, { cwd: () => cwd })), {})
  return program.ended.then((ended) => ({ ...ended, stdout: program.stdout }))
}

/** The report without what depends on time. */
export function findings(stdout: string): string {
  const [found = ''] = stdout.split('\nSlowest files:')
  return found
}
