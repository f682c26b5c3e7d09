import type { JobAnswer } from '../../api/answers.ts'
import { linear } from '../../chart/scale.ts'
import { duration, span } from '../../format/durations.ts'
import { clockTimeMs } from '../../format/times.ts'
import { useWidth } from '../../hooks.ts'
import { now, settings } from '../../page.ts'
import { JOB_PAGE_TEXT as text } from './text.ts'
import { offsetsOf, type Segment, type Timeline, timelineOf } from './timeline.ts'

const HEIGHT = 92
const MIDDLE = 34
const BAR = 26
const CHARACTER_PX = 6.2
const TICK_PX = 150
const { timeline } = text

export function TimelineCard({ job }: { readonly job: JobAnswer }) {
  const isOver = job.finishedAt !== undefined
  const line = timelineOf(job, isOver ? 0 : now.value)
  const total = duration(line.passedMs)
  return (
    <section class="card">
      <header>
        <h2>{timeline.title}</h2>
        <div class="end num">
          <span>{isOver ? timeline.total(total) : timeline.soFar(total)}</span>
          {line.ranMs > 0 && <span>{timeline.ran(duration(line.ranMs))}</span>}
        </div>
      </header>
      <Chart line={line} />
    </section>
  )
}

function Chart({ line }: { readonly line: Timeline }) {
  const { ref, width } = useWidth<HTMLDivElement>()
  const x = linear(line.from, line.to, 1, Math.max(2, width - 2))
  const offsets = offsetsOf(line.to - line.from, Math.max(1, Math.floor(width / TICK_PX)))
  const begin = clockTimeMs(line.from, settings.zone.value)
  return (
    <div ref={ref} class="timeline">
      {width > 0 && (
        <svg class="chart" width={width} height={HEIGHT} role="img" aria-label={timeline.label(line.segments.map(inWords))}>
          {[0, ...offsets].map((offset) => (
            <path key={offset} class="grid" d={`M${Math.round(x(line.from + offset)) + 0.5} 0V70`} />
          ))}
          <text x={1} y={86}>
            {begin}
          </text>
          {offsets.map((offset) => {
            const at = x(line.from + offset)
            const isLast = at > width - 40
            return at < begin.length * CHARACTER_PX + 40 ? null : (
              <text key={offset} x={isLast ? width : at} y={86} text-anchor={isLast ? 'end' : 'middle'}>
                +{span(offset)}
              </text>
            )
          })}
          {line.segments.map((segment, place) => (
            <Part key={place} segment={segment} from={x(segment.from)} to={x(segment.to)} />
          ))}
          <RunLabels segments={line.segments} x={x} width={width} />
        </svg>
      )}
    </div>
  )
}

function Part({ segment: { kind, label }, from, to }: { readonly segment: Segment; readonly from: number; readonly to: number }) {
  const room = to - from
  const isRun = kind === 'ok' || kind === 'bad' || kind === 'running'
  if (isRun) return <rect class={`run ${kind}`} x={from - 1} y={MIDDLE - 16} width={Math.max(4, room + 2)} height={32} rx={2} />
  const shown = room > label.length * CHARACTER_PX + 12
  if (kind === 'backoff') {
    return (
      <>
        <path class="backoff" d={`M${from} ${MIDDLE}H${to}`} />
        {shown && (
          <text x={(from + to) / 2} y={MIDDLE - 6} text-anchor="middle">
            {label}
          </text>
        )}
      </>
    )
  }
  return (
    <>
      <rect class="waits" x={from} y={MIDDLE - BAR / 2} width={Math.max(1, room)} height={BAR} rx={3} />
      {shown && (
        <text x={from + 8} y={MIDDLE + 4}>
          {label}
        </text>
      )}
    </>
  )
}

interface RunLabelsProps {
  readonly segments: readonly Segment[]
  readonly x: (at: number) => number
  readonly width: number
}

/** Times of runs, below their bars; one that would lie on the one before is left out. */
function RunLabels({ segments, x, width }: RunLabelsProps) {
  let free = 0
  return (
    <>
      {segments.map(({ kind, from, to, label }, place) => {
        if (kind !== 'ok' && kind !== 'bad' && kind !== 'running') return null
        const half = (label.length * CHARACTER_PX) / 2
        const at = Math.min(width - half, Math.max(half, x((from + to) / 2)))
        if (at - half < free) return null
        free = at + half + 6
        return (
          <text key={place} class={`time ${kind}`} x={at} y={MIDDLE + 30} text-anchor="middle">
            {label}
          </text>
        )
      })}
    </>
  )
}

function inWords({ kind, label }: Segment): string {
  return kind === 'ok' || kind === 'bad' || kind === 'running' ? `${timeline.kinds[kind]} ${label}` : label
}
