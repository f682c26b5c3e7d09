import type { FlowSummary } from '../../api/answers.ts'
import { count } from '../../format/numbers.ts'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { STATES } from '../../text.ts'

const ORDER = (Object.keys(STATES) as (keyof typeof STATES)[]).filter((state) => state !== 'retrying')

/** The jobs of a flow by state; states without any are left out. */
export function Counts({ states }: Pick<FlowSummary, 'states'>) {
  return (
    <span class="states">
      {ORDER.map(
        (state) =>
          states[state] > 0 && (
            <span key={state} class="inline" title={STATES[state]}>
              <StateIcon state={state} />
              {count(states[state])}
            </span>
          ),
      )}
    </span>
  )
}
