/** Answers questions about the throughput of queues and the kinds of failures. */
import {
  type FailureGroup,
  type FailuresCommand,
  formatFingerprint,
  type HistoryCommand,
  type HistoryOfQueues,
  type HistoryPoint,
  LIMITS,
  type Now,
} from '@millrace/core'
import { HISTORY_UNITS, type Lane, type Questions, readHistories, type Tables, trendOf } from '@millrace/core/kernel'

interface Asked {
  readonly store: Questions
  readonly tables: Tables
  readonly now: Now
}

export function historyOf(asked: Asked, command: HistoryCommand): HistoryPoint[] | HistoryOfQueues {
  const { store, now } = asked
  return command.busiest === undefined ? pointsOf(asked, command) : readHistories(store, command, now.wall, LIMITS.historySummedByWriter)
}

/** Returns the throughput, as the differences between the totals that are stored. */
function pointsOf({ store, tables, now }: Asked, { queue: name, step, from, to }: HistoryCommand): HistoryPoint[] {
  const queue = tables.queues.get(name)
  if (queue === undefined) return []
  const { begin, keptMs } = HISTORY_UNITS[step]
  const rows = store.minutes(queue.id, step, begin(Math.max(from, now.wall - keptMs)))
  const points = rows.map(({ at, totals }, index) => {
    const { enqueued, completed, failed, cancelled } = rows[index + 1]?.totals ?? queue.totals
    return {
      at,
      enqueued: enqueued - totals.enqueued,
      completed: completed - totals.completed,
      failed: failed - totals.failed,
      cancelled: cancelled - totals.cancelled,
    }
  })
  return to === undefined ? points : points.filter(({ at }) => at < begin(to))
}

export function failuresOf({ store, tables, now }: Asked, { queue, name, limit, order = 'last', trend }: FailuresCommand): FailureGroup[] {
  const laneIds = queue === undefined && name === undefined ? undefined : lanesOf(tables, queue, name).map(({ id }) => id)
  return store
    .failures(laneIds, Math.min(limit, LIMITS.pageFailures), order)
    .map(({ laneId, fingerprint, error, count, firstAt, lastAt, hours, job, message }) => {
      const lane = tables.laneOf(laneId)
      return {
        fingerprint: formatFingerprint(fingerprint),
        queue: lane.queue.name,
        name: lane.name,
        error,
        count,
        firstAt,
        lastAt,
        job: job ?? null,
        message: message ?? null,
        ...(trend !== undefined && { trend: trendOf({ count, hours }, now.wall) }),
      }
    })
}

function lanesOf({ lanesById }: Tables, queue: string | undefined, name: string | undefined): Lane[] {
  return [...lanesById.values()].filter(
    (lane) => (queue === undefined || lane.queue.name === queue) && (name === undefined || lane.name === name),
  )
}
