/** The flows, newest first, each with its jobs by state; narrowed by the state of the whole flow. */
import type { FlowSummary } from '../../api/answers.ts'
import { shortId } from '../../format/ids.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared } from '../../hooks.ts'
import { router } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { flowLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { Counts } from './Counts.tsx'
import { text } from './text.ts'

const PATH = '/flows'
/** Beats between two questions: the server counts the jobs of each flow. */
const EVERY = 3
const { columns } = text
const STATES = Object.entries(text.states) as [FlowSummary['state'] | '', string][]

export function Flows({ query: { state: asked = '', after } }: ScreenProps) {
  const [state] = STATES.find(([each]) => each === asked) ?? ['']
  const { value, error } = useAnswer('/v1/flows', { state: state || undefined, after }, EVERY)
  const flows = useShared(value?.flows)
  return (
    <Page name="flow" title={TEXT.screens.flows}>
      <div class="toolbar">
        <Segments label={text.state} options={STATES} value={state} onChange={(each) => router.go(PATH, { state: each })} />
      </div>
      {error !== undefined && flows === undefined && <p class="note s-bad">{TEXT.actions.failed(error.message)}</p>}
      {flows !== undefined && flows.length > 0 && (
        <section class="card">
          <Table name="flow-jobs" rows={flows} columns={COLUMNS} keyOf={({ id }) => id} />
        </section>
      )}
      {flows?.length === 0 && (
        <Empty icon="flows" {...(value?.next !== undefined ? text.partial : state === '' ? text.empty : text.none)} />
      )}
      <div class="toolbar">
        {after !== undefined && (
          <a class="btn" href={router.to(PATH, { state })}>
            {text.newest}
          </a>
        )}
        {value?.next !== undefined && (
          <a class="btn" href={router.to(PATH, { state, after: value.next })}>
            {text.older}
          </a>
        )}
      </div>
    </Page>
  )
}

const COLUMNS: readonly Column<FlowSummary>[] = [
  {
    ...{ head: columns.flow, style: 'queue' },
    cell: ({ id, name }) => (
      <>
        <a class="strong" href={router.to(flowLink(id))}>
          {name}
        </a>{' '}
        <span class="mono faint">{shortId(id)}</span>
      </>
    ),
  },
  {
    head: columns.state,
    cell: ({ state }) => (
      <span class="inline">
        <StateIcon state={state === 'running' ? 'active' : state} />
        {text.states[state]}
      </span>
    ),
  },
  { head: columns.jobs, style: 'queue opt', cell: Counts },
  { head: columns.queue, style: 'opt muted', cell: ({ queue }) => queue },
  { head: columns.created, style: 'r muted', cell: ({ enqueuedAt }) => <Ago at={enqueuedAt} /> },
  { head: columns.ended, style: 'r opt muted', cell: ({ finishedAt }) => finishedAt !== undefined && <Ago at={finishedAt} /> },
]
