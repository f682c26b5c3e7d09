/** A flow: its jobs from left to right with their lines, or as a table, and the job that is chosen beside them. */
import { useState } from 'preact/hooks'
import type { FlowAnswer } from '../../api/answers.ts'
import { shortId } from '../../format/ids.ts'
import { Notice } from '../../frame/Notice.tsx'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared } from '../../hooks.ts'
import { router } from '../../page.ts'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { Counts } from './Counts.tsx'
import { Drawing } from './Drawing.tsx'
import { FlowJobPanel } from './FlowJobPanel.tsx'
import { DRAWN_MOST, graphOf } from './graph.ts'
import { JobList } from './JobList.tsx'
import { text } from './text.ts'

const PAGE = 200

export function Flow({ params, query }: ScreenProps) {
  const id = params['id'] ?? ''
  const [after, setAfter] = useState<string>()
  const { value: flow, error } = useAnswer(`/v1/flows/${encodeURIComponent(id)}`, { limit: PAGE, after })
  const chosen = query['job']
  const close = () => router.amend({ job: undefined })
  if (error?.status === 404 && flow === undefined) return <Notice text={text.missing(id)} />
  return (
    <Page
      name="flow"
      title={text.title(shortId(id))}
      above={['/flows', TEXT.screens.flows]}
      tools={flow?.states !== undefined && <Counts states={flow.states} />}
    >
      {flow !== undefined && <Shown flow={flow} isWhole={after === undefined && flow.next === undefined} chosen={chosen} onClose={close} />}
      {flow?.next !== undefined && (
        <div>
          <button type="button" class="btn" onClick={() => setAfter(flow.next)}>
            {text.next}
          </button>
        </div>
      )}
    </Page>
  )
}

interface ShownProps {
  readonly flow: FlowAnswer
  /** The answer has all jobs of the flow. */
  readonly isWhole: boolean
  readonly chosen: string | undefined
  readonly onClose: () => void
}

function Shown({ flow: { jobs }, isWhole, chosen, onClose }: ShownProps) {
  const isDrawn = isWhole && jobs.length <= DRAWN_MOST
  const graph = useShared(isDrawn ? graphOf(jobs) : undefined)
  return (
    <div class={chosen === undefined ? '' : 'cols'}>
      {graph === undefined ? <JobList jobs={jobs} chosen={chosen} /> : <Drawing graph={graph} chosen={chosen} />}
      {chosen !== undefined && <FlowJobPanel jobs={jobs} id={chosen} onClose={onClose} />}
    </div>
  )
}
