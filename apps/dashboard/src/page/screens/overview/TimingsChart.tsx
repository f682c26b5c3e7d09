/** The chart of waiting and running times: a line for each, thick up to p95, thin up to p99, with a ring at p50. */

import { cut } from '../../format/cut.ts'
import { duration } from '../../format/durations.ts'
import { useWidth } from '../../hooks.ts'
import { TEXT } from '../../text.ts'
import { type TimeAxis, type TimingRow, timeAxis } from './timings.ts'

const ROW_PX = 30
const TOP_PX = 12
const BELOW_PX = 18
const NAMES_PX = 118
const RIGHT_PX = 20
const { overview: text } = TEXT

export function TimingsChart({ rows }: { readonly rows: readonly TimingRow[] }) {
  const { ref, width } = useWidth<HTMLDivElement>()
  const axis = timeAxis(rows, NAMES_PX, width - RIGHT_PX)
  const bottom = rows.length * ROW_PX
  return (
    <div class="plot" ref={ref}>
      {width > 0 && (
        <svg class="chart" height={bottom + BELOW_PX} role="img" aria-label={`${text.timesChart}. ${rows.map(said).join('. ')}`}>
          {axis.ticks.map(({ at, name }) => (
            <g key={at}>
              <path class="grid" d={`M${at} 4V${bottom}`} />
              <text x={at} y={bottom + 14} text-anchor="middle">
                {name}
              </text>
            </g>
          ))}
          {rows.map((row, place) => (
            <Row key={`${row.queue} ${row.name}`} row={row} y={place * ROW_PX + TOP_PX} axis={axis} />
          ))}
        </svg>
      )}
    </div>
  )
}

function Row({ row, y, axis }: { readonly row: TimingRow; readonly y: number; readonly axis: TimeAxis }) {
  return (
    <g>
      <title>{said(row)}</title>
      <text class="name" x={0} y={y + 9}>
        {cut(row.label, NAME_LENGTH)}
      </text>
      <Range kind={row.isLate ? 'late' : 'wait'} percentiles={row.wait} y={y} axis={axis} />
      {row.run !== undefined && <Range kind="run" percentiles={row.run} y={y + 10} axis={axis} />}
    </g>
  )
}

interface RangeProps {
  readonly kind: 'wait' | 'late' | 'run'
  readonly percentiles: TimingRow['wait']
  readonly y: number
  readonly axis: TimeAxis
}

function Range({ kind, percentiles: { p50, p95, p99 }, y, axis: { positionOf } }: RangeProps) {
  const [middle, most, all] = [positionOf(p50), positionOf(p95), positionOf(p99)]
  return (
    <g class={`range ${kind}`}>
      <path class="p99" d={`M${middle} ${y}H${all}`} />
      <path class="p95" d={`M${middle} ${y}H${most}`} />
      <circle class="p50" cx={middle} cy={y} r={3.2} />
    </g>
  )
}

/** The legend of the three percentiles: their marks as the chart draws them. */
export function PercentileMarks() {
  return (
    <span class="faint marks">
      {text.percentiles.p50}
      <svg class="range wait" width="9" height="9" aria-hidden="true">
        <circle class="p50" cx="4.5" cy="4.5" r="3.2" />
      </svg>
      {text.percentiles.p95}
      <svg class="range wait" width="14" height="9" aria-hidden="true">
        <path class="p95" d="M2 4.5h10" />
      </svg>
      {text.percentiles.p99}
      <svg class="range wait" width="14" height="9" aria-hidden="true">
        <path class="p99" d="M1 4.5h12" />
      </svg>
    </span>
  )
}

const NAME_LENGTH = 18

const NONE = '–'

function said({ queue, name, wait, run }: TimingRow): string {
  return text.timesOf(`${queue} / ${name}`, three(wait), run === undefined ? NONE : three(run))
}

function three({ p50, p95, p99 }: TimingRow['wait']): string {
  return text.three(duration(p50), duration(p95), duration(p99))
}
