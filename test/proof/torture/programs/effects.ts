/** What runs have done, in a file that outlives their process: one line appended at a time, whole, in the order of what happened. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { JobInfo } from '@millrace/engine'

export function noteRun(effects: string, { id, run, attempt }: Pick<JobInfo, 'id' | 'run' | 'attempt'>): void {
  appendFileSync(effects, `run ${id} ${run} ${attempt}\n`)
}

export function noteEnd(effects: string, { id, run }: Pick<JobInfo, 'id' | 'run'>): void {
  appendFileSync(effects, `ended ${id} ${run}\n`)
}

/** Its lines behind the first so many. */
export function effectsSince(effects: string, lines: number): string[] {
  if (!existsSync(effects)) return []
  const all = readFileSync(effects, 'utf8').split('\n').slice(0, -1)
  return all.slice(lines)
}
