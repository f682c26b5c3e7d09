/** The command line, as a call in the process of the test or as a process of its own: what it is given, what it says, and how it ends. */
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { onTestFinished } from 'vitest'
import { run } from '../../apps/millrace/src/cli/run.ts'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Here, startHere } from './here.ts'

const MAIN = new URL('../../apps/millrace/dist/main.js', import.meta.url)
export const HANDLERS = fileURLToPath(new URL('./programs/handlers.ts', import.meta.url))

/** Variables of the shell of the tests that would say otherwise. */
const OTHERS = ['MILLRACE_FILE', 'MILLRACE_URL', 'MILLRACE_TOKEN', 'NO_COLOR', 'FORCE_COLOR', 'CI']

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** Of `--json`: its one object. */
  readonly json: Record<string, unknown>
  /** Of `--json`: a line each. */
  readonly items: Record<string, unknown>[]
}

/** A place of its own: a folder, a file in it, and nothing of the environment that would say otherwise. */
export class Place {
  readonly folder = temporaryFolder()
  readonly file = join(this.folder, 'jobs.db')
  /** Instead of the file. */
  url: string | undefined
  readonly env: Record<string, string> = {}

  /** Starts `millrace` with these arguments as a process. */
  start(...args: readonly string[]): Program {
    return this.#startProgram(MAIN, args)
  }

  /** Starts a script that is told how to start it. */
  startScript(script: string, ...args: readonly string[]): Program {
    return this.#startProgram(pathToFileURL(script), [fileURLToPath(MAIN), ...args])
  }

  #startProgram(url: URL, args: readonly string[]): Program {
    const own = Object.entries(this.#given()).map(([name, value]) => `${name}=${value}`)
    return startProgram(url, args, ['env', ...OTHERS.flatMap((name) => ['-u', name]), ...own])
  }

  #given(): Record<string, string> {
    const target = this.url === undefined ? { MILLRACE_FILE: this.file } : { MILLRACE_URL: this.url }
    return { ...target, MILLRACE_STATE_DIR: join(this.folder, 'state'), ...this.env }
  }

  /** Starts `millrace` with these arguments in this process. */
  startHere(...args: readonly string[]): Here {
    const clean = Object.entries(process.env as Record<string, string>).filter(([name]) => !OTHERS.includes(name))
    return startHere((host) => run(args, host), { ...Object.fromEntries(clean), ...this.#given() })
  }

  /** Runs it to its end, in this process. */
  run(...args: readonly string[]): Promise<Ended> {
    return this.feed('', ...args)
  }

  /** With something on its stdin. */
  async feed(input: string | AsyncIterable<string>, ...args: readonly string[]): Promise<Ended> {
    // It would start this process again.
    if (args.includes('--detach')) return this.runProcess(...args)
    const program = this.startHere(...args)
    await pour(input, program.stdin)
    return this.#ended(program)
  }

  /** Runs it to its end, in a process of its own. */
  async runProcess(...args: readonly string[]): Promise<Ended> {
    const program = this.start(...args)
    program.child.stdin.on('error', () => {})
    await pour('', program.child.stdin)
    return this.#ended(program)
  }

  async #ended(program: Here | Program): Promise<Ended> {
    const { code, signal, stderr } = await program.ended
    const stdout = 'stdout' in program ? program.stdout : program.lines.map((line) => `${line}\n`).join('')
    return {
      code,
      signal,
      stdout,
      stderr,
      get json() {
        return JSON.parse(stdout) as Record<string, unknown>
      },
      get items() {
        return program.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      },
    }
  }

  /** What it says on stdout; it has to end well. */
  async ok(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args)
    if (code !== 0) throw new Error(`millrace ${args.join(' ')} has ended with ${code}: ${stderr}`)
    return stdout
  }

  async okJson(...args: readonly string[]): Promise<Record<string, unknown>> {
    const answer = JSON.parse(await this.ok(...args, '--json')) as Record<string, unknown>
    const wrong = timesIn(answer)
    if (wrong.length > 0) throw new Error(`millrace ${args.join(' ')} --json has times that are no ISO strings: ${wrong.join(', ')}`)
    return answer
  }

  /** An engine of the file that listens at a socket, to which all later calls go. Each token may have its scope, as `secret:read`. */
  async serve(...tokens: readonly string[]): Promise<void> {
    const engine = await openEngine({ file: this.file, durability: 'normal', share: true })
    onTestFinished(() => engine.stop({ timeout: 0 }))
    const token = tokens.map((text) => {
      const [value, scope] = text.split(':') as [string, string | undefined]
      return { token: value, ...(scope !== undefined && { scopes: [scope as 'read'] }) }
    })
    const server = await listen(engine, this.#socket, token.length === 0 ? {} : { token })
    onTestFinished(() => server.close())
    this.url = this.#socket
  }

  /** The same in a process of its own, which may be killed. */
  async serveProcess(...tokens: readonly string[]): Promise<Program> {
    const server = startProgram(new URL('./programs/server.ts', import.meta.url), [this.file, this.#socket, ...tokens])
    await server.said(/^listening/)
    this.url = this.#socket
    return server
  }

  get #socket(): string {
    return `unix:${join(this.folder, 's')}`
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** Resolves when there is a file of that name. */
  async made(name: string): Promise<void> {
    const path = this.path(name)
    if (existsSync(path)) return
    const watcher = watch(dirname(path))
    while (!existsSync(path)) await once(watcher, 'change')
    watcher.close()
  }
}

/** Fields with what users have given, whose names are theirs. */
const GIVEN: ReadonlySet<string> = new Set(['data', 'output', 'checkpoint', 'meta', 'fields', 'preview'])

/** The names of fields that are times and numbers. */
function timesIn(value: unknown, name = ''): readonly string[] {
  if (GIVEN.has(name)) return []
  if (typeof value === 'number') return /[a-z]At$/.test(name) || (value > 1e12 && value < 3e12) ? [`${name}: ${value}`] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, field]) => timesIn(field, Array.isArray(value) ? name : key))
}

async function pour(input: string | AsyncIterable<string>, stdin: Writable): Promise<void> {
  if (typeof input !== 'string') for await (const piece of input) if (!stdin.write(piece)) await once(stdin, 'drain')
  stdin.end(typeof input === 'string' ? input : undefined)
}
