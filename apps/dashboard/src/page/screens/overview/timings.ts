/** Waiting and running times of the busiest job names, on one axis of orders of magnitude. */
import type { StatsAnswer } from '../../api/answers.ts'
import { logarithmic, timeTicks } from '../../chart/scale.ts'

type Name = StatsAnswer['names'][number]
type Percentiles = Pick<Name['waitMs'], 'p50' | 'p95' | 'p99'>

export interface TimingRow {
  readonly queue: string
  readonly name: string
  /** The name, with its queue if another queue has the same. */
  readonly label: string
  readonly wait: Percentiles
  /** Undefined before a run has ended. */
  readonly run: Percentiles | undefined
  /** Its queue is falling behind. */
  readonly isLate: boolean
}

/** @param behind the queues that are falling behind */
export function timingRows(names: readonly Name[], behind: ReadonlySet<string>, most: number): readonly TimingRow[] {
  const shown = names.filter(({ started }) => started > 0).slice(0, most)
  return shown.map(({ queue, name, completed, failed, waitMs, runMs }) => ({
    queue,
    name,
    label: shown.some((other) => other.name === name && other.queue !== queue) ? `${queue} / ${name}` : name,
    wait: waitMs,
    run: completed + failed > 0 ? runMs : undefined,
    isLate: behind.has(queue),
  }))
}

export interface TimeAxis {
  readonly ticks: readonly { readonly at: number; readonly name: string }[]
  readonly positionOf: (ms: number) => number
}

/** An axis between two pixels, from 1 ms to the first tick that is as long as the longest time. */
export function timeAxis(rows: readonly TimingRow[], from: number, to: number): TimeAxis {
  const ticks = timeTicks(Math.max(0, ...rows.flatMap(({ wait, run }) => [wait.p99, run?.p99 ?? 0])))
  const [longest] = ticks.at(-1) as readonly [number, string]
  const positionOf = logarithmic(1, longest, from, to)
  return { ticks: ticks.map(([ms, name]) => ({ at: positionOf(ms), name })), positionOf }
}
