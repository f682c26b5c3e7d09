/**
 * What the engine does beside the limit, in one run on one machine: every figure from a process of its own, the two
 * interleaved, medians of the repetitions. Prints a table, and the same as JSON (to a file with `--json FILE`).
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PAYLOAD_BYTES } from './payload.ts'
import type { Figures, Settings } from './scenario.ts'

const { values: flags } = parseArgs({
  options: {
    json: { type: 'string' },
    repetitions: { type: 'string', default: '3' },
    jobs: { type: 'string', default: '200000' },
    backlog: { type: 'string', default: '1000000' },
  },
})
const repetitions = Number(flags.repetitions)
const jobs = Number(flags.jobs)
const backlogJobs = Number(flags.backlog)
const IN_FLIGHT = 500

function run(scenario: string, settings: Partial<Settings>): Figures {
  const script = fileURLToPath(new URL('./scenario.ts', import.meta.url))
  const child = spawnSync(process.execPath, [script, scenario, JSON.stringify({ inFlight: IN_FLIGHT, ...settings })], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.status !== 0) throw new Error(`${scenario} ${JSON.stringify(settings)} ended with ${child.status ?? child.signal}`)
  return JSON.parse(child.stdout) as Figures
}

/** Medians, figure by figure, of each scenario; the scenarios take turns. */
function medians(scenarios: readonly (() => Figures)[]): Figures[] {
  const runs = scenarios.map((): Figures[] => [])
  for (let repetition = 0; repetition < repetitions; repetition++)
    for (const [index, scenario] of scenarios.entries()) runs[index]?.push(scenario())
  return runs.map((figures) =>
    Object.fromEntries(Object.keys(figures[0] ?? {}).map((name) => [name, median(figures.map((one) => one[name] ?? 0))])),
  )
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

const rows: { readonly what: string; readonly value: string; readonly goal: string; readonly met: boolean }[] = []
const result: Record<string, unknown> = {
  date: new Date().toISOString(),
  node: process.version,
  cpu: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  settings: { jobs, inFlight: IN_FLIGHT, payloadBytes: PAYLOAD_BYTES, repetitions, backlogJobs },
}
const thousands = (value: number | undefined) => `${Math.round((value ?? 0) / 1_000)}k`

for (const durability of ['normal', 'full'] as const) {
  const [limit, whole] = medians([() => run('limit', { durability, jobs }), () => run('endToEnd', { durability, jobs })])
  const ratio = (whole?.['jobsPerSecond'] ?? 0) / (limit?.['jobsPerSecond'] ?? 1)
  result[`endToEnd.${durability}`] = { limit, engine: whole, ratio }
  rows.push({
    what: `whole jobs end to end, ${IN_FLIGHT} in flight, \`${durability}\``,
    value: `${thousands(whole?.['jobsPerSecond'])}/s, ${ratio.toFixed(2)} of the limit's ${thousands(limit?.['jobsPerSecond'])}/s`,
    goal: '0.4 of the limit',
    met: ratio >= 0.4,
  })
}

for (const durability of ['normal', 'full'] as const) {
  const [idle] = medians([() => run('idle', { durability, jobs: 2_000 })])
  const p50 = idle?.['p50Micros'] ?? 0
  result[`idle.${durability}`] = idle
  rows.push({
    what: `idle: enqueue to handler start, \`${durability}\``,
    value: `p50 ${Math.round(p50)} µs, p99 ${Math.round(idle?.['p99Micros'] ?? 0)} µs`,
    goal: durability === 'normal' ? 'p50 under 300 µs' : 'none',
    met: durability === 'full' || p50 < 300,
  })
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-backlog-'))
try {
  const full = join(folder, 'full.db')
  run('backlog', { file: full, durability: 'normal', jobs: backlogJobs })
  let copies = 0
  const withBacklog = (scenario: string, settings: Partial<Settings>) => {
    // The engine is stopped and the WAL folded in: the file is whole, and nobody has it open.
    const file = join(folder, `copy-${copies++}.db`)
    copyFileSync(full, file)
    const figures = run(scenario, { ...settings, file })
    rmSync(file)
    return figures
  }
  const [emptyOpen, fullOpen] = medians([() => run('openTime', {}), () => withBacklog('openTime', {})])
  const [emptyRun, fullRun] = medians([() => run('endToEnd', { jobs }), () => withBacklog('endToEnd', { jobs })])
  const openMs = (fullOpen?.['openMs'] ?? 0) - (emptyOpen?.['openMs'] ?? 0)
  const rssMb = (fullOpen?.['rssMb'] ?? 0) - (emptyOpen?.['rssMb'] ?? 0)
  const ratio = (fullRun?.['jobsPerSecond'] ?? 0) / (emptyRun?.['jobsPerSecond'] ?? 1)
  result['backlog'] = { emptyOpen, fullOpen, emptyRun, fullRun, ratio }
  const million = `${backlogJobs.toLocaleString('en')} waiting jobs in the file`
  rows.push({
    what: `${million}: open`,
    value: `${openMs >= 0 ? '+' : ''}${Math.round(openMs)} ms over an empty file's ${Math.round(emptyOpen?.['openMs'] ?? 0)} ms`,
    goal: 'within 300 ms',
    met: openMs < 300,
  })
  rows.push({ what: `${million}: memory`, value: `${rssMb >= 0 ? '+' : ''}${rssMb.toFixed(1)} MB`, goal: 'within 64 MB', met: rssMb < 64 })
  rows.push({ what: `${million}: throughput`, value: `${ratio.toFixed(2)} of an empty file's`, goal: '0.8', met: ratio >= 0.8 })
} finally {
  rmSync(folder, { recursive: true })
}

console.log(`| what | measured | goal | met |\n|---|---|---|---|`)
for (const { what, value, goal, met } of rows) console.log(`| ${what} | ${value} | ${goal} | ${met ? 'yes' : 'no'} |`)
const json = JSON.stringify(result, null, 2)
if (flags.json === undefined) console.log(`\n${json}`)
else writeFileSync(flags.json, `${json}\n`)
