/**
 * `pnpm bench:start [REPETITIONS]`: how long the first moments take, of the packed packages in a project of their own: each figure in a process
 * that has loaded nothing, all of them in turns, the median of ten. Beside them Node itself and other queues, where their servers are here.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineOf, versions } from './machine.ts'
import { postgres } from './peers/servers/postgres.ts'
import { freePort } from './peers/servers/program.ts'
import { redis } from './peers/servers/redis.ts'
import type { ServerKind } from './peers/servers/server.ts'
import { median, quantile } from './quantile.ts'
import { installAll } from './start/install.ts'
import { markdown } from './table.ts'

interface Subject {
  readonly what: string
  /** Of the median. */
  readonly goalMs?: number
  /** Answers how many milliseconds it took, once. */
  readonly run: () => Promise<number>
}

/** The daemon's and its clients'. */
const ENV = { ...process.env, MILLRACE_TOKEN: 'of-a-daemon-that-is-measured' }
const MAIN = 'node_modules/millrace/dist/main.js'

const repetitions = Number(process.argv[2] ?? 10)
if (!Number.isInteger(repetitions) || repetitions < 1) throw new RangeError(`REPETITIONS is a whole number from 1, not ${process.argv[2]}`)
const folder = mkdtempSync(join(tmpdir(), 'millrace-start-'))
/** What was started, ended in the other order. */
const ends: (() => Promise<unknown>)[] = []
try {
  process.stderr.write('packing and installing\n')
  await installAll(folder)
  const subjects = [...own(await daemon()), ...peers(), ...(await served('bullmq', redis)), ...(await served('pgBoss', postgres))]
  const took = subjects.map(() => [] as number[])
  // The first round creates files and fills caches, and is not counted.
  for (let round = 0; round <= repetitions; round++) {
    process.stderr.write(`round ${round} of ${repetitions}\n`)
    for (const [index, { run }] of subjects.entries()) {
      const ms = await run()
      if (round > 0) took[index]?.push(ms)
    }
  }
  process.stdout.write(`${report(subjects, took)}\n`)
} finally {
  for (const end of ends.toReversed()) await end()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}

function own(url: string): Subject[] {
  const file = join(folder, 'jobs.db')
  const engine = (what: string, figure: string, goalMs: number) => ({ what, goalMs, run: () => printed(figure, 'engine.mjs', file) })
  return [
    { what: 'Node itself', run: () => whole('-e', '0') },
    { what: "`import '@millrace/engine'`", goalMs: 60, run: () => printed('import', 'import.mjs', '@millrace/engine') },
    engine('`openEngine` of an existing file', 'open', 100),
    engine('the first `enqueue`', 'enqueue', 5),
    engine('the writer restarts after a death', 'restart', 150),
    { what: '`millrace --version`', goalMs: 100, run: () => whole(MAIN, '--version') },
    { what: '`millrace enqueue --file`', goalMs: 250, run: () => whole(MAIN, 'enqueue', 'a', '{}', '--file', join(folder, 'cli.db')) },
    { what: '`millrace enqueue --url`', goalMs: 250, run: () => whole(MAIN, 'enqueue', 'a', '{}', '--url', url) },
    { what: '`millrace serve` is ready', goalMs: 600, run: () => serving('serve.db').then(({ ms, end }) => end().then(() => ms)) },
    { what: 'import, open, first job stored: @millrace/engine', run: () => printed('first', 'engine.mjs', file) },
  ]
}

function peers(): Subject[] {
  return [
    ...['bullmq', 'pg-boss', 'plainjob'].map((name) => ({
      what: `\`import '${name}'\``,
      run: () => printed('import', 'import.mjs', name),
    })),
    { what: 'import, open, first job stored: plainjob', run: () => printed('first', 'plainjob.mjs', join(folder, 'plainjob.db')) },
  ]
}

async function served(name: string, kind: ServerKind): Promise<Subject[]> {
  const missing = kind.missing()
  if (missing !== undefined) {
    process.stderr.write(`without ${name}'s first job: ${missing}\n`)
    return []
  }
  const data = join(folder, kind.name)
  mkdirSync(data)
  const { address, stop } = await kind.start(data, 'normal')
  ends.push(stop)
  return [{ what: `import, open, first job stored: ${name}`, run: () => printed('first', `${name}.mjs`, address) }]
}

/** A figure that the program prints. */
async function printed(figure: string, ...args: readonly string[]): Promise<number> {
  const { stdout } = await ended(args)
  return (JSON.parse(stdout) as Readonly<Record<string, number>>)[figure] as number
}

/** From the start of the process to its end. */
async function whole(...args: readonly string[]): Promise<number> {
  return (await ended(args)).ms
}

async function ended(args: readonly string[]): Promise<{ readonly stdout: string; readonly ms: number }> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { cwd: folder, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return { stdout, ms: performance.now() - began }
}

async function daemon(): Promise<string> {
  const { url, end } = await serving('daemon.db')
  ends.push(end)
  return url
}

/** A daemon, from the start of its process until it says that it serves. */
async function serving(file: string): Promise<{ readonly ms: number; readonly url: string; readonly end: () => Promise<unknown> }> {
  const port = await freePort()
  const began = performance.now()
  const args = [MAIN, 'serve', '--file', join(folder, file), '--http-port', String(port), '--log-format', 'json']
  const child = spawn(process.execPath, args, { cwd: folder, env: ENV, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += text
    if (/"msg":"serving"/.test(said)) break
  }
  const ms = performance.now() - began
  const closed = child.exitCode === null ? once(child, 'exit') : Promise.resolve()
  const end = () => {
    child.kill('SIGTERM')
    return closed
  }
  return { ms, url: `unix:${join(folder, file)}-socket`, end }
}

function report(subjects: readonly Subject[], took: readonly (readonly number[])[]): string {
  const ms = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0))
  const rows = subjects.map(({ what, goalMs }, index) => {
    const all = took[index] ?? []
    const measured = median(all)
    const met = goalMs === undefined ? '' : measured <= goalMs ? 'met' : '**not met**'
    return [what, ms(measured), `${ms(quantile(all, 0))} to ${ms(quantile(all, 1))}`, goalMs === undefined ? '' : `${goalMs}`, met]
  })
  const facts = Object.entries({ ...machineOf(folder), ...versions() }).map(([name, value]) => `${name} ${value}`)
  return `${markdown(['what', 'median, ms', 'all', 'goal', ''], rows)}\n\n${repetitions} rounds; ${facts.join(', ')}.`
}
