/**
 * The simulator's command line. Every run says where it began, and what it finds is replayed by one line. The engine is loaded
 * after the canary, if one is asked for.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CANARIES } from './canaries/all.ts'
import { plant } from './canaries/canary.ts'
import regressions from './regressions.json' with { type: 'json' }
import { addOutcome, addTotals, missed, noTotals, summary, type Totals } from './totals.ts'

const HELP = `pnpm sim [options]

  --seeds N          so many seeds (500), after those that have once found something
  --from N           the first one (drawn at random, and printed)
  --minutes N        as many as there is time for
  --processes N      side by side (1)
  --seed N           one seed, and no more; with --hash the SHA-256 of its history and nothing else, with --verbose the history
  --without A,B      without these faults, as a shrunk seed says
  --list-canaries    the planted bugs
  --canary NAME      with that bug: ends with 1 when it is caught, and names the seed and the invariant
  --canaries         all of them: ends with 1 unless each is caught within --seeds (5,000)
`
const CANARY_SEEDS = 5_000
const MS_PER_MINUTE = 60_000

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    minutes: { type: 'string' },
    processes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    hash: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    without: { type: 'string', default: '' },
    'list-canaries': { type: 'boolean', default: false },
    canary: { type: 'string' },
    canaries: { type: 'boolean', default: false },
    // For the processes that this one starts: the totals are for it alone.
    share: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

if (values.help) say(HELP)
else if (values.seed !== undefined && (values.seeds ?? values.from ?? values.minutes) !== undefined)
  throw new RangeError(
    `--seed ${values.seed} runs one seed: leave --seeds, --from and --minutes out, or run many with --from ${values.seed}`,
  )
else if (values['list-canaries']) for (const { name, breaks, file } of CANARIES) say(`${name}: breaks ${breaks} (${file})`)
else if (values.canaries) process.exitCode = await allCanaries(Number(values.seeds ?? CANARY_SEEDS))
else {
  if (values.canary !== undefined) {
    const canary = CANARIES.find(({ name }) => name === values.canary)
    if (canary === undefined) throw new RangeError(`there is no canary '${values.canary}': --list-canaries names them`)
    // The others would run without it, and find nothing.
    if (Number(values.processes) > 1) throw new RangeError('--canary plants its bug in one process: leave --processes out')
    plant(canary)
  }
  process.exitCode = values.seed === undefined ? await many() : await one(Number(values.seed))
}

/** Loaded late: in what is loaded already no canary can be planted. */
async function simulator() {
  const [{ runWorld }, { planOf }, { shrink }] = await Promise.all([import('./world.ts'), import('./plan.ts'), import('./shrink.ts')])
  return { runWorld, planOf, shrink }
}

async function one(seed: number): Promise<number> {
  const { runWorld, planOf } = await simulator()
  const plan = planOf(seed, new Set(values.without.split(',')))
  const outcome = await runWorld(plan, values.verbose)
  for (const line of outcome.history) say(line)
  if (values.hash) say(outcome.hash)
  else {
    say(`seed ${seed}: ${outcome.events} events, ${outcome.grants} grants, ${(outcome.virtualMs / 1_000).toFixed(1)} virtual seconds`)
    say(`plan: ${JSON.stringify(plan)}`)
    say(`met: ${JSON.stringify(outcome.met)}`)
    for (const violation of outcome.violations) say(violation)
  }
  return outcome.violations.length === 0 ? 0 : 1
}

async function many(): Promise<number> {
  const { runWorld, planOf } = await simulator()
  const processes = Number(values.processes)
  const from = Number(values.from ?? 1 + Math.floor(Math.random() * 1e9))
  const limitMs = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes) * MS_PER_MINUTE
  const seeds = values.minutes === undefined ? Number(values.seeds ?? 500) : Number.MAX_SAFE_INTEGER
  if (!values.share) say(`from seed ${from}${processes > 1 ? `, in ${processes} processes` : ''}`)
  if (processes > 1) return sideBySide(processes, from, Math.min(seeds, 1e9))
  const totals = noTotals()
  const look = async (seed: number): Promise<boolean> => {
    const outcome = await runWorld(planOf(seed))
    addOutcome(totals, outcome)
    if (outcome.violations.length > 0) say(`seed ${seed}: ${outcome.violations[0]}`)
    return outcome.violations.length === 0
  }
  const startMs = performance.now()
  const known = values.share || values.canary !== undefined ? [] : regressions.map(({ seed }: { readonly seed: number }) => seed)
  for (let seed = from - known.length; seed < from + seeds && performance.now() - startMs < limitMs; seed++) {
    const next = seed < from ? (known[seed - from + known.length] as number) : seed
    if (await look(next)) continue
    if (values.canary !== undefined) return 1
    await explain(next)
  }
  say(values.share ? JSON.stringify(totals) : summary(totals))
  if (!values.share) say(`${(totals.seeds / ((performance.now() - startMs) / 1_000)).toFixed(1)} seeds per second`)
  return values.canary === undefined && (totals.violations > 0 || (!values.share && missed(totals).length > 0)) ? 1 : 0
}

/** One line that replays a seed, and what of it can be left out. */
async function explain(seed: number): Promise<void> {
  const { shrink, planOf } = await simulator()
  say(`replay: pnpm sim --seed ${seed} --verbose`)
  const without = await shrink(seed)
  say(`shrunk: pnpm sim --seed ${seed} --verbose --without ${without.join()}`)
  say(`shrunk to ${JSON.stringify(planOf(seed, new Set(without)))}`)
}

async function sideBySide(processes: number, from: number, seeds: number): Promise<number> {
  const share = Math.ceil(seeds / processes)
  const totals = noTotals()
  const shares = Array.from({ length: processes }, async (_, index) => {
    const count = Math.max(0, Math.min(share, seeds - index * share))
    const limit = values.minutes === undefined ? ['--seeds', `${count}`] : ['--minutes', values.minutes]
    const lines = await run(['--share', '--from', `${from + index * share}`, ...limit])
    for (const line of lines.slice(0, -1)) say(line)
    addTotals(totals, JSON.parse(lines.at(-1) as string) as Totals)
  })
  await Promise.all(shares)
  say(summary(totals))
  return totals.violations > 0 || missed(totals).length > 0 ? 1 : 0
}

/** As many side by side as `--processes` says. */
async function allCanaries(seeds: number): Promise<number> {
  const waiting = [...CANARIES]
  let silent = 0
  const look = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { name } = next
      const lines = await run(['--canary', name, '--from', '1', '--seeds', `${seeds}`])
      const caught = lines.find((line) => line.startsWith('seed '))
      if (caught === undefined) silent++
      say(`${name}: ${caught?.slice(0, 160) ?? `NOT CAUGHT: ${lines.slice(-3).join(' ').slice(0, 300)}`}`)
    }
  }
  await Promise.all(Array.from({ length: Number(values.processes) }, look))
  say(`${CANARIES.length - silent} of ${CANARIES.length} planted bugs caught`)
  return silent === 0 ? 0 : 1
}

async function run(args: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await once(child, 'close')
  return text.trimEnd().split('\n')
}
