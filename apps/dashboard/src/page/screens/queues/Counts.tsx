import type { Columns, QueueAnswer } from '../../api/answers.ts'
import { duration } from '../../format/durations.ts'
import { count, rate } from '../../format/numbers.ts'
import { router } from '../../page.ts'
import { Gauge } from '../../parts/Gauge.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobsLink } from '../../router/links.ts'
import { STATES } from '../../text.ts'
import { donePerSecond } from '../overview/throughput.ts'
import { text } from './text.ts'

const SHOWN = ['waiting', 'active', 'retrying', 'scheduled', 'blocked', 'failed', 'completed'] as const

/** The jobs of the queue by state: each leads to its jobs. */
export function Counts({ queue, history }: { readonly queue: QueueAnswer; readonly history: Columns | undefined }) {
  const { name, states, retrying = 0, settings, oldestWaitingMs } = queue
  const { concurrencyLimit: limit } = settings
  const values = { ...states, retrying, scheduled: states.scheduled - retrying }
  const notes = {
    ...text.notes,
    waiting: states.waiting === 0 ? '' : text.notes.oldest(duration(oldestWaitingMs)),
    active: text.notes.noLimit,
    completed: text.notes.perSecond(rate(donePerSecond(history))),
  }
  return (
    <section class="card strip" aria-label={text.states}>
      {SHOWN.map((state) => (
        <a key={state} href={router.to(jobsLink({ state, queue: name }))}>
          <span class="label">
            <StateIcon state={state} />
            {STATES[state]}
          </span>
          <span class={state === 'failed' && states.failed > 0 ? 'value s-failed' : 'value'}>
            {count(values[state])}
            {state === 'active' && limit !== undefined && <small>{text.slots(count(limit))}</small>}
          </span>
          {state === 'active' && limit !== undefined ? (
            <span class="sub">
              <Gauge value={states.active} limit={limit} tight={states.active >= limit && states.waiting > 0} />
            </span>
          ) : (
            <span class="sub">{notes[state]}</span>
          )}
        </a>
      ))}
    </section>
  )
}
