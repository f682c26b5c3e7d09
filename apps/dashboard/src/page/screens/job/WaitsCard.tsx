/** Why a job has not run: all that keeps it from its start now, the first of them first. */
import type { ExplanationAnswer } from '@millrace/http'
import type { JobAnswer } from '../../api/answers.ts'
import { useAnswer } from '../../hooks.ts'
import type { QueryState } from '../../live/poll.ts'
import { now, settings } from '../../page.ts'
import { causeText } from './causes.ts'
import { JOB_PAGE_TEXT } from './text.ts'

const { waits: text } = JOB_PAGE_TEXT
/** Beats between two looks. */
const SLOWLY = 3

export function WaitsCard({ job }: { readonly job: JobAnswer }) {
  // Its path begins as that of a job, whose answer the types promise for it.
  const { value } = useAnswer(`/v1/jobs/${encodeURIComponent(job.id)}/explain`, {}, SLOWLY) as unknown as QueryState<ExplanationAnswer>
  if (value === undefined || value.causes.length === 0) return null
  return (
    <section class="card" aria-label={text.title}>
      <header>
        <h2>{text.title}</h2>
      </header>
      <ul class="causes">
        {value.causes.map((cause) => (
          <li key={cause.code}>{text.sentence(causeText(cause, now.value, settings.zone.value))}</li>
        ))}
      </ul>
    </section>
  )
}
