/** Which charts a result has. One without its rows is left out. */
import { SHAPES } from './experiments/growth.ts'
import { formatFigure } from './figures.ts'
import { findRow, type Result, type Row } from './result.ts'
import type { Bar, Chart } from './svg/bars.ts'

const CLASSES: readonly (readonly [label: string, title: string])[] = [
  ['full', 'synced before the answer'],
  ['normal', 'safe from a crash of the process'],
]
const OPERATIONS = ['enqueue', 'bulk', 'drain', 'endToEnd']

export function chartsOf(result: Result): Readonly<Record<string, Chart>> {
  const origin = `${result.machine['cores']} cores, Node ${result.versions['node']}, ${result.date.slice(0, 10)}`
  const charts: Record<string, Chart> = {
    'whole-jobs': {
      title: 'Whole jobs per second',
      subtitle: `enqueued, handled, completed; 500 in flight; ${origin}`,
      groups: CLASSES.map(([label, title]) => ({ title, bars: ranked(rowsOf(result, 'endToEnd', label)).map(rateBar) })),
    },
    operations: {
      title: 'Jobs per second, beside the limit',
      subtitle: `the limit: a hand-written better-sqlite3 loop, row by row; synced; ${origin}`,
      groups: OPERATIONS.map((experiment) => ({
        title: experiment,
        bars: ['limit', 'millrace'].flatMap((subject) => findRow(result.rows, experiment, subject, 'full') ?? []).map(rateBar),
      })),
    },
    idle: {
      title: 'Idle: from enqueue to the start of the handler',
      subtitle: `microseconds, p50; ${origin}`,
      groups: CLASSES.map(([label, title]) => ({ title, bars: ranked(rowsOf(result, 'idle', label)).map(latencyBar) })),
    },
    growth: {
      title: 'Whole jobs per second, with a backlog in the file',
      subtitle: `as a share of an empty file's; ${origin}`,
      groups: Object.entries(SHAPES).map(([shape, title]) => ({ title, bars: result.rows.flatMap((row) => growthBar(row, shape)) })),
    },
  }
  return Object.fromEntries(Object.entries(charts).flatMap(([name, chart]) => withBars(name, chart)))
}

function withBars(name: string, chart: Chart): [string, Chart][] {
  const groups = chart.groups.filter(({ bars }) => bars.length > 0)
  return groups.length === 0 ? [] : [[name, { ...chart, groups }]]
}

function rowsOf({ rows }: Result, experiment: string, label: string): Row[] {
  return rows.filter((row) => row.experiment === experiment && row.label === label)
}

/** Longest bar first. */
function ranked(rows: readonly Row[]): Row[] {
  const headline = ({ figures }: Row) => figures['jobsPerSecond'] ?? figures['p50Micros'] ?? 0
  return rows.toSorted((a, b) => headline(b) - headline(a))
}

function rateBar({ subject, figures, ratio }: Row): Bar {
  const value = figures['jobsPerSecond'] ?? 0
  const share = ratio !== undefined && subject === 'millrace' ? `, ${ratio.toFixed(2)} of the limit` : ''
  return { label: subject, value, text: `${formatFigure('jobsPerSecond', value)}/s${share}`, kind: kindOf(subject) }
}

function latencyBar({ subject, figures }: Row): Bar {
  const { p50Micros = 0, p99Micros = 0 } = figures
  return {
    label: subject,
    value: p50Micros,
    text: `${formatFigure('p50Micros', p50Micros)} µs, p99 ${formatFigure('p99Micros', p99Micros)}`,
    kind: kindOf(subject),
  }
}

function growthBar({ experiment, settings, figures, ratio }: Row, shape: string): Bar[] {
  if (experiment !== 'growth' || ratio === undefined || settings.backlog !== shape) return []
  const rate = formatFigure('jobsPerSecond', figures['jobsPerSecond'])
  return [{ label: (settings.backlogJobs ?? 0).toLocaleString('en'), value: ratio, text: `${ratio.toFixed(2)}, ${rate}/s`, kind: 'own' }]
}

function kindOf(subject: string): Bar['kind'] {
  if (subject === 'millrace') return 'own'
  return subject === 'limit' || subject === 'one sync' ? 'limit' : 'other'
}
