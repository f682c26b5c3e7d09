/** `pnpm bench:pairs FOLDER`: another checkout's engine beside this one's, run by run in turns. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { countFlag } from './amounts.ts'
import { Backlogs } from './backlogs.ts'
import { figureOf, formatFigure } from './figures.ts'
import { commit } from './machine.ts'
import type { Figures, Settings } from './measurement.ts'
import { median, quantile } from './quantile.ts'
import { runProcess, scriptIn } from './runProcess.ts'
import { markdown } from './table.ts'

const HELP = `pnpm bench:pairs FOLDER [flags]

Runs each scenario with the engine of another checkout of this repository (its dependencies installed) and with this one, by turns, each
run in a process of its own, and prints the median of the pairs' ratios: what changed between the two, on whatever machine.

  --only NAME         only this (again for more): enqueue, bulk, drain, endToEnd, idle
  --repetitions N     pairs of each (7)
  --jobs N            jobs per run (200k); idle takes a hundredth
  --durability NAME   normal or full (normal)
  --folder FOLDER     where the database files are written (the system's folder for temporary files)
  --help              this
`

const SCENARIOS: Readonly<Record<string, Partial<Settings>>> = {
  enqueue: { inFlight: 100 },
  bulk: { inFlight: 4 },
  drain: { backlog: 'own' },
  endToEnd: {},
  idle: { inFlight: 1, concurrency: 1 },
}
const IDLE_SHARE = 100
const COLUMNS = ['jobsPerSecond', 'p50Micros', 'mainMicrosPerJob', 'writerMicrosPerJob']

interface Checkout {
  readonly commit: string
  readonly script: string
  readonly backlogs: Backlogs
  readonly folder: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(SCENARIOS) },
    repetitions: { type: 'string', default: '7' },
    jobs: { type: 'string', default: '200k' },
    durability: { type: 'string', default: 'normal' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', default: false },
  },
})
const [other] = positionals
if (values.help || other === undefined) {
  process.stdout.write(HELP)
  process.exitCode = values.help ? 0 : 1
} else await pairs(other)

async function pairs(before: string): Promise<void> {
  const { durability } = values
  if (durability !== 'normal' && durability !== 'full') throw new RangeError(`--durability is normal or full, not '${durability}'`)
  const repetitions = countFlag('repetitions', values.repetitions)
  const jobs = countFlag('jobs', values.jobs)
  const unknown = values.only.find((name) => !(name in SCENARIOS))
  if (unknown !== undefined) throw new RangeError(`--only knows no '${unknown}': ${Object.keys(SCENARIOS).join(', ')}`)
  if (!existsSync(scriptIn(before))) throw new Error(`${before} is no checkout of this repository: it has no ${scriptIn('.')}`)

  const folder = mkdtempSync(join(values.folder, 'millrace-pairs-'))
  try {
    const sides = [before, join(import.meta.dirname, '..', '..')].map((root, index) => checkoutOf(root, join(folder, `${index}`)))
    const rows: string[][] = []
    for (const name of values.only) {
      const own = name === 'idle' ? Math.ceil(jobs / IDLE_SHARE) : jobs
      const settings: Partial<Settings> = { ...SCENARIOS[name], durability, jobs: own, ...(name === 'drain' ? { backlogJobs: own } : {}) }
      const taken = await measure(name, settings, repetitions, sides)
      rows.push(...COLUMNS.flatMap((column) => rowOf(name, column, taken)))
    }
    const [old, now] = sides
    process.stdout.write(
      `${old?.commit} before, ${now?.commit} now; ${durability}, ${jobs.toLocaleString('en')} jobs, ${repetitions} pairs of each\n\n`,
    )
    process.stdout.write(`${markdown(['what', 'figure', 'before', 'now', 'now / before', 'half of the pairs'], rows)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function checkoutOf(root: string, folder: string): Checkout {
  mkdirSync(folder)
  const script = scriptIn(resolve(root))
  return { commit: commit(root), script, folder, backlogs: new Backlogs(folder, script) }
}

/** Pair by pair, the one first and then the other: neither has the better half of a machine's day. */
async function measure(name: string, settings: Partial<Settings>, repetitions: number, sides: readonly Checkout[]): Promise<Figures[][]> {
  const taken: Figures[][] = sides.map(() => [])
  for (let pair = 0; pair < repetitions; pair++) {
    for (const side of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const figures = await run(name, settings, sides[side] as Checkout)
      taken[side]?.push(figures)
      const told = COLUMNS.filter((column) => figures[column] !== undefined).map((column) => formatFigure(column, figures[column]))
      process.stderr.write(`${name} ${pair + 1}/${repetitions} ${side === 0 ? 'before' : 'now'}: ${told.join(' ')}\n`)
    }
  }
  for (const { backlogs } of sides) backlogs.clear()
  return taken
}

async function run(name: string, settings: Partial<Settings>, { folder, backlogs, script }: Checkout): Promise<Figures> {
  const own = join(folder, 'run')
  mkdirSync(own)
  try {
    const file = join(own, 'jobs.db')
    await backlogs.lay(settings, file)
    return await runProcess(name, { ...settings, file }, { script })
  } finally {
    rmSync(own, { recursive: true, force: true, maxRetries: 3 })
  }
}

function rowOf(name: string, column: string, [before = [], now = []]: readonly Figures[][]): string[][] {
  const of = (runs: readonly Figures[]) => runs.map((figures) => figures[column] as number)
  if (before[0]?.[column] === undefined || now[0]?.[column] === undefined) return []
  const olds = of(before)
  const ratios = of(now).map((value, pair) => value / (olds[pair] as number))
  const middle = `${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)}`
  const shown = [median(olds), median(of(now))].map((value) => formatFigure(column, value))
  return [[name, figureOf(column).title, ...shown, median(ratios).toFixed(2), middle]]
}
