/**
 * With something and without it, stretch by stretch in one process: both speeds are of the same seconds, so that what a machine does by
 * the way hits both, and their ratio says more than two runs one after the other.
 */
import type { Figures } from './measurement.ts'
import { median } from './quantile.ts'

export interface Side {
  /** Before the first job of a stretch. */
  readonly prepare?: () => Promise<void>
  /** Answers what so many jobs took. */
  readonly work: (jobs: number) => Promise<Figures>
}

export interface Turns {
  /** Of both sides together, about: those that warm up before a stretch are among them. */
  readonly jobs: number
  /** Of both, an even number. */
  readonly rounds: number
  readonly alone: Side
  readonly beside: Side
}

/** Before each stretch that counts: what the other side left behind is collected. */
const WARM_UP = 0.25

/** The figures with it, those without as `...Alone`, and `ofNone`, the median of each pair's ratio. */
export async function takeTurns({ jobs, rounds, alone, beside }: Turns): Promise<Figures> {
  const stretch = Math.max(1, Math.floor(jobs / (2 * rounds * (1 + WARM_UP))))
  const warmUp = Math.ceil(stretch * WARM_UP)
  const runs = new Map<Side, Figures[]>([
    [alone, []],
    [beside, []],
  ])
  for (let round = 0; round < rounds; round++) {
    // Without and with, with and without: a file that grows, and a heap, make neither look slower.
    for (const side of round % 2 === 0 ? [alone, beside] : [beside, alone]) {
      await side.prepare?.()
      await side.work(warmUp)
      runs.get(side)?.push(await side.work(stretch))
    }
  }

  const of = (side: Side, name: string) => (runs.get(side) ?? []).flatMap((figures) => figures[name] ?? [])
  const both = (name: string): Figures => {
    const values = of(beside, name)
    // Where the system does not tell of threads.
    return values.length === 0 ? {} : { [name]: median(values), [`${name}Alone`]: median(of(alone, name)) }
  }
  const speeds = of(alone, 'jobsPerSecond')
  return {
    ofNone: median(of(beside, 'jobsPerSecond').map((speed, round) => speed / (speeds[round] as number))),
    ...both('jobsPerSecond'),
    ...both('mainMicrosPerJob'),
    ...both('writerMicrosPerJob'),
    rssPeakMb: Math.max(...of(beside, 'rssPeakMb')),
  }
}
