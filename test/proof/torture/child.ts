/**
 * A program in a process of its own, outside of any test runner: what it says arrives line by line. `../program.ts` is the same for
 * tests; this one is for the long form as well, and ends with the block that uses it.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

export interface ChildOptions {
  /** A command that runs the program, as `['nice']`. */
  readonly within?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** For Node itself. */
  readonly nodeOptions?: readonly string[]
}

/** None outlives this process, however it ends. */
const living = new Set<ChildProcessByStdio<Writable, Readable, Readable>>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export class Child implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  /** Every whole line so far. */
  readonly lines: string[] = []
  readonly ended: Promise<Ended>
  #over = false
  #stderr = ''

  constructor(url: URL, args: readonly string[], { within = [], env = {}, nodeOptions = [] }: ChildOptions = {}) {
    const [file, ...argv] = [...within, process.execPath, ...nodeOptions, url.pathname, ...args] as [string, ...string[]]
    // Started again and again: what was compiled once is not compiled anew.
    const cache = process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'millrace-compile-cache')
    this.process = spawn(file, argv, { env: { ...process.env, NODE_COMPILE_CACHE: cache, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
    living.add(this.process)
    let rest = ''
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() as string
      this.lines.push(...parts)
    })
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    // Where it is gone already, there is nobody to be told.
    this.process.stdin.on('error', () => {})
    this.ended = once(this.process, 'close').then(([code, signal]) => {
      this.#over = true
      living.delete(this.process)
      return { code: code as number | null, signal: signal as NodeJS.Signals | null, stderr: this.#stderr }
    })
  }

  /** Resolves with the first line from `from` on that matches, said already or to come; rejects where it ends without. */
  async said(pattern: RegExp, from = 0): Promise<string> {
    for (let next = from; ; ) {
      for (; next < this.lines.length; next++) if (pattern.test(this.lines[next] as string)) return this.lines[next] as string
      await this.#more(String(pattern))
    }
  }

  async saidLines(count: number): Promise<void> {
    while (this.lines.length < count) await this.#more(`${count} lines`)
  }

  /** All lines that begin with the word, without it. */
  linesOf(word: string): string[] {
    return this.lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  }

  /** The last line that begins with the word, as JSON. */
  value<T>(word: string): T | undefined {
    const last = this.linesOf(word).at(-1)
    return last === undefined ? undefined : (JSON.parse(last) as T)
  }

  tell(line: string): void {
    this.process.stdin.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal)
  }

  /** kill -9, and it is gone. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }

  async #more(wanted: string): Promise<void> {
    if (this.#over) {
      throw new Error(`the program has ended without ${wanted}. It said: ${this.lines.slice(-10).join(' | ')}; ${this.#stderr}`)
    }
    await Promise.race([once(this.process.stdout, 'data'), this.ended])
  }
}
