/** Aligned columns for people. */
import { visible } from '../../visible.ts'
import { Line, type Text, widthOf, written } from './line.ts'

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => Text
  /** True to align the column at the right, as for numbers. */
  readonly right?: boolean
  /** True if its values may be cut where the terminal is too narrow: names, but no ids and numbers. */
  readonly elastic?: boolean
}

const GAP = '  '
/** Elastic values are not cut to less, however narrow the terminal is. */
const LEAST = 12

/**
 * Returns the titles and the rows, each as a line without spaces at its end.
 *
 * @param width the width to fit into, if elastic values make that possible. Default: no limit
 */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  title: (text: string) => Text = (text) => text,
  width = Number.POSITIVE_INFINITY,
): Line[] {
  const whole = rows.map((row) => columns.map((column) => column.text(row)))
  const wanted = columns.map((column, index) => Math.max(column.title.length, ...whole.map((row) => widthOf(row[index] as Text))))
  const widths = fitted(columns, wanted, width)
  const cells = whole.map((row) => row.map((text, index) => cutTo(text, widths[index] as number)))
  const lineOf = (texts: readonly Text[]) =>
    texts
      .map((text, index) => pad(text, widths[index] as number, columns[index]?.right === true))
      .join(GAP)
      .trimEnd()
  const titles = lineOf(columns.map((column) => column.title))
  return [new Line(written(title(titles))), ...cells.map((row) => new Line(lineOf(row)))]
}

/** Takes the room that is missing from the widest elastic columns. */
function fitted<Row>(columns: readonly Column<Row>[], wanted: readonly number[], width: number): readonly number[] {
  const widths = [...wanted]
  let over = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1) - width
  while (over > 0) {
    const elastic = [...columns.keys()].filter((index) => columns[index]?.elastic === true && (widths[index] as number) > LEAST)
    const widest = elastic.toSorted((a, b) => (widths[b] as number) - (widths[a] as number))[0]
    if (widest === undefined) return widths
    const next = Math.max(LEAST, ...elastic.filter((index) => index !== widest).map((index) => widths[index] as number))
    const taken = Math.max(1, Math.min(over, (widths[widest] as number) - next))
    widths[widest] = (widths[widest] as number) - taken
    over -= taken
  }
  return widths
}

/** Cuts a value, which has no styles. */
function cutTo(text: Text, width: number): Text {
  if (typeof text !== 'string' || widthOf(text) <= width) return text
  return new Line(`${[...visible(text)].slice(0, width - 1).join('')}…`)
}

function pad(text: Text, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return right ? space + written(text) : written(text) + space
}
