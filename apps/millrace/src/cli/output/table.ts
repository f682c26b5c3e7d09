/** Aligned columns for people. */
import { stripVTControlCharacters } from 'node:util'

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** Numbers stand at the right. */
  readonly right?: boolean
}

const GAP = '  '

/** Titles and rows, each a line without spaces at its end. */
export function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], title = (text: string) => text): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))))
  const widths = columns.map((column, index) => Math.max(column.title.length, ...cells.map((line) => widthOf(line[index] as string))))
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => pad(text, widths[index] as number, columns[index]?.right === true))
      .join(GAP)
      .trimEnd()
  return [title(line(columns.map((column) => column.title))), ...cells.map(line)]
}

/** What a program that draws on a terminal might be told by a job's name or an error's text stays out of it. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced; styles of our own begin with ESC [ and end with m.
  return text.replace(/\u001b(?!\[\d{1,3}m)|[\u0000-\u001a\u001c-\u001f\u007f-\u009f]/g, ' ')
}

/** Characters, as a terminal counts them: styles take no room. */
function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(width - widthOf(text))
  return right ? space + text : text + space
}
