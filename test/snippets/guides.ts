/** The tables of the guides in docs/migrate, of which the right column says what to write in Millrace. */
import { PAGES, readPage } from './blocks.ts'

export interface Table {
  readonly page: string
  readonly heading: string
  /** The header of its left column. */
  readonly theirs: string
  readonly rows: readonly Row[]
}

export interface Row {
  /** The page and its line, such as `docs/migrate/bullmq.md:176`. */
  readonly place: string
  readonly left: string
  /** The cell that speaks of Millrace. */
  readonly cell: string
  /** Its code, as between ticks. */
  readonly codes: readonly string[]
}

const cellsOf = (line: string): string[] =>
  line
    .replaceAll('\\|', '\0')
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.replaceAll('\0', '|').trim())

function tablesOf(page: string): readonly Table[] {
  const lines = readPage(page).split('\n')
  return lines.flatMap((line, at): Table[] => {
    if (!line.startsWith('|') || !/^\|[-| ]+\|$/.test(lines[at + 1] ?? '')) return []
    const [theirs = '', ...headers] = cellsOf(line)
    // Theirs and ours, or each with its default.
    const ours = headers.length === 3 ? 2 : headers.length
    const end = lines.findIndex((each, index) => index > at && !each.startsWith('|'))
    const rows = lines.slice(at + 2, end).map((each, index): Row => {
      const cells = cellsOf(each)
      const cell = cells[ours] ?? ''
      const codes = [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
      return { place: `${page}:${at + 3 + index}`, left: cells[0] ?? '', cell, codes }
    })
    const heading = lines.slice(0, at).findLast((each) => each.startsWith('#')) ?? ''
    return [{ page, heading: heading.replace(/^#+ /, ''), theirs, rows }]
  })
}

export const TABLES: readonly Table[] = PAGES.filter((page) => page.startsWith('docs/migrate/')).flatMap(tablesOf)
