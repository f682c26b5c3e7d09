/** The job names of a queue: how long they wait and run, who serves them, and which are paused. */
import type { QueueAnswer, StatsAnswer, Worker } from '../../api/answers.ts'
import { takes } from './checks.ts'

export interface NameRow {
  readonly name: string
  readonly isPaused: boolean
  /** Jobs that wait while nobody serves the name. */
  readonly unserved: number | undefined
  /** The number of workers that serve it; undefined until they are known. */
  readonly workers: number | undefined
  readonly started: number
  readonly failed: number
  /** Undefined before the first start. */
  readonly wait: Percentiles | undefined
  /** Undefined before a run has ended. */
  readonly run: Percentiles | undefined
}

type Percentiles = Pick<StatsAnswer['names'][number]['waitMs'], 'p50' | 'p95'>

/** Unserved names first, then paused ones, then those that started most. */
export function nameRows(
  { name: queue, pausedJobs }: QueueAnswer,
  stats: StatsAnswer,
  workers: readonly Worker[] | undefined,
): readonly NameRow[] {
  const timed = new Map(stats.names.filter((each) => each.queue === queue).map((each) => [each.name, each]))
  const unserved = new Map(stats.unserved.filter((each) => each.queue === queue).map(({ name, waiting }) => [name, waiting]))
  const rows = [...new Set([...unserved.keys(), ...pausedJobs, ...timed.keys()])].map((name): NameRow => {
    const times = timed.get(name)
    const serving = workers?.filter((worker) => takes(worker, queue) && worker.names.includes(name))
    return {
      name,
      isPaused: pausedJobs.includes(name),
      unserved: unserved.get(name),
      workers: serving && new Set(serving.map(({ id }) => id)).size,
      started: times?.started ?? 0,
      failed: times?.failed ?? 0,
      wait: times !== undefined && times.started > 0 ? times.waitMs : undefined,
      run: times !== undefined && times.completed + times.failed > 0 ? times.runMs : undefined,
    }
  })
  const weight = ({ unserved: waiting, isPaused }: NameRow) => (waiting === undefined ? 0 : 2) + (isPaused ? 1 : 0)
  return rows.toSorted((a, b) => weight(b) - weight(a) || b.started - a.started || (a.name < b.name ? -1 : 1))
}
