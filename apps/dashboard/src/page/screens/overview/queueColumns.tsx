/** The columns of lists of queues: the overview shows some of them, the list of queues others. */
import { act } from '../../actions/act.ts'
import { pause } from '../../actions/pauses.ts'
import { sum } from '../../chart/paths.ts'
import { duration } from '../../format/durations.ts'
import { change, count, rate } from '../../format/numbers.ts'
import { router, sessions } from '../../page.ts'
import { Gauge } from '../../parts/Gauge.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Spark } from '../../parts/Spark.tsx'
import type { Column } from '../../parts/Table.tsx'
import { jobsLink, queueLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import type { QueueRow } from './queueRows.ts'

const { overview: text } = TEXT
const { columns } = text
export const NOTHING = '–'

type QueueColumn = Column<QueueRow>

const name: QueueColumn = {
  head: columns.queue,
  style: 'queue',
  cell: ({ name, tags }) => (
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
  ),
}

const waiting: QueueColumn = { head: columns.waiting, style: 'r', cell: ({ waiting }) => count(waiting) }

const net = (period: string): QueueColumn => ({
  head: columns.net(period),
  style: 'r opt muted',
  cell: ({ net }) => (net === undefined ? NOTHING : change(net)),
})

/** A gauge if there is a limit, else the number of jobs that run. */
const running: QueueColumn = {
  head: columns.running,
  style: 'gauge-column',
  cell: ({ active, limit, isTight }) =>
    limit === undefined ? (
      <span class="muted">{active === 0 ? NOTHING : count(active)}</span>
    ) : (
      <span class="inline">
        <Gauge value={active} limit={limit} tight={isTight} />
        <span class="muted">
          {count(active)} / {count(limit)}
        </span>
      </span>
    ),
}

const trend = (period: string): QueueColumn => ({
  head: columns.trend(period),
  style: 'spark-column opt',
  cell: ({ name, spark }) =>
    spark !== undefined && <Spark {...spark} label={text.spark(name, count(sum(spark.completed)), count(sum(spark.failed)))} />,
})

const done: QueueColumn = { head: columns.done, style: 'r opt', cell: ({ donePerSecond }) => rate(donePerSecond) }

const failed = (period: string): QueueColumn => ({
  head: columns.failed(period),
  style: 'r opt',
  tone: ({ failed }) => (failed ? '' : 'faint'),
  cell: ({ failed }) => (failed ? count(failed) : NOTHING),
})

const oldest: QueueColumn = {
  head: columns.oldest,
  style: 'r',
  tone: ({ waiting, waits }) => (waits === undefined || waiting === 0 ? 'muted' : `strong s-${waits}`),
  cell: ({ waiting, oldestWaitingMs }) => (waiting === 0 ? NOTHING : duration(oldestWaitingMs)),
}

const actions: QueueColumn = {
  head: columns.actions,
  style: 'fit opt',
  cell: ({ name, paused }) => (
    <Menu label={TEXT.actions.menu(name)} button={<Icon name="more" />}>
      <a class="item" href={router.to(jobsLink({ queue: name }))}>
        {text.showJobs}
      </a>
      <a class="item" href={router.to(jobsLink({ queue: name, state: 'failed' }))}>
        {text.showFailed}
      </a>
      {sessions.can('admin') && (
        <button type="button" class="item" onClick={() => void act(pause(paused ? 'resume' : 'pause', name))}>
          {paused ? text.resume : text.pause}
        </button>
      )}
    </Menu>
  ),
}

export const queueColumns = { name, waiting, net, running, trend, done, failed, oldest, actions }
