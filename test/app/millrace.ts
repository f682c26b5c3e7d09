/** The command line as a process of its own: what it is given, what it says, and how it ends. */
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const MAIN = new URL('../../apps/millrace/dist/main.js', import.meta.url)
export const HANDLERS = fileURLToPath(new URL('./programs/handlers.ts', import.meta.url))

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

  /** Starts `millrace` with these arguments. */
  start(...args: readonly string[]): Program {
    return this.#startProgram(MAIN, args)
  }

  /** Starts a script that is told how to start it. */
  startScript(script: string, ...args: readonly string[]): Program {
    return this.#startProgram(pathToFileURL(script), [fileURLToPath(MAIN), ...args])
  }

  #startProgram(url: URL, args: readonly string[]): Program {
    const target = this.url === undefined ? `MILLRACE_FILE=${this.file}` : `MILLRACE_URL=${this.url}`
    const own = Object.entries(this.env).map(([name, value]) => `${name}=${value}`)
    const clean = ['-u', 'MILLRACE_FILE', '-u', 'MILLRACE_URL', '-u', 'MILLRACE_TOKEN', '-u', 'NO_COLOR', '-u', 'FORCE_COLOR', '-u', 'CI']
    const env = ['env', ...clean, target, `MILLRACE_STATE_DIR=${join(this.folder, 'state')}`, ...own]
    return startProgram(url, args, env)
  }

  /** Runs it to its end. */
  run(...args: readonly string[]): Promise<Ended> {
    return this.feed('', ...args)
  }

  /** With something on its stdin. */
  async feed(input: string | AsyncIterable<string>, ...args: readonly string[]): Promise<Ended> {
    const program = this.start(...args)
    const { child } = program
    child.stdin.on('error', () => {})
    if (typeof input !== 'string') for await (const piece of input) if (!child.stdin.write(piece)) await once(child.stdin, 'drain')
    child.stdin.end(typeof input === 'string' ? input : undefined)
    const { code, signal, stderr } = await program.ended
    const stdout = program.lines.map((line) => `${line}\n`).join('')
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
    return JSON.parse(await this.ok(...args, '--json')) as Record<string, unknown>
  }

  /** An engine of the file that listens at a socket, to which all later calls go. */
  async serve(...tokens: readonly string[]): Promise<Program> {
    const url = `unix:${join(this.folder, 's')}`
    const server = startProgram(new URL('./programs/server.ts', import.meta.url), [this.file, url, ...tokens])
    await server.said(/^listening/)
    this.url = url
    return server
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
