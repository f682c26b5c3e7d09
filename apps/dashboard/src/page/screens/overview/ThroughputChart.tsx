/** The chart of jobs per minute: columns of completed and failed jobs, a line of those that were enqueued, and a readout. */
import { useState } from 'preact/hooks'
import { type Box, columns, columnWidths, line, placeAt } from '../../chart/paths.ts'
import { linear, roundTicks, roundTimes } from '../../chart/scale.ts'
import { rate, short } from '../../format/numbers.ts'
import { aheadMs, dayDate, dayMinute, minuteTime, type Zone, zoneName } from '../../format/times.ts'
import { useWidth } from '../../hooks.ts'
import { settings } from '../../page.ts'
import { TEXT } from '../../text.ts'
import { isIdle, largestOf, mean, type Throughput } from './throughput.ts'

const HEIGHT = 222
const MARGIN = { left: 38, right: 6, top: 8, bottom: 20 }
const DAY_MS = 86_400_000
const LABEL_PX = 76
const { overview: text } = TEXT

interface Props {
  readonly throughput: Throughput
  /** The period in words. */
  readonly period: string
}

export function ThroughputChart({ throughput, period }: Props) {
  const { ref, width } = useWidth<HTMLDivElement>()
  const [place, setPlace] = useState<number>()
  const box = { left: MARGIN.left, top: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom }
  const places = throughput.completed.length
  const ticks = roundTicks(largestOf(throughput))
  const largest = ticks.at(-1) as number
  const { completed, failed, enqueued } = throughput
  const label = text.chart(period, rate(mean(completed)), rate(mean(enqueued)), rate(Math.max(0, ...failed)))
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setPlace(Math.min(places - 1, Math.max(0, (place ?? (step > 0 ? -1 : places)) + step)))
  }
  return (
    <div class="plot" ref={ref}>
      {width > 0 && (
        <svg
          class="chart"
          height={HEIGHT}
          role="img"
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the readout
          tabIndex={0}
          onPointerMove={({ offsetX }) => setPlace(placeAt(offsetX, places, box))}
          onPointerLeave={() => setPlace(undefined)}
          onKeyDown={onKeyDown}
          onBlur={() => setPlace(undefined)}
        >
          <Grid ticks={ticks} box={box} />
          <Times throughput={throughput} box={box} />
          <path class="c-ok" d={columns(completed, undefined, largest, box)} />
          <path class="c-bad" d={columns(failed, completed, largest, box)} />
          <path class="c-in" d={line(enqueued, largest, box)} />
          {isIdle(throughput) && (
            <text x={box.left + box.width / 2} y={box.top + box.height / 2} text-anchor="middle">
              {text.noHistory}
            </text>
          )}
          {place !== undefined && place < places && <Readout throughput={throughput} place={place} box={box} />}
        </svg>
      )}
    </div>
  )
}

function Grid({ ticks, box }: { readonly ticks: readonly number[]; readonly box: Box }) {
  const y = linear(0, ticks.at(-1) as number, box.top + box.height, box.top)
  return (
    <>
      {ticks.map((value) => (
        <g key={value}>
          <path class={value === 0 ? 'axis' : 'grid'} d={`M${box.left} ${y(value)}h${box.width}`} />
          <text x={box.left - 7} y={y(value) + 3.5} text-anchor="end">
            {short(value)}
          </text>
        </g>
      ))}
    </>
  )
}

function Times({ throughput: { from, columnMs, completed }, box }: { readonly throughput: Throughput; readonly box: Box }) {
  const zone = settings.zone.value
  const to = from + columnMs * completed.length
  const x = linear(from, to, box.left, box.left + box.width)
  const shown = to - from > 2 * DAY_MS ? dayDate : minuteTime
  return (
    <>
      {roundTimes(from, to, Math.max(2, Math.floor(box.width / LABEL_PX)), aheadMs(from, zone)).map((time) => (
        <text key={time} x={Math.min(Math.max(x(time), box.left + 14), box.left + box.width - 14)} y={HEIGHT - 4} text-anchor="middle">
          {shown(time, zone)}
        </text>
      ))}
    </>
  )
}

const TIP = { width: 152, height: 77, gap: 9, pad: 11 }

function Readout({ throughput, place, box }: { readonly throughput: Throughput; readonly place: number; readonly box: Box }) {
  const { step, column } = columnWidths(throughput.completed.length, box.width)
  const x = box.left + place * step + column / 2
  const left = x + TIP.gap + TIP.width > box.left + box.width ? x - TIP.gap - TIP.width : x + TIP.gap
  const rows = (['enqueued', 'completed', 'failed'] as const).map((name) => [name, throughput[name][place] ?? 0] as const)
  return (
    <g class="tip">
      <path class="rule" d={`M${Math.round(x) + 0.5} ${box.top}v${box.height}`} />
      <rect x={left} y={14} width={TIP.width} height={TIP.height} rx={7} />
      <text x={left + TIP.pad} y={31}>
        {spanOf(throughput, place, settings.zone.value)}
      </text>
      {rows.map(([name, value], row) => (
        <g key={name}>
          <text x={left + TIP.pad} y={48 + 16 * row}>
            {text.readout[name]}
          </text>
          <text
            class={name === 'failed' && value > 0 ? 'bad' : 'strong-text'}
            x={left + TIP.width - TIP.pad}
            y={48 + 16 * row}
            text-anchor="end"
          >
            {rate(value)}
          </text>
        </g>
      ))}
    </g>
  )
}

/** "02:34 – 02:35 CET"; with its day where the chart shows several. */
function spanOf({ from, columnMs, completed }: Throughput, place: number, zone: Zone): string {
  const start = from + place * columnMs
  const begin = columnMs * completed.length > DAY_MS ? dayMinute : minuteTime
  return `${begin(start, zone)} – ${minuteTime(start + columnMs, zone)} ${zoneName(start, zone)}`
}
