/** Workers for people. */
import type { WorkerView } from '@millrace/engine'
import { awayText, bytesText, durationText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Paint } from '../output/style.ts'
import type { Column } from '../output/table.ts'

/** The figures that the process of a worker reports. */
const PROCESS_COLUMNS: readonly Column<WorkerView>[] = [
  { title: 'DELAY', text: ({ eventLoopDelayMs: ms }) => (ms === undefined ? '-' : durationText(ms)), right: true },
  { title: 'MEMORY', text: ({ rssBytes }) => (rssBytes === undefined ? '-' : bytesText(rssBytes)), right: true },
  { title: 'KIND', text: ({ kind = '-' }) => kind },
  { title: 'VERSION', text: ({ version = '-' }) => version },
]

/** @param now if given, columns show how long ago each worker was last heard, and how its process fares */
export function workerColumns(paint: Paint, now?: number): readonly Column<WorkerView>[] {
  return [
    { title: 'ID', text: ({ id }) => id },
    { title: 'PID', text: ({ pid }) => String(pid), right: true },
    { title: 'HOST', elastic: true, text: ({ host }) => host },
    { title: 'STATE', text: (worker) => stateOf(worker, paint) },
    ...(now === undefined ? [] : [{ title: 'SEEN', text: (worker: WorkerView) => seenText(worker, now) }]),
    { title: 'RUNS', text: ({ runningJobs, maxConcurrency }) => `${runningJobs}/${maxConcurrency}`, right: true },
    ...(now === undefined
      ? []
      : [{ title: 'DEADLINE', text: (worker: WorkerView) => deadlineText(worker, now), right: true }, ...PROCESS_COLUMNS]),
    { title: 'QUEUES', elastic: true, text: ({ queues, order }) => queues?.join(order === 'strict' ? ' > ' : ', ') ?? 'all' },
    { title: 'NAMES', elastic: true, text: ({ names }) => names.join(', ') },
  ]
}

/** Formats when a worker was last heard. An idle worker may be silent without trouble. The engine's clock may be ahead of this one. */
function seenText({ away, lastSeenAt: at }: WorkerView, now: number): string {
  if (at !== undefined && !away && now - at.getTime() < QUIET_MS) return 'just now'
  return awayText(at && new Date(Math.min(at.getTime(), now)), now)
}

/** Formats the time that is left until the earliest deadline of its jobs. */
function deadlineText({ nextDeadlineAt: at }: WorkerView, now: number): string {
  return at === undefined ? '-' : durationText(Math.max(0, at.getTime() - now))
}

const QUIET_MS = 60_000

function stateOf({ away, draining, paused = false, runningJobs }: WorkerView, paint: Paint): Text {
  if (away) return paint('red', 'away')
  if (draining) return paint('yellow', 'draining')
  if (paused) return paint('yellow', 'paused')
  return runningJobs > 0 ? paint('cyan', 'busy') : paint('green', 'idle')
}
