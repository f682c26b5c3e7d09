import { useState } from 'preact/hooks'
import type { Failure, JobAnswer } from '../../api/answers.ts'
import { cut } from '../../format/cut.ts'
import { duration } from '../../format/durations.ts'
import { clockTimeMs } from '../../format/times.ts'
import { useAnswer } from '../../hooks.ts'
import { attemptsOf } from '../../job/attempts.ts'
import { now, router, settings } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { Trace } from '../../parts/trace/Trace.tsx'
import { errorLink } from '../../router/links.ts'
import { Logs } from './Logs.tsx'
import { JOB_PAGE_TEXT } from './text.ts'

const { runs: text } = JOB_PAGE_TEXT
type Attempt = JobAnswer['attempts'][number]
/** The newest runs; older ones are listed on demand. */
const SHOWN = 10
/** Beats between two questions for the group, whose numbers are a note. */
const RARELY = 15
const MESSAGE_LENGTH = 200

export function Runs({ job }: { readonly job: JobAnswer }) {
  const [shown, setShown] = useState(SHOWN)
  const newest = job.attempts.toReversed()
  const attempts = attemptsOf(job)
  const left = newest.length - shown
  return (
    <section class="card" aria-label={text.title}>
      <header>
        <h2>{text.title}</h2>
        {attempts !== undefined && <span class="tag num">{text.attempts(...attempts)}</span>}
        {job.state !== 'completed' && <Group job={job} error={newest.find(({ error }) => error !== undefined)?.error?.name} />}
      </header>
      {newest.length === 0 && <p class="note">{text.none}</p>}
      {newest.slice(0, shown).map((attempt, place) => (
        <Run key={attempt.run} attempt={attempt} isFirst={place === 0} />
      ))}
      {left > 0 && (
        <div class="list-end">
          <button type="button" class="btn" onClick={() => setShown(shown + SHOWN)}>
            {text.more(left)}
          </button>
        </div>
      )}
    </section>
  )
}

/** The group of failures with the same error; nothing if several of its name could be meant. */
function Group({ job: { queue, name, id }, error }: { readonly job: JobAnswer; readonly error: string | undefined }) {
  const failures = useAnswer(error === undefined ? undefined : '/v1/failures', { queue, name, limit: 200 }, RARELY).value?.failures ?? []
  const group = groupOf(failures, id, error)
  if (group === undefined) return null
  return (
    <div class="end">
      <span class="opt">{text.same(group.count)}</span>
      <a class="btn ghost" href={router.to(errorLink(group.fingerprint))}>
        {text.group}
        <Icon name="right" size={13} />
      </a>
    </div>
  )
}

function groupOf(failures: readonly Failure[], id: string, error: string | undefined): Failure | undefined {
  const last = failures.find(({ jobId }) => jobId === id)
  const named = failures.filter((failure) => failure.error === error)
  return last ?? (named.length === 1 ? named[0] : undefined)
}

function Run({ attempt, isFirst }: { readonly attempt: Attempt; readonly isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst)
  const { run, worker, startedAt, endedAt, error, logs } = attempt
  const state = endedAt === undefined ? 'active' : error === undefined ? 'completed' : 'failed'
  const took = startedAt === undefined ? undefined : Date.parse(endedAt ?? '') || now.value
  return (
    <details class="attempt" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <StateIcon state={state} size={14} />
        <span class="strong">{run === 0 ? text.notRun : text.run(run)}</span>
        {error === undefined ? (
          <span class="muted">{state === 'active' ? text.goesOn : text.completed}</span>
        ) : (
          <span class="mono muted">{cut(`${error.name}: ${error.message}`, MESSAGE_LENGTH)}</span>
        )}
        <span class="end num">
          <span class="opt">{worker}</span>
          {took !== undefined && <span>{duration(Math.max(0, took - Date.parse(startedAt as string)))}</span>}
          {startedAt !== undefined && <time class="opt">{clockTimeMs(Date.parse(startedAt), settings.zone.value)}</time>}
        </span>
      </summary>
      {isOpen && (
        <div class="body">
          {error !== undefined && <Trace error={error} />}
          <Logs lines={logs} />
        </div>
      )}
    </details>
  )
}
