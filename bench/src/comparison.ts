/** Two results, row by row: what got slower, what got faster. */
import type { Experiment } from './experiments/experiment.ts'
import { EXPERIMENTS } from './experiments/list.ts'
import { figureOf } from './figures.ts'
import { findRow, type Result, type Row } from './result.ts'

export interface Change {
  readonly row: string
  readonly figure: string
  readonly before: number
  readonly after: number
  /** Positive: better. */
  readonly gain: number
  readonly verdict: 'slower' | 'faster' | 'same'
}

export interface Comparison {
  readonly changes: readonly Change[]
  /** Why they may not be comparable. */
  readonly warnings: readonly string[]
}

/** A change counts from `threshold` on, and beyond what the repetitions of either differ by. */
export function compareResults(before: Result, after: Result, threshold: number): Comparison {
  const changes = EXPERIMENTS.flatMap((experiment) =>
    before.rows
      .filter((row) => row.experiment === experiment.name)
      .flatMap((old) => {
        const now = findRow(after.rows, old.experiment, old.subject, old.label)
        return now === undefined ? [] : [changeOf(experiment, old, now, threshold)]
      }),
  )
  return { changes, warnings: warningsOf(before, after, changes) }
}

function changeOf({ headline }: Experiment, old: Row, now: Row, threshold: number): Change {
  const before = old.figures[headline] ?? 0
  const after = now.figures[headline] ?? 0
  const gain = figureOf(headline).better === 'lower' ? before / after - 1 : after / before - 1
  const noise = Math.max(threshold, old.spread, now.spread)
  // As much slower as the other is faster: half the speed is -100 %, twice the speed +100 %.
  const size = gain >= 0 ? gain : 1 / (1 + gain) - 1
  const verdict = size < noise ? 'same' : gain < 0 ? 'slower' : 'faster'
  return { row: `${old.experiment}: ${old.subject}, ${old.label}`, figure: headline, before, after, gain, verdict }
}

function warningsOf(before: Result, after: Result, changes: readonly Change[]): string[] {
  const differing = (what: 'machine' | 'settings') =>
    Object.keys({ ...before[what], ...after[what] })
      .filter((name) => before[what][name] !== after[what][name])
      .map((name) => `${what}: ${name} was ${String(before[what][name])}, is ${String(after[what][name])}`)
  const limits = changes
    .filter(({ row, verdict }) => row.includes(': limit,') && verdict !== 'same')
    .map(({ row, verdict }) => `${row} got ${verdict} itself: the machine was not the same, or not as quiet`)
  return [...differing('machine'), ...differing('settings'), ...limits]
}
