/**
 * The simulator's command line: `pnpm sim`. Every run says where it began; what it finds is replayed by one line. The engine is
 * loaded after the canary, if one is asked for.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CANARIES, plant } from './canaries.ts'
import type { Outcome } from './world.ts'

const HELP = `pnpm sim [options]

  --seeds N          so many seeds (500)
  --from N           the first one (drawn at random, and printed)
  --minutes N        as many as there is time for
  --processes N      side by side (1)
  --seed N           one seed; with --hash the SHA-256 of its history alone, with --history all of it
  --without A,B      without these faults, as a shrunk seed says
  --list-canaries    the planted bugs
  --canary NAME      with that bug: ends with 1 when it is found, and says by which seed and promise
  --canaries         all of them: ends with 1 unless each is found within --seeds (5,000)
`

/** A rare path that so many seeds must meet. */
const PROBES = [
  'phantom',
  'lost',
  'full',
  'busy',
  'io',
  'crash at begin',
  'crash at statement',
  'crash at commit',
  'crash at committed',
  'writerDeath',
  'processDeath',
  'clientDeath',
  'freeze',
  'wallJump',
  'slowCommit',
  'ownerLost',
]
const PROBED_SEEDS = 2_000
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
    history: { type: 'boolean', default: false },
    without: { type: 'string', default: '' },
    'list-canaries': { type: 'boolean', default: false },
    canary: { type: 'string' },
    canaries: { type: 'boolean', default: false },
    totals: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

interface Totals {
  seeds: number
  events: number
  grants: number
  crashes: number
  virtualMs: number
  violations: number
  met: Record<string, number>
}

if (values.help) say(HELP)
else if (values['list-canaries']) for (const { name, file } of CANARIES) say(`${name}  ${file}`)
else if (values.canaries) process.exitCode = await allCanaries(Number(values.seeds ?? CANARY_SEEDS))
else {
  if (values.canary !== undefined) {
    const canary = CANARIES.find(({ name }) => name === values.canary)
    if (canary === undefined) throw new RangeError(`no canary '${values.canary}': --list-canaries names them`)
    plant(canary)
  }
  process.exitCode = values.seed === undefined ? await many() : await one(Number(values.seed))
}

/** Loaded late: what is loaded already no canary can be planted in. */
async function world(): Promise<typeof import('./world.ts') & typeof import('./plan.ts')> {
  return { ...(await import('./world.ts')), ...(await import('./plan.ts')) }
}

async function one(seed: number): Promise<number> {
  const { runWorld, planOf, faultsOf } = await world()
  const plan = planOf(seed, new Set(values.without.split(',')))
  const outcome = await runWorld(plan, values.history)
  if (values.history) for (const line of outcome.history) say(line)
  if (values.hash) say(outcome.hash)
  else report(outcome, faultsOf(plan).join(', '))
  return outcome.violations.length === 0 ? 0 : 1
}

function report({ seed, violations, events, grants, crashes, virtualMs, met }: Outcome, faults: string): void {
  say(
    `seed ${seed}: ${events} events, ${grants} runs, ${crashes} crashes, ${(virtualMs / 1_000).toFixed(1)} virtual seconds; faults: ${faults || 'none'}`,
  )
  say(`met: ${JSON.stringify(met)}`)
  for (const violation of violations) say(violation)
}

async function many(): Promise<number> {
  const processes = Number(values.processes)
  const from = Number(values.from ?? 1 + Math.floor(Math.random() * 1e9))
  const seeds = values.minutes === undefined ? Number(values.seeds ?? 500) : Number.MAX_SAFE_INTEGER
  if (processes > 1) return sideBySide(processes, from, seeds)
  const { runWorld, planOf } = await world()
  if (!values.totals) say(`from seed ${from}`)
  const untilMs = performance.now() + (values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes) * MS_PER_MINUTE)
  const totals: Totals = { seeds: 0, events: 0, grants: 0, crashes: 0, virtualMs: 0, violations: 0, met: {} }
  for (let seed = from; seed < from + seeds && performance.now() < untilMs; seed++) {
    const outcome = await runWorld(planOf(seed))
    add(totals, outcome)
    if (outcome.violations.length === 0) continue
    say(`seed ${seed}: ${outcome.violations[0]}`)
    if (values.canary !== undefined) return 1
    say(`replay: pnpm sim --seed ${seed} --without ${(await shrink(seed)).join()}`)
  }
  say(values.totals ? JSON.stringify(totals) : summary(totals))
  return values.canary === undefined && (totals.violations > 0 || missed(totals).length > 0) ? 1 : 0
}

