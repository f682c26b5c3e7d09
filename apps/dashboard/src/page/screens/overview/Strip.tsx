import { count } from '../../format/numbers.ts'
import { router } from '../../page.ts'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { jobsLink } from '../../router/links.ts'
import { STATES, TEXT } from '../../text.ts'
import type { StateCell } from './strip.ts'

export function Strip({ cells }: { readonly cells: readonly StateCell[] }) {
  return (
    <section class="card strip" aria-label={TEXT.overview.states}>
      {cells.map(({ state, value, of, note, isBad }) => (
        <a key={state} href={router.to(jobsLink({ state }))}>
          <span class="label">
            <StateIcon state={state} />
            {STATES[state]}
          </span>
          <span class={isBad ? 'value s-failed' : 'value'}>
            {count(value)}
            {of !== undefined && <small>{of}</small>}
          </span>
          <span class="sub">{note}</span>
        </a>
      ))}
    </section>
  )
}
