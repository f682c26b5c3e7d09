/** What this project holds itself to, and whether a result keeps it. */
import type { Figures } from './measurement.ts'
import { findRow, type Row } from './result.ts'

export interface Held {
  readonly what: string
  readonly measured: string
  readonly bound: string
  readonly met: boolean
}

/** Undefined where the result has no figure for it. */
type Goal = (rows: readonly Row[]) => Held[] | undefined

const OF_LIMIT = 0.4
const IDLE_P50_MICROS = 300
const OF_EMPTY = 0.8
const OPEN_MS = 300
const OPEN_MB = 64

const endToEnd: Goal = (rows) =>
  ['normal', 'full'].flatMap((label) => {
    const ratio = findRow(rows, 'endToEnd', 'millrace', label)?.ratio
    if (ratio === undefined) return []
    return { what: `whole jobs, ${label}`, measured: `${ratio.toFixed(2)} of the limit`, bound: `${OF_LIMIT}`, met: ratio >= OF_LIMIT }
  })

const idle: Goal = (rows) => {
  const micros = findRow(rows, 'idle', 'millrace', 'normal')?.figures['p50Micros']
  if (micros === undefined) return undefined
  return [
    { what: 'idle, normal', measured: `p50 ${Math.round(micros)} µs`, bound: `under ${IDLE_P50_MICROS} µs`, met: micros < IDLE_P50_MICROS },
  ]
}

/** Every backlog against the empty file of its own group. */
const growth: Goal = (rows) => {
  let empty: Figures = {}
  return rows
    .filter(({ experiment }) => experiment === 'growth')
    .flatMap(({ label, ratio, figures }) => {
      if (ratio === undefined) {
        empty = figures
        return []
      }
      const over = (figure: string) => (figures[figure] ?? 0) - (empty[figure] ?? 0)
      return [
        { what: `${label}: whole jobs`, measured: `${ratio.toFixed(2)} of an empty file`, bound: `${OF_EMPTY}`, met: ratio >= OF_EMPTY },
        {
          what: `${label}: open`,
          measured: `${Math.round(over('openMs'))} ms more`,
          bound: `under ${OPEN_MS} ms`,
          met: over('openMs') < OPEN_MS,
        },
        {
          what: `${label}: memory opened`,
          measured: `${over('rssOpenMb').toFixed(1)} MB more`,
          bound: `under ${OPEN_MB} MB`,
          met: over('rssOpenMb') < OPEN_MB,
        },
      ]
    })
}

export const GOALS: readonly Goal[] = [endToEnd, idle, growth]
