import { useMemo } from 'preact/hooks'
import { shortId } from '../../format/ids.ts'
import { clockTime, exactTime, type Zone } from '../../format/times.ts'
import { router, settings } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { jobLink, queueLink } from '../../router/links.ts'
import type { EventRow } from './rows.ts'
import { EVENTS_TEXT as text } from './text.ts'

const { columns } = text

export function EventTable({ rows }: { readonly rows: readonly EventRow[] }) {
  const zone = settings.zone.value
  const table = useMemo(() => [timeColumn(zone), ...COLUMNS], [zone])
  return <Table name="events" rows={rows} columns={table} keyOf={({ seq }) => seq} />
}

const timeColumn = (zone: Zone): Column<EventRow> => ({
  ...{ head: columns.time, style: 'time muted' },
  cell: ({ at }) => {
    if (at === undefined) return null
    const ms = Date.parse(at)
    return (
      <time dateTime={at} title={exactTime(ms, zone)}>
        {clockTime(ms, zone)}
      </time>
    )
  },
})

const COLUMNS: readonly Column<EventRow>[] = [
  {
    ...{ head: columns.type, style: 'type' },
    cell: ({ icon, tone, type }) => (
      <span class="inline">
        <span class={tone ?? 'muted'}>
          <Icon name={icon} size={13} />
        </span>
        {type}
      </span>
    ),
  },
  {
    ...{ head: columns.what, style: 'what' },
    cell: ({ what, link, jobId }) => (
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
    ),
  },
  {
    ...{ head: columns.queue, style: 'queue opt' },
    cell: ({ queue }) =>
      queue !== undefined && (
        <a href={router.to(queueLink(queue))} class="muted">
          {queue}
        </a>
      ),
  },
  { head: columns.detail, style: 'muted', title: ({ detail }) => detail, cell: ({ detail }) => detail },
]
