import { act } from '../../actions/act.ts'
import type { Sample } from '../../api/answers.ts'
import { useAnswer } from '../../hooks.ts'
import { sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { TEXT } from '../../text.ts'

/** Beats between two questions for what changes only with a restart. */
const RARELY = 150

/** Jobs that this installation offers to enqueue with one click: a demo does. */
export function Samples() {
  const samples = useAnswer('/v1/info', {}, RARELY).value?.samples ?? []
  if (samples.length === 0 || !sessions.can('enqueue')) return null
  return (
    <p class="samples">
      <span class="muted">{TEXT.overview.samples}</span>
      {samples.map((sample) => (
        <button key={sample.title} type="button" class="btn" onClick={() => void enqueue(sample)}>
          <Icon name="plus" size={13} />
          {sample.title}
        </button>
      ))}
    </p>
  )
}

function enqueue({ job, data, options }: Sample): Promise<boolean> {
  return act({ path: '/v1/jobs', body: { job, data, options }, done: TEXT.overview.enqueuedSample(job) })
}
