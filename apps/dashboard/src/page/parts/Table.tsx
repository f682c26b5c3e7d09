/** A table by its columns. Long ones are drawn only where they are seen. */
import type { ComponentChildren } from 'preact'
import { Gap } from '../window/Gap.tsx'
import { useWindowed } from '../window/useWindowed.ts'
import { memo } from './memo.ts'

export interface Column<Row> {
  readonly head: string
  /** Classes of the head and of the cells. The head of a column that fits its buttons, `fit`, is for screen readers alone. */
  readonly style?: string
  /** Further classes of a cell. */
  readonly tone?: (row: Row) => string
  readonly title?: (row: Row) => string | undefined
  readonly cell: (row: Row, isShown: boolean) => ComponentChildren
}

interface Props<Row> {
  /** The class that bounds its styles. */
  readonly name: string
  readonly rows: readonly Row[]
  /** The same list from one look to the next: another one draws all rows again. */
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string | number
  /** The key of the row that is shown beside the table. */
  readonly shown?: string | number | undefined
}

export function Table<Row>({ name, rows, columns, keyOf, shown }: Props<Row>) {
  const { ref, drawn } = useWindowed<HTMLTableSectionElement>(rows.length)
  const { from, to, abovePx, belowPx } = drawn
  return (
    <table class={`list ${name}`} aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          {columns.map(({ head, style }) => (
            <th key={head} class={style}>
              {style?.startsWith('fit') ? <span class="visually-hidden">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={ref}>
        <Gap px={abovePx} />
        {rows.slice(from, to).map((row, place) => (
          <TableRow
            key={keyOf(row)}
            row={row}
            columns={columns}
            isShown={keyOf(row) === shown}
            // A row that moves is not drawn again for its number, unless numbers are missing.
            rowIndex={to - from < rows.length ? from + place + 2 : undefined}
          />
        ))}
        <Gap px={belowPx} />
      </tbody>
    </table>
  )
}

interface TableRowProps {
  readonly row: unknown
  readonly columns: readonly Column<never>[]
  readonly isShown: boolean
  readonly rowIndex: number | undefined
}

/** Drawn again only if the row is another one: those that did not change keep their old objects. */
const TableRow = memo(function TableRow({ row, columns, isShown, rowIndex }: TableRowProps) {
  const own = row as never
  return (
    <tr aria-rowindex={rowIndex} aria-selected={isShown || undefined}>
      {columns.map(({ head, style = '', tone, title, cell }) => (
        <td key={head} class={`${style} ${tone?.(own) ?? ''}`} title={title?.(own)}>
          {cell(own, isShown)}
        </td>
      ))}
    </tr>
  )
})
