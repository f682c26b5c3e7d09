/** One job: what happened to it, why, its payloads, and what can be done. It is live by its events. */
import { useEffect, useState } from 'preact/hooks'
import type { JobAnswer } from '../../api/answers.ts'
import { SHORT_ID } from '../../format/ids.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useKeys } from '../../hooks.ts'
import { ActionButtons } from '../../job/ActionButtons.tsx'
import { Facts } from '../../job/Facts.tsx'
import { allFacts } from '../../job/facts.ts'
import { jobAddress } from '../../job/jobAddress.ts'
import { NEW_JOB_TEXT } from '../../job/newJobText.ts'
import { Payload } from '../../job/Payload.tsx'
import { shownState } from '../../job/state.ts'
import { JOB_TEXT } from '../../job/text.ts'
import { useJobActions } from '../../job/useJobActions.ts'
import type { PayloadName } from '../../job/whyNotShown.ts'
import { useJobEvents } from '../../live/useJobEvents.ts'
import { apiUrl, live, router, sessions } from '../../page.ts'
import { Copy } from '../../parts/Copy.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Json } from '../../parts/json/Json.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobLink } from '../../router/links.ts'
import { STATES, TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { ChangeDialog } from './ChangeDialog.tsx'
import { CopyDialog } from './CopyDialog.tsx'
import { curlOf } from './curl.ts'
import { FlowCard } from './FlowCard.tsx'
import { Runs } from './Runs.tsx'
import { TimelineCard } from './TimelineChart.tsx'
import { JOB_PAGE_TEXT as text } from './text.ts'
import { WaitsCard } from './WaitsCard.tsx'

/** The states in which a job is yet to start. */
const WAITS: ReadonlySet<JobAnswer['state']> = new Set(['waiting', 'scheduled', 'blocked'])

export function JobPage({ params: { id = '' } }: ScreenProps) {
  const [path, query] = jobAddress(id)
  const [goneId, setGone] = useState<string>()
  const isGone = goneId === id
  const { value: job, error } = useAnswer(isGone ? undefined : path, query)
  // A short id leads to its job, whose events are by its whole one.
  const whole = job?.id ?? id
  useEffect(() => {
    if (whole !== id && SHORT_ID.test(id)) router.go(jobLink(whole), {}, { replace: true })
  }, [whole, id])
  useJobEvents(id, (events) => (events.some(({ type }) => type === 'deleted') ? setGone(id) : live.poll(path, query).refresh()))
  useKeys([{ keys: 'Escape', label: text.back, group: JOB_TEXT.actions.group, run: () => router.go('/jobs') }])
  return (
    <Page name="job" title={job?.name ?? id} above={['/jobs', TEXT.screens.jobs]}>
      {(isGone || error !== undefined) && (
        <section class="card empty">
          <p>{error === undefined || error.status === 404 ? text.gone : TEXT.actions.failed(error.message)}</p>
        </section>
      )}
      {job !== undefined && error?.status !== 404 && <Shown key={job.id} job={job} />}
    </Page>
  )
}

function Shown({ job }: { readonly job: JobAnswer }) {
  const payload = (name: PayloadName) => (
    <div class="card">
      <Payload job={job} name={name} />
    </div>
  )
  return (
    <>
      <Headline job={job} />
      <div class="cols">
        <div class="stack">
          {WAITS.has(job.state) && <WaitsCard job={job} />}
          <TimelineCard job={job} />
          <Runs job={job} />
          {job.flow !== undefined && <FlowCard job={job} flow={job.flow} />}
        </div>
        <div class="stack">
          {payload('data')}
          <section class="card" aria-label={text.properties}>
            <header>
              <h2>{text.properties}</h2>
            </header>
            <Facts facts={allFacts(job)} />
          </section>
          {payload('output')}
          {job.preview?.checkpoint !== undefined && payload('checkpoint')}
          <Value job={job} name="progressValue" />
          <Value job={job} name="meta" />
        </div>
      </div>
    </>
  )
}

/** JSON of a job that is no payload. */
function Value({ job, name }: { readonly job: JobAnswer; readonly name: 'progressValue' | 'meta' }) {
  const source = JSON.stringify(job[name])
  if (source === undefined || source === '{}') return null
  return (
    <section class="card" aria-label={text[name]}>
      <header>
        <h2>{text[name]}</h2>
        <div class="end">
          <Copy text={source} />
        </div>
      </header>
      <Json source={source} isRedacted={job.redacted?.includes(name) === true} />
    </section>
  )
}

function Headline({ job }: { readonly job: JobAnswer }) {
  const [dialog, setDialog] = useState<'copy' | 'change'>()
  const actions = useJobActions(job, () => router.go('/jobs'))
  const canCopy = sessions.can('enqueue')
  const canChange = sessions.can('admin') && WAITS.has(job.state)
  const isOpen = sessions.current.value?.open === true
  const close = () => setDialog(undefined)
  useKeys(canCopy ? [{ keys: 'e', label: NEW_JOB_TEXT.copy.action, group: JOB_TEXT.actions.group, run: () => setDialog('copy') }] : [])
  return (
    <div class="headline">
      <span class={`state s-${shownState(job)}`}>
        <StateIcon state={shownState(job)} size={14} />
        {stateWords(job)}
      </span>
      {job.progress !== undefined && job.state === 'active' && (
        <span class="inline num">
          <progress max={1} value={job.progress} aria-label={JOB_TEXT.facts.progress} />
          <span class="muted">{`${Math.round(job.progress * 100)} %`}</span>
          <span class="faint">{job.progressNote}</span>
        </span>
      )}
      <span class="mono muted">{job.id}</span>
      <Copy text={job.id} label={JOB_TEXT.actions.copyId} />
      <span class="do">
        <ActionButtons job={job} actions={actions} withoutDelete />
        {canCopy && (
          <button type="button" class="btn" onClick={() => setDialog('copy')}>
            {NEW_JOB_TEXT.copy.action}
            <kbd class="wide">e</kbd>
          </button>
        )}
        <Menu label={text.more} button={<Icon name="more" />}>
          {canChange && (
            <button type="button" class="item" onClick={() => setDialog('change')}>
              {text.change.action}
            </button>
          )}
          <button type="button" class="item" onClick={() => void navigator.clipboard.writeText(curlOf(apiUrl, job.id, isOpen))}>
            {text.copyAsCurl}
          </button>
          {actions.actions
            .filter(({ word }) => word === 'delete')
            .map((action) => (
              <button key={action.word} type="button" class="item danger" onClick={() => actions.run(action)}>
                {action.label}
              </button>
            ))}
        </Menu>
      </span>
      {dialog === 'copy' && <CopyDialog job={job} onClose={close} />}
      {dialog === 'change' && <ChangeDialog job={job} onClose={close} />}
    </div>
  )
}

function stateWords(job: JobAnswer): string {
  if (job.state === 'active' && job.cancelRequested) return text.state.cancelling
  return job.state === 'failed' ? text.state.failed : STATES[shownState(job)]
}
