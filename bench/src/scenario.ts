/** One thing to measure, run in a process of its own: `node scenario.ts NAME SETTINGS` prints its figures as JSON. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { backlog } from './scenarios/backlog.ts'
import { endToEnd } from './scenarios/endToEnd.ts'
import { idle } from './scenarios/idle.ts'
import { limit } from './scenarios/limit.ts'
import { openTime } from './scenarios/openTime.ts'

export interface Settings {
  readonly file: string
  readonly durability: 'full' | 'normal'
  readonly jobs: number
  /** Calls awaited at the same time, and the worker's concurrency. */
  readonly inFlight: number
}

export type Figures = Readonly<Record<string, number>>
export type Scenario = (settings: Settings) => Promise<Figures>

const SCENARIOS: Readonly<Record<string, Scenario>> = { limit, endToEnd, idle, backlog, openTime }

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', text = '{}'] = process.argv.slice(2)
  const scenario = SCENARIOS[name]
  if (scenario === undefined) throw new Error(`no scenario '${name}': ${Object.keys(SCENARIOS).join(', ')}`)
  const given = JSON.parse(text) as Partial<Settings>
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  try {
    const figures = await scenario({ file: join(folder, 'jobs.db'), durability: 'normal', jobs: 100_000, inFlight: 500, ...given })
    console.log(JSON.stringify(figures))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
