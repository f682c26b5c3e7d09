import type { JobAnswer } from '../../api/answers.ts'
import { useAnswer } from '../../hooks.ts'
import { router } from '../../page.ts'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { flowLink, jobLink } from '../../router/links.ts'
import { type FlowJob, neighboursOf } from './neighbours.ts'
import { JOB_PAGE_TEXT } from './text.ts'

const { flow: text } = JOB_PAGE_TEXT
const JOBS_READ = 200
/** Beats between two looks: what waits for others changes seldom. */
const SLOWLY = 5

export function FlowCard({ job, flow }: { readonly job: JobAnswer; readonly flow: NonNullable<JobAnswer['flow']> }) {
  const answer = useAnswer(`/v1/flows/${encodeURIComponent(flow.id)}`, { limit: JOBS_READ }, SLOWLY).value
  if (answer === undefined) return null
  const { before, after, moreBefore, moreAfter, total, failed, isWhole } = neighboursOf(answer, job.id)
  return (
    <section class="card" aria-label={text.title}>
      <header>
        <h2>{text.title}</h2>
        <span class="faint">{text.part(total, failed, isWhole)}</span>
        <div class="end">
          <a href={router.to(flowLink(flow.id), { job: job.id })}>{text.open}</a>
        </div>
      </header>
      <div class="neighbours">
        <Jobs jobs={before} more={moreBefore} />
        {before.length > 0 && <Arrow />}
        <span class="node this" title={text.this}>
          <StateIcon state={job.state} size={14} />
          {flow.ref}
        </span>
        {after.length > 0 && <Arrow />}
        <Jobs jobs={after} more={moreAfter} />
      </div>
    </section>
  )
}

function Jobs({ jobs, more }: { readonly jobs: readonly FlowJob[]; readonly more: number }) {
  return (
    <>
      {jobs.map(({ id, ref, name, state }) => (
        <a key={id} class="node" href={router.to(jobLink(id))} title={name}>
          <StateIcon state={state} size={14} />
          <bdi>{ref}</bdi>
        </a>
      ))}
      {more > 0 && <span class="faint">{text.more(more)}</span>}
    </>
  )
}

function Arrow() {
  return (
    <svg class="arrow" width="22" height="8" aria-hidden="true">
      <path d="M0 4h18m-4-3 4 3-4 3" />
    </svg>
  )
}
