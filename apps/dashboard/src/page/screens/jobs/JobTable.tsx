/** The rows of the list. A row is drawn again only if its job has changed. */

import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { JobAnswer } from '../../api/answers.ts'
import { duration } from '../../format/durations.ts'
import { shortId } from '../../format/ids.ts'
import { attemptsOf } from '../../job/attempts.ts'
import { shownState } from '../../job/state.ts'
import { now, router } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { memo } from '../../parts/memo.ts'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobLink, jobsLink } from '../../router/links.ts'
import { Gap } from '../../window/Gap.tsx'
import { useWindowed } from '../../window/useWindowed.ts'
import { type Column, dataOf, timeOf, tookMs } from './cells.ts'
import { isSelected, type Selection } from './selection.ts'
import type { Tab } from './tabs.ts'
import { JOBS_TEXT as text } from './text.ts'

interface Props {
  readonly tab: Tab
  readonly jobs: readonly JobAnswer[]
  readonly columns: readonly Column[]
  readonly currentId: string | undefined
  readonly peekedId: string | undefined
  readonly onPeek: (id: string) => void
  /** Undefined if the user may change nothing. */
  readonly selection: Selection | undefined
  readonly onSelect: (id: string, isRange: boolean) => void
  readonly onSelectAll: () => void
}

export function JobTable({ tab, jobs, columns, currentId, peekedId, onPeek, selection, onSelect, onSelectAll }: Props) {
  const { ref, drawn } = useWindowed<HTMLTableSectionElement>(jobs.length)
  return (
    <table class="list jobs" aria-rowcount={jobs.length + 1}>
      <thead>
        <tr>
          {selection !== undefined && (
            <th class="fit">
              <input
                type="checkbox"
                aria-label={text.selectAll}
                checked={selection.allAt !== undefined}
                indeterminate={selection.allAt === undefined && selection.ids.size > 0}
                onClick={onSelectAll}
              />
            </th>
          )}
          <th class="job">{text.columns.job}</th>
          {columns.map((column) => (
            <th key={column} class={STYLES[column]}>
              {headOf(column, tab)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={ref}>
        <Gap px={drawn.abovePx} />
        {jobs.slice(drawn.from, drawn.to).map((job, place) => (
          <Row
            key={job.id}
            job={job}
            rowIndex={drawn.from + place + 2}
            columns={columns}
            isCurrent={job.id === currentId}
            isPeeked={job.id === peekedId}
            onPeek={onPeek}
            isSelected={selection && isSelected(selection, job.id)}
            onSelect={onSelect}
          />
        ))}
        <Gap px={drawn.belowPx} />
      </tbody>
    </table>
  )
}

const STYLES: Readonly<Record<Column, string>> = {
  queue: 'queue opt',
  error: 'error',
  worker: 'worker opt',
  progress: 'progress',
  data: 'data opt',
  runs: 'r runs opt',
  took: 'r took opt',
  time: 'r time',
}

function headOf(column: Column, tab: Tab): string {
  if (column === 'time') return text.columns.time[tab]
  return column === 'took' && tab === 'active' ? text.columns.running : text.columns[column]
}

interface RowProps {
  readonly job: JobAnswer
  readonly rowIndex: number
  readonly columns: readonly Column[]
  readonly isCurrent: boolean
  readonly isPeeked: boolean
  readonly onPeek: (id: string) => void
  readonly isSelected: boolean | undefined
  readonly onSelect: (id: string, isRange: boolean) => void
}

const Row = memo(function Row({ job, rowIndex, columns, isCurrent, isPeeked, onPeek, isSelected: isChecked, onSelect }: RowProps) {
  const onClick = (event: MouseEvent) => {
    if ((event.target as Element).closest('a, button, input') === null) onPeek(job.id)
  }
  return (
    <tr data-job={job.id} aria-rowindex={rowIndex} aria-selected={isPeeked} class={isCurrent ? 'current' : ''} onClick={onClick}>
      {isChecked !== undefined && (
        <td class="fit">
          <input
            type="checkbox"
            aria-label={text.select(job.name, shortId(job.id))}
            checked={isChecked}
            onClick={(event) => onSelect(job.id, event.shiftKey)}
          />
        </td>
      )}
      <td class="job">
        <span class="inline">
          <StateIcon state={shownState(job)} size={14} />
          <a href={router.to(jobLink(job.id))} class="strong">
            {job.name}
          </a>
          <span class="mono faint">{shortId(job.id)}</span>
        </span>
      </td>
      {columns.map((column) => (
        <td key={column} class={STYLES[column]}>
          {CELLS[column](job)}
        </td>
      ))}
    </tr>
  )
})

const CELLS: Readonly<Record<Column, (job: JobAnswer) => ComponentChildren>> = {
  queue: ({ queue }) => (
    <a class="muted" href={router.to(jobsLink({ queue }))}>
      {queue}
    </a>
  ),
  error: (job) => <LastError job={job} />,
  worker: ({ lastRun }) => <span class="muted">{lastRun?.worker}</span>,
  progress: (job) => <Progress job={job} />,
  data: (job) => job.summary ?? <Data job={job} />,
  runs: (job) => {
    const attempts = attemptsOf(job)
    return attempts === undefined ? <span class="faint">–</span> : text.runs(...attempts)
  },
  took: (job) => <Took job={job} />,
  time: (job) => (
    <span class="muted">
      <Ago at={timeOf(job).at} />
    </span>
  ),
}

/** The message tells jobs of one kind apart; the name of the error is its title. */
function LastError({ job: { lastRun, state, progressNote } }: { readonly job: JobAnswer }) {
  const error = lastRun?.error
  if (error === undefined || state === 'completed') return <span class="faint">{state === 'active' ? progressNote : ''}</span>
  return (
    <span class="mono muted" title={`${error.name}: ${error.message}`}>
      {error.message || error.name}
    </span>
  )
}

function Progress({ job: { progress, progressNote } }: { readonly job: JobAnswer }) {
  if (progress === undefined) return <span class="faint">–</span>
  return (
    <span class="inline">
      <progress max={1} value={progress} aria-label={text.columns.progress} />
      <span class="muted">{text.percent(progress)}</span>
      <span class="faint">{progressNote}</span>
    </span>
  )
}

function Data({ job }: { readonly job: JobAnswer }) {
  const data = dataOf(job)
  if (data === undefined) return null
  return (
    <span class="mono faint">
      {data.raw}
      {data.pairs.map(({ name, value, isRedacted }, place) => (
        <span key={name}>
          {place > 0 && ' · '}
          {name} {isRedacted ? <span class="redacted">{text.hidden}</span> : <span class="value">{value}</span>}
        </span>
      ))}
    </span>
  )
}

function Took({ job }: { readonly job: JobAnswer }) {
  const ms = useComputed(() => tookMs(job, job.state === 'active' ? now.value : 0)).value
  return ms === undefined ? <span class="faint">–</span> : <span class="muted">{duration(ms)}</span>
}
