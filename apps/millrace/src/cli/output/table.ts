/** Aligned columns for people. */
import { Line, type Text, widthOf, written } from './line.ts'

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => Text
  /** True to align the column at the right, as for numbers. */
  readonly right?: boolean
}

const GAP = '  '

/** Returns the titles and the rows, each as a line without spaces at its end. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  title: (text: string) => Text = (text) => text,
): Line[] {
  const cells = rows.map((row) => columns.map((column) => column.text(row)))
  const widths = columns.map((column, index) => Math.max(column.title.length, ...cells.map((row) => widthOf(row[index] as Text))))
  const lineOf = (texts: readonly Text[]) =>
    texts
      .map((text, index) => pad(text, widths[index] as number, columns[index]?.right === true))
      .join(GAP)
      .trimEnd()
  const titles = lineOf(columns.map((column) => column.title))
  return [new Line(written(title(titles))), ...cells.map((row) => new Line(lineOf(row)))]
}

function pad(text: Text, width: number, right: boolean): string {
  const space = ' '.repeat(width - widthOf(text))
  return right ? space + written(text) : written(text) + space
}
