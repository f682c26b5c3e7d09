/** `pnpm bench:pairs FOLDER`: another checkout's engine beside this one's, run by run in turns. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { countFlag } from './amounts.ts'
import { Backlogs } from './backlogs.ts'
import { withFile } from './conduct.ts'
import type { Cell } from './experiments/experiment.ts'
import { EXPERIMENTS } from './experiments/list.ts'
import { figureOf, formatFigure } from './figures.ts'
import { commit } from './machine.ts'
import type { Figures } from './measurement.ts'
import type { Plan } from './plan.ts'
import { median, quantile } from './quantile.ts'
import { ROOT, runProcess, scriptIn } from './runProcess.ts'
import { markdown } from './table.ts'

const HELP = `pnpm bench:pairs FOLDER [flags]

Runs each scenario with the engine of another checkout of this repository (its dependencies installed) and with this one, by turns, each
run in a process of its own, and prints the median of the pairs' ratios: what changed between the two, on whatever machine.

  --only NAME         only this (again for more): enqueue, bulk, drain, endToEnd, idle
  --repetitions N     pairs of each (7)
  --jobs N            jobs per run (200k); idle takes 2,000 at most
  --durability NAME   normal or full (normal)
  --folder FOLDER     where the database files are written (the system's folder for temporary files)
  --help              this
`

/** Jobs one after another: enough for a median. */
const IDLE_JOBS = 2_000
const INTERRUPTED = 130
const NAMES = ['enqueue', 'bulk', 'drain', 'endToEnd', 'idle']
const COLUMNS = ['jobsPerSecond', 'p50Micros', 'mainMicrosPerJob', 'writerMicrosPerJob']

interface Checkout {
  readonly root: string
  readonly folder: string
  readonly backlogs: Backlogs
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: NAMES },
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
  const unknown = values.only.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) throw new RangeError(`--only knows no '${unknown}': ${NAMES.join(', ')}`)
  if (!existsSync(scriptIn(before))) throw new Error(`${before} is no checkout of this repository: it has no ${scriptIn('.')}`)

  const folder = mkdtempSync(join(values.folder, 'millrace-pairs-'))
  // The process that measures is ended with this one: see runProcess.ts.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(INTERRUPTED))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const sides = [resolve(before), ROOT].map((root, index) => checkoutOf(root, join(folder, `${index}`)))
  const rows: string[][] = []
  for (const cell of cellsOf(jobs, durability)) {
    const taken = await measure(cell, repetitions, sides)
    rows.push(...COLUMNS.flatMap((column) => rowOf(cell.scenario, column, taken)))
  }
  const commits = `${commit(before)} before, ${commit(ROOT)} now`
  process.stdout.write(`${commits}; ${durability}, ${jobs.toLocaleString('en')} jobs, ${repetitions} pairs of each\n\n`)
  process.stdout.write(`${markdown(['what', 'figure', 'before', 'now', 'now / before', 'half of the pairs'], rows)}\n`)
}

/** Ours, as `bench:throughput` measures them. */
function cellsOf(jobs: number, durability: string): readonly Cell[] {
  const none = { features: [], handlers: [], otherProcess: false, peers: [], packages: '' }
  const few = { repetitions: 1, syncJobs: 0, growthMax: 0, sustainedSeconds: 0, peerJobs: 0 }
  const plan: Plan = { ...none, ...few, jobs, idleJobs: Math.min(jobs, IDLE_JOBS) }
  const cells = EXPERIMENTS.filter(({ name }) => values.only.includes(name)).flatMap((experiment) => experiment.groups(plan).flat())
  return cells.filter(({ subject, label }) => subject === 'millrace' && label === durability)
}

function checkoutOf(root: string, folder: string): Checkout {
  mkdirSync(folder)
  return { root, folder, backlogs: new Backlogs(folder, root) }
}

/** Pair by pair, the one first and then the other: neither has the better half of a machine's day. */
async function measure({ scenario, settings }: Cell, repetitions: number, sides: readonly Checkout[]): Promise<Figures[][]> {
  const taken: Figures[][] = sides.map(() => [])
  for (let pair = 0; pair < repetitions; pair++) {
    for (const side of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const { root, folder, backlogs } = sides[side] as Checkout
      const figures = await withFile({ folder }, backlogs, settings, (all) => runProcess(scenario, all, { root }))
      taken[side]?.push(figures)
      const told = COLUMNS.filter((column) => figures[column] !== undefined).map((column) => formatFigure(column, figures[column]))
      process.stderr.write(`${scenario} ${pair + 1}/${repetitions} ${side === 0 ? 'before' : 'now'}: ${told.join(' ')}\n`)
    }
  }
  for (const { backlogs } of sides) backlogs.clear()
  return taken
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
