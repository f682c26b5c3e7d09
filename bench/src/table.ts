/** A result as Markdown: one table per experiment, what was not measured, and whether the goals are met. */
import type { Experiment } from './experiments/experiment.ts'
import { EXPERIMENTS } from './experiments/list.ts'
import { figureOf, formatFigure } from './figures.ts'
import { GOALS } from './goals.ts'
import type { Omission, Result, Row } from './result.ts'

export function tableOf(result: Result): string {
  const sections = EXPERIMENTS.flatMap((experiment) => {
    const rows = result.rows.filter((row) => row.experiment === experiment.name)
    return rows.length === 0 ? [] : [section(experiment, rows)]
  })
  return [heading(result), ...sections, ...goals(result), ...list('Not measured', result.skipped), ...list('Failed', result.failed)].join(
    '\n\n',
  )
}

function heading({ date, commit, machine, versions, settings }: Result): string {
  const facts = (record: Readonly<Record<string, string | number>>) =>
    Object.entries(record)
      .map(([name, value]) => `${name} ${typeof value === 'number' ? value.toLocaleString('en') : value}`)
      .join(', ')
  return [
    `Measured ${date}, commit ${commit}.`,
    `Machine: ${facts(machine)}.`,
    `Versions: ${facts(versions)}.`,
    `Settings: ${facts(settings)}.`,
  ].join('\n')
}

function section(experiment: Experiment, rows: readonly Row[]): string {
  const { name, what, headline, columns } = experiment
  const shown = columns.filter((column) => rows.some((row) => row.figures[column] !== undefined))
  const withRatio = rows.some((row) => row.ratio !== undefined)
  const head = [
    'system',
    'setting',
    'jobs',
    figureOf(headline).title,
    'spread',
    ...(withRatio ? [experiment.ratioTitle] : []),
    ...shown.map((column) => figureOf(column).title),
  ]
  const noted = new Set<string>()
  const body = rows.map((row) => [
    row.subject,
    settingOf(row, noted),
    formatFigure('jobs', row.settings.jobs),
    formatFigure(headline, row.figures[headline]),
    `${Math.round(row.spread * 100)} %`,
    ...(withRatio ? [row.ratio?.toFixed(2) ?? ''] : []),
    ...shown.map((column) => formatFigure(column, row.figures[column])),
  ])
  return `### ${name}\n\n${what}\n\n${markdown(head, body)}`
}

/** With how another system is set up, in its first row that is set up so. */
function settingOf({ subject, label, note }: Row, noted: Set<string>): string {
  const own = `${subject}: ${note}`
  if (note === undefined || noted.has(own)) return label
  noted.add(own)
  return `${label}: ${note}`
}

function goals({ rows }: Result): string[] {
  const held = GOALS.flatMap((goal) => goal(rows))
  if (held.length === 0) return []
  const body = held.map(({ what, measured, bound, summit, met }) => [what, measured, bound, summit, met ? 'yes' : 'no'])
  return [`### goals\n\n${markdown(['what', 'measured', 'at least', 'the summit', 'met'], body)}`]
}

function list(title: string, omissions: readonly Omission[]): string[] {
  if (omissions.length === 0) return []
  return [`${title}:\n\n${omissions.map(({ subject, experiment, reason }) => `- ${subject}, ${experiment}: ${reason}`).join('\n')}`]
}

export function markdown(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')
}
