/**
 * `pnpm bench:start [--rounds N] [--save]`: the first moments of the packed packages in a project of their own, each in a process that has
 * loaded nothing, all of them in turns; medians. Beside them Node itself and other queues, where their servers are here. `--save` keeps
 * the figures under bench/results/start.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../../test/consumers/run.ts'
import { countFlag } from './amounts.ts'
import { commit, machineOf, versions } from './machine.ts'
import { postgres } from './peers/servers/postgres.ts'
import { freePort } from './peers/servers/program.ts'
import { redis } from './peers/servers/redis.ts'
import type { ServerKind } from './peers/servers/server.ts'
import { median, quantile } from './quantile.ts'
import { RESULTS } from './saved.ts'
import { installAll } from './start/install.ts'
import { markdown } from './table.ts'

interface Figure {
  readonly what: string
  /** The median is to be no longer. */
  readonly goalMs?: number
}

/** One process, and what it tells. */
interface Subject {
  readonly figures: readonly Figure[]
  /** Answers how many milliseconds each took, once. */
  readonly run: () => Promise<readonly number[]>
}

const MAIN = 'node_modules/millrace/dist/main.js'
const TOKEN = { MILLRACE_TOKEN: 'of-a-daemon-that-is-measured' }

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '10' }, save: { type: 'boolean', default: false } } })
const rounds = countFlag('rounds', flags.rounds)
const folder = mkdtempSync(join(tmpdir(), 'millrace-start-'))
/** Each ends something that was started; the last one first. */
const ends: (() => Promise<unknown>)[] = []
try {
  process.stderr.write('packing and installing\n')
  await installAll(folder)
  const subjects = [...own(await daemon()), ...peers(), ...(await served('bullmq', redis)), ...(await served('pgBoss', postgres))]
  const took = subjects.map(({ figures }) => figures.map(() => [] as number[]))
  // The first round creates files and fills caches, and is not counted.
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`)
    for (const [index, subject] of subjects.entries()) {
      const all = await subject.run()
      if (round > 0) for (const [figure, ms] of all.entries()) took[index]?.[figure]?.push(ms)
    }
  }
  report(subjects.flatMap(({ figures }, index) => figures.map((figure, place) => ({ ...figure, ms: took[index]?.[place] ?? [] }))))
} finally {
  for (const end of ends.toReversed()) await end()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}

function own(url: string): Subject[] {
  return [
    timed('Node itself', undefined, '-e', '0'),
    printing('import.mjs', '@millrace/engine', [['import', "`import '@millrace/engine'`", 60]]),
    printing('engine.mjs', join(folder, 'jobs.db'), [
      ['open', '`openEngine` of an existing file', 100],
      ['enqueue', 'the first `enqueue`', 5],
      ['restart', 'the writer restarts after a death', 150],
      ['first', 'import, open, first job stored: @millrace/engine'],
    ]),
    timed('`millrace --version`', 100, MAIN, '--version'),
    timed('`millrace enqueue --file`', 250, MAIN, 'enqueue', 'a', '{}', '--file', join(folder, 'cli.db')),
    timed('`millrace enqueue --url`', 250, MAIN, 'enqueue', 'a', '{}', '--url', url),
    {
      figures: [{ what: '`millrace serve` is ready', goalMs: 600 }],
      run: () => serving('serve.db').then(({ ms, end }) => end().then(() => [ms])),
    },
  ]
}

function peers(): Subject[] {
  return [
    ...['bullmq', 'pg-boss', 'plainjob'].map((name) => printing('import.mjs', name, [['import', `\`import '${name}'\``]])),
    printing('plainjob.mjs', join(folder, 'plainjob.db'), [['first', 'import, open, first job stored: plainjob']]),
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
  return [printing(`${name}.mjs`, address, [['first', `import, open, first job stored: ${name}`]])]
}

/** Figures that a program prints. */
function printing(program: string, argument: string, told: readonly (readonly [key: string, what: string, goalMs?: number])[]): Subject {
  return {
    figures: told.map(([, what, goalMs]) => ({ what, ...(goalMs !== undefined && { goalMs }) })),
    async run() {
      const all = JSON.parse((await ended(program, argument)).stdout) as Readonly<Record<string, number>>
      return told.map(([key]) => all[key] as number)
    },
  }
}

/** From the start of the process to its end. */
function timed(what: string, goalMs: number | undefined, ...args: readonly string[]): Subject {
  return { figures: [{ what, ...(goalMs !== undefined && { goalMs }) }], run: async () => [(await ended(...args)).ms] }
}

async function ended(...args: readonly string[]): Promise<{ readonly stdout: string; readonly ms: number }> {
  const began = performance.now()
  const { code, stdout, stderr } = await run(process.execPath, args, folder, { env: TOKEN })
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
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...TOKEN }, stdio: ['ignore', 'pipe', 'inherit'] })
  const over = once(child, 'exit')
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += text
    if (/"msg":"serving"/.test(said)) break
  }
  const ms = performance.now() - began
  const end = () => {
    child.kill('SIGTERM')
    return over
  }
  return { ms, url: `unix:${join(folder, file)}-socket`, end }
}

function report(figures: readonly (Figure & { readonly ms: readonly number[] })[]): void {
  const format = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0))
  const rows = figures.map(({ what, goalMs, ms }) => {
    const measured = median(ms)
    const met = goalMs === undefined ? '' : measured <= goalMs ? 'met' : '**not met**'
    const range = `${format(quantile(ms, 0))} to ${format(quantile(ms, 1))}`
    return [what, format(measured), range, goalMs === undefined ? '' : `${goalMs}`, met]
  })
  const machine = machineOf(folder)
  const facts = Object.entries({ ...machine, ...versions() }).map(([name, value]) => `${name} ${value}`)
  process.stdout.write(`${markdown(['what', 'median, ms', 'all', 'goal', ''], rows)}\n\n${rounds} rounds; ${facts.join(', ')}.\n`)
  if (!flags.save) return
  const date = new Date().toISOString()
  const name = `${date.slice(0, 16).replaceAll(':', '')}-${commit().split(' ')[0]}.json`
  mkdirSync(join(RESULTS, 'start'), { recursive: true })
  writeFileSync(
    join(RESULTS, 'start', name),
    `${JSON.stringify({ date, commit: commit(), machine, versions: versions(), rounds, figures }, null, 2)}\n`,
  )
  process.stderr.write(`saved as bench/results/start/${name}\n`)
}
