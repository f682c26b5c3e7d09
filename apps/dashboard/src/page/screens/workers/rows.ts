/** Workers as rows: those that need a look first. A worker has a session of its own for each pool of threads: together they are one row. */
import type { Worker } from '../../api/answers.ts'
import { sum } from '../../chart/paths.ts'
import { text } from './text.ts'

export interface WorkerRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly names: readonly string[]
  /** Null for all. */
  readonly queues: readonly string[] | null
  /** True if an earlier queue goes first. */
  readonly isStrict: boolean
  readonly sessions: number
  readonly slots: number
  readonly taken: number
  readonly jobs: number
  readonly zombies: number
  readonly isStopping: boolean
  readonly isPaused: boolean
  readonly isAway: boolean
  readonly attachedAt: string | undefined
  readonly seenAt: string | undefined
  readonly deadlineAt: string | undefined
  readonly kinds: readonly Kind[]
  /** Undefined if its process reports none, as the others below. */
  readonly version: string | undefined
  readonly delayMs: number | undefined
  /** True if something blocks its event loop again and again. */
  readonly isLate: boolean
  readonly rssBytes: number | undefined
}

type Kind = NonNullable<Worker['kind']>
/** A loop that is so late misses heartbeats before long, and is slow to take jobs. */
const LATE_MS = 200

export function workerRows(workers: readonly Worker[]): readonly WorkerRow[] {
  const rows = [...Map.groupBy(workers, ({ id }) => id).values()].map(rowOf)
  return rows.toSorted((a, b) => weightOf(b) - weightOf(a) || (a.id < b.id ? -1 : 1))
}

const weightOf = ({ isAway, zombies, isStopping }: WorkerRow) => (zombies > 0 ? 4 : 0) + (isAway ? 2 : 0) + (isStopping ? 1 : 0)

function rowOf(sessions: readonly Worker[]): WorkerRow {
  const [first] = sessions as readonly [Worker]
  const queues = sessions.map((each) => each.queues)
  // One process reports for all of its sessions.
  const { version, eventLoopDelayMs: delayMs, rssBytes } = first
  const times = (name: 'attachedAt' | 'lastSeenAt' | 'nextDeadlineAt') => sessions.flatMap((each) => each[name] ?? []).toSorted()
  return {
    id: first.id,
    host: first.host,
    pid: first.pid,
    names: [...new Set(sessions.flatMap(({ names }) => names))],
    isStrict: sessions.some(({ order }) => order === 'strict'),
    queues: queues.includes(null) ? null : [...new Set(queues.flatMap((each) => each ?? []))],
    sessions: sessions.length,
    slots: sum(sessions.map(({ maxConcurrency }) => maxConcurrency)),
    taken: sum(sessions.map(({ runningWeight }) => runningWeight)),
    jobs: sum(sessions.map(({ runningJobs }) => runningJobs)),
    zombies: sum(sessions.map(({ zombies }) => zombies)),
    isStopping: sessions.every(({ draining }) => draining),
    isPaused: sessions.every(({ paused }) => paused),
    isAway: sessions.some(({ away }) => away),
    attachedAt: times('attachedAt')[0],
    seenAt: times('lastSeenAt').at(-1),
    deadlineAt: times('nextDeadlineAt')[0],
    kinds: [...new Set(sessions.map(({ kind }) => kind))],
    version,
    delayMs,
    isLate: delayMs !== undefined && delayMs >= LATE_MS,
    rssBytes,
  }
}

/** Says where the handlers of a worker run. */
export function kindsOf({ kinds }: WorkerRow): string {
  return kinds.map((kind) => text.kinds[kind]).join(', ')
}
