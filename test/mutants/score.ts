/** What came of the mutants, as a table with a score and its confidence. */
import { AREAS, areaOf } from './areas.ts'
import type { Outcome, Verdict } from './campaign.ts'
import type { Mutant } from './plant.ts'

/** A mutant that no test can tell from the source. */
export interface Equivalent {
  readonly file: string
  readonly before: string
  readonly after: string
  readonly why: string
}

export interface Result extends Mutant, Outcome {}

/** A key that lasts while lines move. */
export function keyOf({ file, before, after }: Pick<Mutant, 'file' | 'before' | 'after'>): string {
  return JSON.stringify([file, before, after])
}

/** Those that fit no mutant of the files any more. */
export function stale(equivalents: readonly Equivalent[], mutants: readonly Mutant[]): Equivalent[] {
  const known = new Set(mutants.map(keyOf))
  return equivalents.filter((one) => !known.has(keyOf(one)))
}

const COLUMNS: readonly (Verdict | 'equivalent')[] = ['unit', 'simulation', 'system', 'timeout', 'survived', 'equivalent']

/** Lines of Markdown: one for each area that has results, and one for all. */
export function table(results: readonly Result[], equivalents: readonly Equivalent[]): string[] {
  const known = new Set(equivalents.map(keyOf))
  const row = (name: string, of: readonly Result[]): string => {
    const counts = COLUMNS.map(
      (column) =>
        of.filter((result) => (result.verdict === 'survived' && known.has(keyOf(result)) ? 'equivalent' : result.verdict) === column)
          .length,
    )
    const [survived, equivalent] = counts.slice(-2) as [number, number]
    const judged = of.length - equivalent
    return `| ${[name, of.length, ...counts, percentage(judged - survived, judged)].join(' | ')} |`
  }
  return [
    `| area | planted | ${COLUMNS.join(' | ')} | score (95 %) |`,
    `|${'---|'.repeat(COLUMNS.length + 3)}`,
    ...AREAS.flatMap(({ name }) => {
      const of = results.filter(({ file }) => areaOf(file).name === name)
      return of.length === 0 ? [] : [row(name, of)]
    }),
    row('all', results),
  ]
}

function percentage(killed: number, of: number): string {
  if (of === 0) return '-'
  const [low, high] = wilson(killed, of)
  return `${percent(killed / of)} % (${percent(low)} to ${percent(high)})`
}

const percent = (share: number) => (share * 100).toFixed(1)

/** The interval of Wilson: where the share of all mutants is, with a confidence of 95 %, if those tried were drawn at random. */
export function wilson(hits: number, of: number): [number, number] {
  const z = 1.96
  const share = hits / of
  const middle = share + z ** 2 / (2 * of)
  const half = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2))
  const whole = 1 + z ** 2 / of
  return [Math.max(0, (middle - half) / whole), Math.min(1, (middle + half) / whole)]
}
