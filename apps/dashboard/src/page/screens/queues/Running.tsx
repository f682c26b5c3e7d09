import { count } from '../../format/numbers.ts'
import { Gauge } from '../../parts/Gauge.tsx'

interface Props {
  readonly active: number
  readonly limit: number | undefined
  readonly isTight: boolean
}

/** A gauge if there is a limit, else the number of jobs that run. */
export function Running({ active, limit, isTight }: Props) {
  if (limit === undefined) return <span class="muted">{active === 0 ? '–' : count(active)}</span>
  return (
    <span class="inline">
      <Gauge value={active} limit={limit} tight={isTight} />
      <span class="muted">
        {count(active)} / {count(limit)}
      </span>
    </span>
  )
}
