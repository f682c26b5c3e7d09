/** Programs of the app that run in the process of the test: a call of their function, with streams and signals of their own. */
import { EventEmitter, once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { EndSignal, Host } from '../../apps/millrace/src/host.ts'

// Colours are for terminals: what the shell of the tests asks for is not for these programs, which read it from this process.
for (const name of ['NO_COLOR', 'FORCE_COLOR']) delete process.env[name]

/** A program that runs, in a process of its own or in this one: its output, and how it ends. */
export interface Spoken {
  /** Every whole line so far. */
  readonly lines: readonly string[]
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stderr: string }>
  /** Resolves with the first line that matches, said already or to come; rejects if the program ends without. */
  said(pattern: RegExp): Promise<string>
  /** Resolves when it has said so many lines. */
  saidLines(count: number): Promise<void>
}

export interface Here extends Spoken {
  readonly stdin: Writable
  /** Everything on stdout so far. */
  readonly stdout: string
  /** Everything on stderr so far. */
  readonly stderr: string
  /** Sends a signal to the program, and to no other of this process. */
  signal(name: EndSignal): void
  /** Resolves when stderr matches. */
  noted(pattern: RegExp): Promise<void>
}

/** Starts a program. One that still runs at the end of the test is told to stop, and the test waits for it. */
export function startHere(program: (host: Host) => Promise<number>, env: Readonly<Record<string, string>>): Here {
  const heard = new EventEmitter()
  const said = new EventEmitter()
  const stdin = new PassThrough()
  const text = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof text) =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        text[name] += chunk.toString()
        said.emit('more')
        done()
      },
    })
  const host = {
    ...{ env, stdin, stdout: stream('stdout'), stderr: stream('stderr') },
    on: heard.on.bind(heard),
    off: heard.off.bind(heard),
    exit: () => {
      throw new Error('a program that ends its process at once needs a process of its own')
    },
  } as unknown as Host
  let over = false
  const ended = program(host).then((code) => {
    over = true
    said.emit('more')
    return { code, signal: null, stderr: text.stderr }
  })
  const lines = () => text.stdout.split('\n').slice(0, -1)
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      if (over) throw new Error(`the program has ended without it. It said: ${text.stdout.slice(-2_000)}; ${text.stderr}`)
      await Promise.race([once(said, 'more'), ended])
    }
  }
  const signal = (name: EndSignal) => void heard.emit(name, name)
  onTestFinished(async () => {
    if (!over) signal('SIGTERM')
    await ended.catch(() => {})
  })
  return {
    stdin,
    signal,
    ended,
    get stdout() {
      return text.stdout
    },
    get stderr() {
      return text.stderr
    },
    get lines() {
      return lines()
    },
    said: (pattern) => until(() => lines().find((line) => pattern.test(line))),
    saidLines: (count) => until(() => (lines().length >= count ? true : undefined)).then(() => {}),
    noted: (pattern) => until(() => (pattern.test(text.stderr) ? true : undefined)).then(() => {}),
  }
}