/** Leaves out one fault after the other, as long as something is still found. */
async function shrink(seed: number): Promise<string[]> {
  const { runWorld, planOf, faultsOf } = await world()
  const without: string[] = []
  for (const fault of ['clients', ...faultsOf(planOf(seed))]) {
    const { violations } = await runWorld(planOf(seed, new Set([...without, fault])))
    if (violations.length > 0) without.push(fault)
  }
  return without
}

async function sideBySide(processes: number, from: number, seeds: number): Promise<number> {
  say(`from seed ${from}, in ${processes} processes`)
  const share = Math.ceil(Math.min(seeds, 1e9) / processes)
  const totals: Totals = { seeds: 0, events: 0, grants: 0, crashes: 0, virtualMs: 0, violations: 0, met: {} }
  const ends = Array.from({ length: processes }, async (_, index) => {
    const limit =
      values.minutes === undefined ? ['--seeds', `${Math.max(0, Math.min(share, seeds - index * share))}`] : ['--minutes', values.minutes]
    const lines = await run(['--totals', '--from', `${from + index * share}`, ...limit])
    add(totals, JSON.parse(lines.at(-1) as string) as Totals)
    for (const line of lines.slice(0, -1)) say(line)
  })
  await Promise.all(ends)
  say(summary(totals))
  return totals.violations > 0 || missed(totals).length > 0 ? 1 : 0
}

async function allCanaries(seeds: number): Promise<number> {
  let silent = 0
  for (const { name } of CANARIES) {
    const lines = await run(['--canary', name, '--from', '1', '--seeds', `${seeds}`])
    const found = lines.find((line) => line.startsWith('seed '))
    if (found === undefined) silent++
    say(`${name}: ${found ?? `NOT FOUND in ${seeds} seeds`}`)
  }
  say(`${CANARIES.length - silent} of ${CANARIES.length} planted bugs found`)
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

function add(
  totals: Totals,
  more: Omit<Totals, 'seeds' | 'violations'> & { readonly seeds?: number; readonly violations: number | readonly string[] },
): void {
  totals.seeds += more.seeds ?? 1
  totals.events += more.events
  totals.grants += more.grants
  totals.crashes += more.crashes
  totals.virtualMs += more.virtualMs
  totals.violations += typeof more.violations === 'number' ? more.violations : more.violations.length
  for (const [what, times] of Object.entries(more.met)) totals.met[what] = (totals.met[what] ?? 0) + times
}

function missed({ seeds, met }: Totals): string[] {
  return seeds < PROBED_SEEDS ? [] : PROBES.filter((probe) => met[probe] === undefined)
}

function summary(totals: Totals): string {
  const { seeds, events, grants, crashes, virtualMs, violations, met } = totals
  const number = (value: number) => Math.round(value).toLocaleString('en')
  const rare = Object.entries(met).sort(([a], [b]) => (a < b ? -1 : 1))
  const missing = missed(totals)
  return [
    `${number(seeds)} seeds, ${number(events)} events, ${number(grants)} runs, ${number(crashes)} crashes, ${number(virtualMs / 3_600_000)} virtual hours, ${number(violations)} violations`,
    rare.map(([what, times]) => `${what} ${number(times)}`).join(', '),
    ...(missing.length > 0 ? [`never met: ${missing.join(', ')}`] : []),
  ].join('\n')
}
