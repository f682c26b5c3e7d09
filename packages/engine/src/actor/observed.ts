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
import { type FailureRow, HISTORY_UNITS, type Lane, type Questions, readHistories, type Tables, trendOf } from '@millrace/core/kernel'

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

export function failuresOf(asked: Asked, command: FailuresCommand): FailureGroup[] {
  const { tables, now } = asked
  return failureRows(asked, command).map(({ laneId, fingerprint, error, count, firstAt, lastAt, hours, job, message }) => {
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
      ...(command.trend !== undefined && { trend: trendOf({ count, hours }, now.wall) }),
    }
  })
}

/** Reads the failures of a queue, of a name, or of all. If a queue has more names than there are kinds of failures, it reads all kinds. */
function failureRows({ store, tables }: Asked, { queue: queueName, name, limit, order = 'last' }: FailuresCommand): FailureRow[] {
  const rowsMax = Math.min(limit, LIMITS.pageFailures)
  const ofLanes = (lanes: readonly Lane[]) =>
    store.failures(
      lanes.map(({ id }) => id),
      rowsMax,
      order,
    )
  if (name !== undefined) {
    const namesakes = tables.lanesByName.get(name) ?? []
    return ofLanes(namesakes.filter(({ queue }) => queueName === undefined || queue.name === queueName))
  }
  if (queueName === undefined) return store.failures(undefined, rowsMax, order)
  const queue = tables.queues.get(queueName)
  if (queue === undefined) return []
  if (queue.lanes.size <= LIMITS.failureGroups) return ofLanes([...queue.lanes.values()])
  const all = store.failures(undefined, LIMITS.failureGroups, order)
  return all.filter(({ laneId }) => tables.laneOf(laneId).queue === queue).slice(0, rowsMax)
}
