import { shortId } from '../../format/ids.ts'
import { clockTime, exactTime } from '../../format/times.ts'
import { router, settings } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { memo } from '../../parts/memo.ts'
import { jobLink, queueLink } from '../../router/links.ts'
import { Gap } from '../../window/Gap.tsx'
import { useWindowed } from '../../window/useWindowed.ts'
import type { EventRow } from './rows.ts'
import { EVENTS_TEXT as text } from './text.ts'

export function EventTable({ rows }: { readonly rows: readonly EventRow[] }) {
  const { ref, drawn } = useWindowed<HTMLTableSectionElement>(rows.length)
  const { columns } = text
  const zone = settings.zone.value
  return (
    <table class="list events" aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          <th class="time">{columns.time}</th>
          <th class="type">{columns.type}</th>
          <th class="what">{columns.what}</th>
          <th class="queue opt">{columns.queue}</th>
          <th>{columns.detail}</th>
        </tr>
      </thead>
      <tbody ref={ref}>
        <Gap px={drawn.abovePx} />
        {rows.slice(drawn.from, drawn.to).map((row, place) => (
          <Row key={row.seq} row={row} zone={zone} rowIndex={drawn.from + place + 2} />
        ))}
        <Gap px={drawn.belowPx} />
      </tbody>
    </table>
  )
}

interface RowProps {
  readonly row: EventRow
  readonly zone: typeof settings.zone.value
  readonly rowIndex: number
}

const Row = memo(function Row({ row, zone, rowIndex }: RowProps) {
  const { at, icon, tone, type, what, link, jobId, queue, detail } = row
  const ms = at === undefined ? undefined : Date.parse(at)
  return (
    <tr aria-rowindex={rowIndex}>
      <td class="muted">
        {ms !== undefined && (
          <time dateTime={at} title={exactTime(ms, zone)}>
            {clockTime(ms, zone)}
          </time>
        )}
      </td>
      <td>
        <span class="inline">
          <span class={tone ?? 'muted'}>
            <Icon name={icon} size={13} />
          </span>
          {type}
        </span>
      </td>
      <td>
        <span class="inline">
          {link !== undefined && (
            <a href={router.to(link)} class="strong">
              {what}
            </a>
          )}
          {jobId !== undefined && (
            <a href={router.to(jobLink(jobId))} class="mono faint" title={jobId}>
              {shortId(jobId)}
            </a>
          )}
        </span>
      </td>
      <td class="opt">
        {queue !== undefined && (
          <a href={router.to(queueLink(queue))} class="muted">
            {queue}
          </a>
        )}
      </td>
      <td class="muted" title={detail}>
        {detail}
      </td>
    </tr>
  )
})
