import { cut } from '../../format/cut.ts'
import { Ago } from '../../parts/Ago.tsx'
import { memo } from '../../parts/memo.ts'
import { Spark } from '../../parts/Spark.tsx'
import type { GroupRow } from './groups.ts'
import { ERRORS_TEXT as text } from './text.ts'

interface Props {
  readonly rows: readonly GroupRow[]
  readonly openId: string | undefined
  readonly onOpen: (id: string) => void
}

const MESSAGE_LENGTH = 300
/** No counts: none of these runs has completed. */
const NONE: readonly number[] = []

export function GroupTable({ rows, openId, onOpen }: Props) {
  const { columns } = text
  return (
    <table class="list groups">
      <thead>
        <tr>
          <th>{columns.error}</th>
          <th class="where opt">{columns.where}</th>
          <th class="trend opt">{columns.trend}</th>
          <th class="r runs">{columns.runs}</th>
          <th class="r seen opt">{columns.first}</th>
          <th class="r seen">{columns.last}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id} row={row} isOpen={row.id === openId} onOpen={onOpen} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps {
  readonly row: GroupRow
  readonly isOpen: boolean
  readonly onOpen: (id: string) => void
}

const Row = memo(function Row({ row: { failure, id, isNew }, isOpen, onOpen }: RowProps) {
  const { error, message, queue, name, count, firstAt, lastAt, trend = NONE } = failure
  return (
    <tr data-group={id} aria-selected={isOpen} onClick={() => onOpen(id)}>
      <td>
        <button type="button" class={isNew ? 'strong s-failed' : 'strong'}>
          {error}
        </button>{' '}
        {isNew && <span class="tag bad">{text.isNew}</span>}
        <br />
        <span class="mono muted">{cut(message ?? '', MESSAGE_LENGTH)}</span>
      </td>
      <td class="opt muted">{text.where(queue, name)}</td>
      <td class="opt">
        <Spark completed={NONE} failed={trend} label={text.trend(trend)} />
      </td>
      <td class="r">{text.runs(count)}</td>
      <td class="r opt muted">
        <Ago at={firstAt} />
      </td>
      <td class="r muted">
        <Ago at={lastAt} />
      </td>
    </tr>
  )
})
