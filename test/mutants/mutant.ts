/**
 * The switch that planted files ask. One mutant is on, or none: the environment names it, and threads and child processes inherit that.
 * If the environment names a folder, no mutant is on, and each test notes there which mutants it reaches, also from its threads.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

export const ACTIVE = 'MILLRACE_MUTANT'
export const REACHED = 'MILLRACE_MUTANTS_REACHED'
export const TEST = 'MILLRACE_MUTANTS_TEST'

// Loaded first by each test file's own process: see `setUp` in copy.ts.
const { filepath } = (globalThis as { __vitest_worker__?: { readonly filepath?: string } }).__vitest_worker__ ?? {}
if (filepath !== undefined) process.env[TEST] = filepath

const active = Number(process.env[ACTIVE] ?? -1)
const folder = process.env[REACHED]
const seen = new Set<number>()

export const mutant = folder === undefined ? (id: number): boolean => id === active : reach

function reach(id: number): boolean {
  if (!seen.has(id)) {
    seen.add(id)
    const test = process.env[TEST]
    if (test !== undefined) appendFileSync(join(folder as string, encodeURIComponent(test)), `${id}\n`)
  }
  return false
}
