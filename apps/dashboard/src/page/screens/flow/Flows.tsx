/** The flows, newest first, each with its jobs by state; narrowed by the state of the whole flow. */
import type { FlowSummary } from '../../api/answers.ts'
import { shortId } from '../../format/ids.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared } from '../../hooks.ts'
import { router } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { memo } from '../../parts/memo.ts'
import { Segments } from '../../parts/Segments.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { flowLink } from '../../router/links.ts'
import type { ScreenProps } from '../../screens.ts'
import { TEXT } from '../../text.ts'
import { Counts } from './Counts.tsx'
import { text } from './text.ts'

const PATH = '/flows'
/** Beats between two questions: the server counts the jobs of each flow. */
const EVERY = 3
const STATES = Object.entries(text.states) as [FlowSummary['state'] | '', string][]

export function Flows({ query: { state: asked = '', after } }: ScreenProps) {
  const [state] = STATES.find(([each]) => each === asked) ?? ['']
  const { value, error } = useAnswer('/v1/flows', { state: state || undefined, after }, EVERY)
  const flows = useShared(value?.flows)
  return (
    <Page name="flow" title={TEXT.screens.flows}>
      <Segments label={text.state} options={STATES} value={state} onChange={(each) => router.go(PATH, { state: each })} />
      {error !== undefined && flows === undefined && <p class="note s-bad">{TEXT.actions.failed(error.message)}</p>}
      {flows !== undefined && flows.length > 0 && <Table flows={flows} />}
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

function Table({ flows }: { readonly flows: readonly FlowSummary[] }) {
  const { columns } = text
  return (
    <section class="card">
      <table class="list flow-jobs">
        <thead>
          <tr>
            <th class="queue">{columns.flow}</th>
            <th>{columns.state}</th>
            <th class="queue opt">{columns.jobs}</th>
            <th class="opt">{columns.queue}</th>
            <th class="r">{columns.created}</th>
            <th class="r opt">{columns.ended}</th>
          </tr>
        </thead>
        <tbody>
          {flows.map((flow) => (
            <Row key={flow.id} flow={flow} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Row = memo(function Row({ flow: { id, name, queue, state, states, enqueuedAt, finishedAt } }: { readonly flow: FlowSummary }) {
  return (
    <tr>
      <td>
        <a class="strong" href={router.to(flowLink(id))}>
          {name}
        </a>{' '}
        <span class="mono faint">{shortId(id)}</span>
      </td>
      <td>
        <span class="inline">
          <StateIcon state={state === 'running' ? 'active' : state} />
          {text.states[state]}
        </span>
      </td>
      <td class="opt">
        <Counts states={states} />
      </td>
      <td class="opt muted">{queue}</td>
      <td class="r muted">
        <Ago at={enqueuedAt} />
      </td>
      <td class="r opt muted">{finishedAt !== undefined && <Ago at={finishedAt} />}</td>
    </tr>
  )
})
