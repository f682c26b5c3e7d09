import { act } from '../../actions/act.ts'
import { sum } from '../../chart/paths.ts'
import { duration } from '../../format/durations.ts'
import { count, rate } from '../../format/numbers.ts'
import { router, sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { memo } from '../../parts/memo.ts'
import { Spark } from '../../parts/Spark.tsx'
import { jobsLink, queueLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { pauseQueue } from './pauses.ts'
import { Running } from './Running.tsx'
import type { ListRow } from './rows.ts'
import { text } from './text.ts'

const NOTHING = '–'

export function QueueList({ rows }: { readonly rows: readonly ListRow[] }) {
  const { columns } = text
  return (
    <section class="card">
      <table class="list queues">
        <thead>
          <tr>
            <th class="queue">{columns.queue}</th>
            <th class="r">{columns.waiting}</th>
            <th class="gauge-column">{columns.running}</th>
            <th class="r opt">{columns.retrying}</th>
            <th class="r opt">{columns.failed}</th>
            <th class="spark-column opt">{columns.trend}</th>
            <th class="r opt">{columns.done}</th>
            <th class="r">{columns.oldest}</th>
            <th class="fit opt">
              <span class="visually-hidden">{columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.name} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Row = memo(function Row({ row }: { readonly row: ListRow }) {
  const { name, tags, waiting, spark, donePerSecond, oldestWaitingMs, waits } = row
  return (
    <tr>
      <td>
        <span class="inline">
          <a href={router.to(queueLink(name))} class="strong">
            {name}
          </a>
          {tags.map(({ text, tone }) => (
            <span key={text} class={`tag ${tone} opt`}>
              {text}
            </span>
          ))}
        </span>
      </td>
      <td class="r">{count(waiting)}</td>
      <td>
        <Running active={row.active} limit={row.limit} isTight={row.isTight} />
      </td>
      <Jobs queue={name} state="retrying" number={row.retrying} />
      <Jobs queue={name} state="failed" number={row.dead} />
      <td class="opt">
        {spark !== undefined && (
          <Spark {...spark} label={TEXT.overview.spark(name, count(sum(spark.completed)), count(sum(spark.failed)))} />
        )}
      </td>
      <td class="r opt">{rate(donePerSecond)}</td>
      <td class={waits === undefined || waiting === 0 ? 'r muted' : `r strong s-${waits}`}>
        {waiting === 0 ? NOTHING : duration(oldestWaitingMs)}
      </td>
      <td class="fit opt">
        <Actions row={row} />
      </td>
    </tr>
  )
})

function Jobs({ queue, state, number }: { readonly queue: string; readonly state: 'retrying' | 'failed'; readonly number: number }) {
  if (number === 0) return <td class="r opt faint">{NOTHING}</td>
  return (
    <td class={state === 'failed' ? 'r opt s-failed' : 'r opt'}>
      <a href={router.to(jobsLink({ queue, state }))}>{count(number)}</a>
    </td>
  )
}

function Actions({ row: { name, paused } }: { readonly row: ListRow }) {
  return (
    <Menu label={TEXT.actions.menu(name)} button={<Icon name="more" />}>
      <a class="item" href={router.to(jobsLink({ queue: name }))}>
        {TEXT.overview.showJobs}
      </a>
      {sessions.can('admin') && (
        <button type="button" class="item" onClick={() => void act(pauseQueue(name, paused ? 'resume' : 'pause'))}>
          {paused ? text.resume : text.pause}
        </button>
      )}
    </Menu>
  )
}
