/** Writes the blocks of docs/compare.md: a table for each group, and the sentences below it. */
import { durable } from './durable.ts'
import { enqueue } from './enqueue.ts'
import { flows } from './flows.ts'
import { keys } from './keys.ts'
import { languages } from './languages.ts'
import { limits } from './limits.ts'
import { observe } from './observe.ts'
import { operate } from './operate.ts'
import { retries } from './retries.ts'
import { type Group, MARKS, type Mark, marksOf, PEERS, type Row } from './row.ts'
import { schedules } from './schedules.ts'
import { testing } from './testing.ts'
import { workers } from './workers.ts'

export const GROUPS: readonly Group[] = [
  enqueue,
  schedules,
  retries,
  limits,
  keys,
  flows,
  workers,
  observe,
  operate,
  durable,
  testing,
  languages,
]

const line = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`

function rowLine(row: Row): string {
  const mark = MARKS[row.own]
  const own = row.proof === undefined ? mark : `[${mark}](../${row.proof[0]})`
  return line(row.feature, own, ...marksOf(row).map((word) => MARKS[word as Mark]))
}

/** What a cell alone does not say, by feature. */
function noteLines(rows: readonly Row[]): readonly string[] {
  return rows
    .filter(({ notes }) => Object.keys(notes).length > 0)
    .map(({ feature, notes }) => {
      const said = PEERS.filter(({ key }) => notes[key] !== undefined).map(({ key, name }) => `*${name}*: ${notes[key]}`)
      return `- **${feature}.** ${said.join(' · ')}`
    })
}

const whyLines = (rows: readonly Row[]) => rows.filter(({ why }) => why !== undefined).map(({ feature, why }) => `- **${feature}.** ${why}`)

const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, '', ...lines])

export function blockOf({ rows }: Group): string {
  return [
    line('feature', 'Millrace', ...PEERS.map(({ name }) => name)),
    line('---', ...[...PEERS, 'Millrace'].map(() => ':-:')),
    ...rows.map(rowLine),
    ...section('Missing in Millrace, with the reason:', whyLines(rows)),
    ...section('Notes on cells:', noteLines(rows)),
  ].join('\n')
}
