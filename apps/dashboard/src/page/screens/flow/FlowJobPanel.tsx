import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import type { FlowJob } from '../../api/answers.ts'
import { router, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Ask } from '../../parts/Ask.tsx'
import { Fact } from '../../parts/Fact.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { SidePanel } from '../../parts/SidePanel.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobLink } from '../../router/links.ts'
import { STATES } from '../../text.ts'
import { effectsOn, treeOf } from './graph.ts'
import { text } from './text.ts'

interface Props {
  readonly jobs: readonly FlowJob[]
  readonly id: string
  readonly onClose: () => void
}

/** The chosen job beside the flow: what it waits for, and what can be done to it and all that wait for it. */
export function FlowJobPanel({ jobs, id, onClose }: Props) {
  const job = jobs.find((each) => each.id === id)
  if (job === undefined) return null
  return (
    <SidePanel
      label={text.beside}
      lead={<StateIcon state={job.state} size={16} />}
      title={job.ref}
      note={<span class="muted">{STATES[job.state]}</span>}
      onClose={onClose}
    >
      <div class="content toolbar">
        <a class="btn" href={router.to(jobLink(id))}>
          {text.open}
        </a>
        {sessions.can('admin') && <Actions jobs={jobs} job={job} />}
      </div>
      <Facts job={job} />
    </SidePanel>
  )
}

function Actions({ jobs, job: { id, ref } }: { readonly jobs: readonly FlowJob[]; readonly job: FlowJob }) {
  const [asked, setAsked] = useState<'retry' | 'cancel'>()
  const { retried, cancelled } = effectsOn(treeOf(jobs, id))
  const [words, number] = asked === 'retry' ? [text.retrying, retried] : [text.cancelling, cancelled]
  const confirm = () => act({ path: `/v1/jobs/${encodeURIComponent(id)}/${asked}`, body: { descendants: true }, done: words.done(ref) })
  return (
    <>
      {retried > 0 && (
        <button type="button" class="btn" onClick={() => setAsked('retry')}>
          <Icon name="retry" size={13} />
          {text.retry(retried)}
        </button>
      )}
      {cancelled > 0 && (
        <button type="button" class="btn ghost danger" onClick={() => setAsked('cancel')}>
          {text.cancel(cancelled)}
        </button>
      )}
      {asked !== undefined && (
        <Ask
          isDanger={asked === 'cancel'}
          title={words.title(ref)}
          action={words.confirm(number)}
          onConfirm={confirm}
          onClose={() => setAsked(undefined)}
        >
          <p>{words.text(number)}</p>
        </Ask>
      )}
    </>
  )
}

function Facts({ job }: { readonly job: FlowJob }) {
  const { facts } = text
  const { name, queue, attempt, startedAt, finishedAt, runAt, dependsOn, onParentFailure, state } = job
  return (
    <dl class="kv wrapped">
      <Fact name={facts.job}>{name}</Fact>
      <Fact name={facts.queue}>{queue}</Fact>
      <Fact name={facts.attempt}>{attempt}</Fact>
      {state === 'scheduled' && (
        <Fact name={facts.due}>
          <Ago at={runAt} />
        </Fact>
      )}
      {startedAt !== undefined && (
        <Fact name={facts.started}>
          <Ago at={startedAt} />
        </Fact>
      )}
      {finishedAt !== undefined && (
        <Fact name={facts.ended}>
          <Ago at={finishedAt} />
        </Fact>
      )}
      {dependsOn.length > 0 && (
        <Fact name={facts.waits}>
          <ul class="parents">
            {dependsOn.map(({ id, ref, told }) => (
              <li key={id}>
                <a href={router.to(router.address.value.path, { job: id })}>{ref}</a>{' '}
                <span class={told === undefined || told === 'completed' ? 'faint' : 's-failed'}>
                  {told === undefined ? text.pending : text.told[told]}
                </span>
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {dependsOn.length > 0 && <Fact name={facts.onFailure}>{text.onFailure[onParentFailure] ?? onParentFailure}</Fact>}
    </dl>
  )
}
