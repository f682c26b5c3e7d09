import type { StatsAnswer } from '../../api/answers.ts'
import { count } from '../../format/numbers.ts'
import { router } from '../../page.ts'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { STATES, TEXT } from '../../text.ts'

export function Strip({ stats }: { readonly stats: StatsAnswer }) {
  return (
    <section class="card strip" aria-label={TEXT.overview.states}>
      {(Object.keys(STATES) as (keyof typeof STATES)[]).map((state) => (
        <a key={state} href={router.to('/jobs', { state })}>
          <span class="label">
            <StateIcon state={state} />
            {STATES[state]}
          </span>
          <span class="value">{count(stats.states[state])}</span>
        </a>
      ))}
    </section>
  )
}
