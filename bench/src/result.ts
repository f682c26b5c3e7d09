/** What a run of the whole writes as JSON, and what `plot` and `compare` read. */
import { readFileSync } from 'node:fs'
import type { Figures, Settings } from './measurement.ts'

export const FORMAT = 1

export interface Row {
  readonly experiment: string
  /** `millrace`, `limit`, or another system. */
  readonly subject: string
  /** What differs within the experiment: the durability, the size of a backlog. */
  readonly label: string
  readonly settings: Partial<Settings>
  /** Of another system: how it was set up. */
  readonly note?: string
  /** Medians, figure by figure. */
  readonly figures: Figures
  /** The headline as a share of what it is held against. */
  readonly ratio?: number
  /** Largest less smallest headline of the repetitions, as a share of the median. */
  readonly spread: number
  readonly runs: readonly Figures[]
  /** What was checked after each run; a row whose check failed is not here. */
  readonly checks: readonly string[]
}

export interface Omission {
  readonly subject: string
  readonly experiment: string
  readonly reason: string
}

export interface Result {
  readonly format: number
  readonly date: string
  readonly commit: string
  readonly machine: Readonly<Record<string, string | number>>
  readonly versions: Readonly<Record<string, string>>
  readonly settings: Readonly<Record<string, string | number>>
  readonly rows: readonly Row[]
  /** Not measured, and why. */
  readonly skipped: readonly Omission[]
  /** Measured, and found wrong. */
  readonly failed: readonly Omission[]
}

export function readResult(file: string): Result {
  const result = JSON.parse(readFileSync(file, 'utf8')) as Result
  if (result.format !== FORMAT) throw new Error(`${file} is of format ${String(result.format)}; this version reads format ${FORMAT}`)
  return result
}

export function findRow(rows: readonly Row[], experiment: string, subject: string, label: string): Row | undefined {
  return rows.find((row) => row.experiment === experiment && row.subject === subject && row.label === label)
}
