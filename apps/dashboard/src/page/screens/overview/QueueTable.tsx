import type { ComponentChildren } from 'preact'
import { act } from '../../actions/act.ts'
import { sum } from '../../chart/paths.ts'
import { duration } from '../../format/durations.ts'
import { change, count, rate } from '../../format/numbers.ts'
import { router, sessions } from '../../page.ts'
import { Gauge } from '../../parts/Gauge.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { memo } from '../../parts/memo.ts'
import { Spark } from '../../parts/Spark.tsx'
import { jobsLink, queueLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { pauseAction } from './problems/queues.ts'
import type { QueueRow } from './queueRows.ts'

const { overview: text } = TEXT
const NOTHING = '–'

export function QueueTable({ rows, period }: { readonly rows: readonly QueueRow[]; readonly period: string }) {
  const { columns } = text
  return (
    <section class="card">
      <header>
        <h2>{text.queues}</h2>
        <span class="tag">{text.worstFirst}</span>
        <div class="end">
          <a href={router.to('/queues')}>{text.allQueues}</a>
        </div>
      </header>
      <table class="list queues">
        <thead>
          <tr>
            <th class="queue">{columns.queue}</th>
            <th class="r">{columns.waiting}</th>
            <th class="r opt">{columns.net(period)}</th>
            <th class="gauge-column">{columns.running}</th>
            <th class="spark-column opt">{columns.trend(period)}</th>
            <th class="r opt">{columns.done}</th>
            <th class="r opt">{columns.failed}</th>
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

const Row = memo(function Row({ row }: { readonly row: QueueRow }) {
  const { name, tags, waiting, net, spark, donePerSecond, failed, oldestWaitingMs, waits } = row
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
      <td class="r opt muted">{net === undefined ? NOTHING : change(net)}</td>
      <td>
        <Running row={row} />
      </td>
      <td class="opt">
        {spark !== undefined && <Spark {...spark} label={text.spark(name, count(sum(spark.completed)), count(sum(spark.failed)))} />}
      </td>
      <td class="r opt">{rate(donePerSecond)}</td>
      <td class={failed === undefined || failed === 0 ? 'r opt faint' : 'r opt'}>{failed ? count(failed) : NOTHING}</td>
      <td class={waits === undefined || waiting === 0 ? 'r muted' : `r strong s-${waits}`}>
        {waiting === 0 ? NOTHING : duration(oldestWaitingMs)}
      </td>
      <td class="fit opt">
        <Actions row={row} />
      </td>
    </tr>
  )
})

/** A gauge where there is a limit, else the number of jobs that run. */
function Running({ row: { active, limit, isTight } }: { readonly row: QueueRow }): ComponentChildren {
  if (limit === undefined) return <span class="muted">{active === 0 ? NOTHING : count(active)}</span>
  return (
    <span class="inline">
      <Gauge value={active} limit={limit} tight={isTight} />
      <span class="muted">
        {count(active)} / {count(limit)}
      </span>
    </span>
  )
}

function Actions({ row: { name, paused } }: { readonly row: QueueRow }) {
  return (
    <Menu label={TEXT.actions.menu(name)} button={<Icon name="more" />}>
      <a class="item" href={router.to(jobsLink({ queue: name }))}>
        {text.showJobs}
      </a>
      <a class="item" href={router.to(jobsLink({ queue: name, state: 'failed' }))}>
        {text.showFailed}
      </a>
      {sessions.can('admin') && (
        <button type="button" class="item" onClick={() => void act(pauseAction(name, paused ? 'resume' : 'pause'))}>
          {paused ? text.resume : text.pause}
        </button>
      )}
    </Menu>
  )
}
