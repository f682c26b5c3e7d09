/** A program of its own in a child process, that tells what it does line by line; ended with the test. */
import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'

export interface Program {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Every whole line so far. */
  readonly lines: readonly string[]
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stderr: string }>
  /** Resolves with the first line that matches, said already or to come; rejects where the program ends without. */
  said(pattern: RegExp): Promise<string>
  /** Resolves when it has said so many lines. */
  saidLines(count: number): Promise<void>
  signal(name: NodeJS.Signals): void
  /** kill -9, and it is gone. */
  kill(): Promise<void>
}

/** Takes what ends a program. Default: the end of the test does. */
export type AtEnd = (end: () => void) => void

/** @param within a command that runs the program, as `['nice']` */
export function startProgram(url: URL, args: readonly string[], within: readonly string[] = [], atEnd: AtEnd = onTestFinished): Program {
  return startCommand([...within, process.execPath, url.pathname, ...args], {}, atEnd)
}

/** A command that is no file of Node's, such as `npm start`. */
export function startCommand(
  [file, ...argv]: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'detached'> = {},
  atEnd: AtEnd = onTestFinished,
): Program {
  const child = spawn(file as string, argv, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  atEnd(() => {
    child.kill('SIGKILL')
  })
  const lines: string[] = []
  let rest = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() as string
    lines.push(...parts)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  let over = false
  const ended = once(child, 'close').then(([code, signal]) => {
    over = true
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, stderr }
  })
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (over) throw new Error(`the program has ended without it. It said: ${lines.slice(-20).join(' | ')}; ${stderr}`)
      await Promise.race([once(child.stdout, 'data'), ended])
    }
  }
  return {
    child,
    lines,
    ended,
    said: (pattern) => until(() => lines.find((line) => pattern.test(line))),
    saidLines: (count) => until(() => (lines.length >= count ? true : undefined)).then(() => {}),
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Sends a second signal: again and again until the program ends, because those that follow the first within 500 ms do not count. */
export async function insist(
  { signal, ended }: { readonly ended: Promise<unknown>; signal(name: NodeJS.Signals): unknown },
  name: NodeJS.Signals,
): Promise<void> {
  const again = setInterval(() => signal(name), 50)
  await ended.finally(() => clearInterval(again))
}
