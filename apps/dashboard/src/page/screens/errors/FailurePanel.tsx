/** A group of failures beside the list: the last error of its kind, and what can be done about all of them. */
import { useMemo, useRef } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { asked } from '../../actions/asked.ts'
import type { Bulk } from '../../actions/bulk.ts'
import { jobsOfGroup } from '../../actions/jobsOfGroup.ts'
import { pause } from '../../actions/pauses.ts'
import { useCount } from '../../actions/useCount.ts'
import type { Failure, JobAnswer } from '../../api/answers.ts'
import { shortId } from '../../format/ids.ts'
import { dayMinute } from '../../format/times.ts'
import { useAnswer, useKeys } from '../../hooks.ts'
import { Facts } from '../../job/Facts.tsx'
import { now, router, sessions, settings } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { SidePanel } from '../../parts/SidePanel.tsx'
import { Trace } from '../../parts/trace/Trace.tsx'
import { jobLink, jobsLink, queueLink } from '../../router/links.ts'
import { ERRORS_TEXT as text } from './text.ts'

const FINGERPRINT_LENGTH = 8
/** Beats between two looks at what changes seldom. */
const SLOWLY = 5

export function FailurePanel({ failure, onClose }: { readonly failure: Failure; readonly onClose: () => void }) {
  const { fingerprint, queue, name, error, count, firstAt, lastAt, jobId } = failure
  const since = dayMinute(Date.parse(firstAt), settings.zone.value)
  const { facts } = text
  return (
    <SidePanel
      label={text.peek}
      lead={
        <span class="s-failed">
          <Icon name="errors" size={16} />
        </span>
      }
      title={error}
      note={<span class="mono faint">{fingerprint.slice(0, FINGERPRINT_LENGTH)}</span>}
      onClose={onClose}
    >
      <p class="said muted">{text.said(count, since)}</p>
      <Actions failure={failure} />
      <LastError failure={failure} />
      <Facts
        facts={[
          { name: facts.queue, text: queue, to: queueLink(queue) },
          { name: facts.name, text: name, to: jobsLink({ queue, name }) },
          { name: facts.first, at: firstAt },
          { name: facts.last, at: lastAt },
          ...(jobId === undefined ? [] : [{ name: facts.job, text: shortId(jobId), to: jobLink(jobId), isMono: true }]),
        ]}
      />
    </SidePanel>
  )
}

function LastError({ failure: { jobId, error: kind, message } }: { readonly failure: Failure }) {
  const job = useAnswer(jobId === undefined ? undefined : `/v1/jobs/${encodeURIComponent(jobId)}`, { payload: 'none' }, SLOWLY).value
  const thrown = errorOf(job, kind) ?? (message === undefined ? undefined : { name: kind, message })
  if (thrown === undefined) return <p class="note">{text.noMessage}</p>
  return (
    <>
      <Trace error={thrown} />
      <p class="note">{text.ofLast}</p>
    </>
  )
}

/** The last error of this kind: the job may have failed otherwise since. */
function errorOf(job: JobAnswer | undefined, kind: string) {
  return job?.attempts.findLast(({ error }) => error?.name === kind)?.error
}

function Actions({ failure }: { readonly failure: Failure }) {
  const { queue, name, error, lastAt } = failure
  return (
    <div class="do">
      {sessions.can('admin') && <Bulks {...jobsOfGroup(failure)} seenAt={lastAt} />}
      <a class="btn" href={router.to(jobsLink({ state: 'failed', queue, name, error }))}>
        {text.showJobs}
      </a>
      {sessions.can('admin') && <Pause queue={queue} name={name} />}
    </div>
  )
}

/** Changes of all jobs that have failed permanently with this error. There may be none: others are tried again. */
function Bulks({ filter, what, seenAt }: Pick<Bulk, 'filter' | 'what'> & { readonly seenAt: string }) {
  const isAsking = asked.value !== undefined
  const at = useMemo(() => now.peek(), [seenAt, isAsking])
  const retry: Bulk = { word: 'retry', filter, what, at }
  const counted = useCount(retry)
  // The buttons stay where they are while it counts again.
  const last = useRef(counted)
  last.current = counted ?? last.current
  const number = last.current
  const ask = (bulk: Bulk) => {
    asked.value = bulk
  }
  const isOffered = number !== undefined && number !== '0'
  useKeys(isOffered ? [{ keys: 'r', label: text.retry(number), group: text.keys.group, run: () => ask(retry) }] : [])
  if (!isOffered) return null
  return (
    <>
      <button type="button" class="btn primary" onClick={() => ask(retry)}>
        <Icon name="retry" size={13} />
        {text.retry(number)}
        <kbd>r</kbd>
      </button>
      <button type="button" class="btn danger" onClick={() => ask({ ...retry, word: 'delete' })}>
        {text.delete(number)}
      </button>
    </>
  )
}

/** Pauses the jobs of one name: the others of the queue go on. */
function Pause({ queue, name }: { readonly queue: string; readonly name: string }) {
  const settings = useAnswer(`/v1/queues/${encodeURIComponent(queue)}`, {}, SLOWLY).value
  if (settings === undefined) return null
  const word = settings.pausedJobs.includes(name) ? 'resume' : 'pause'
  return (
    <button type="button" class="btn" onClick={() => void act(pause(word, queue, { job: name }))}>
      {text[word](name)}
    </button>
  )
}
