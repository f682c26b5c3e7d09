/** The scripts of bench/ as users run them: processes of their own. */
import { fileURLToPath } from 'node:url'
import { type Ended, run } from '../consumers/run.ts'

const BENCH_MS = 300_000

export function runBench(script: string, ...args: readonly string[]): Promise<Ended> {
  const path = fileURLToPath(new URL(`../../bench/src/${script}.ts`, import.meta.url))
  return run(process.execPath, [path, ...args], process.cwd(), { hangsMs: BENCH_MS })
}
