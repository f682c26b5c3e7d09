/** A job beside the list: its error, what matters of it, and its data. */
import type { JobAnswer } from '../../api/answers.ts'
import type { ApiError } from '../../api/problem.ts'
import { shortId } from '../../format/ids.ts'
import { useAnswer } from '../../hooks.ts'
import { ActionButtons } from '../../job/ActionButtons.tsx'
import { Facts } from '../../job/Facts.tsx'
import { briefFacts } from '../../job/facts.ts'
import { jobAddress } from '../../job/jobAddress.ts'
import { Payload } from '../../job/Payload.tsx'
import { shownState } from '../../job/state.ts'
import { useJobActions } from '../../job/useJobActions.ts'
import { router } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { SidePanel } from '../../parts/SidePanel.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { Trace } from '../../parts/trace/Trace.tsx'
import { jobLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { JOBS_TEXT as text } from './text.ts'

interface Props {
  readonly id: string
  readonly onClose: () => void
}

export function JobPanel({ id, onClose }: Props) {
  const { value: job, error } = useAnswer(...jobAddress(id))
  const actions = useJobActions(job, onClose)
  return (
    <SidePanel
      label={text.peek}
      lead={job !== undefined && <StateIcon state={shownState(job)} size={16} />}
      title={job?.name ?? text.columns.job}
      note={<span class="mono faint">{shortId(id)}</span>}
      tools={
        <a class="btn ghost" href={router.to(jobLink(id))} aria-label={text.open}>
          <Icon name="external" />
        </a>
      }
      onClose={onClose}
    >
      {job === undefined ? <Missing error={error} /> : <Shown job={job} />}
      {job !== undefined && actions.actions.length > 0 && (
        <footer>
          <ActionButtons job={job} actions={actions} />
        </footer>
      )}
    </SidePanel>
  )
}

function Missing({ error }: { readonly error: ApiError | undefined }) {
  if (error === undefined) return null
  return <p class="note">{error.status === 404 ? text.gone : TEXT.actions.failed(error.message)}</p>
}

function Shown({ job }: { readonly job: JobAnswer }) {
  const error = job.state === 'completed' ? undefined : job.attempts.findLast((attempt) => attempt.error !== undefined)?.error
  return (
    <>
      {error !== undefined && <Trace error={error} />}
      <Facts facts={briefFacts(job)} />
      <Payload job={job} name="data" />
      {job.preview?.output !== undefined && <Payload job={job} name="output" />}
    </>
  )
}
