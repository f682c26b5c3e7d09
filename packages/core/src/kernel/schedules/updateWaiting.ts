/**
 * Gives the last job of a schedule, which has yet to start, what an upsert says of its jobs. A schedule knows its last job alone. The
 * record is the turn's own, and dispatch comes after the commands: a job that is not handed out by then starts with all of it.
 */
import type { NewJob } from '../../commands.ts'
import { defaultsOf } from '../../queueSettings.ts'
import { priorityOf, weightOf } from '../jobs/enqueue.ts'
import { replaceExplicit } from '../jobs/explicitFields.ts'
import { metaOf } from '../jobs/meta.ts'
import { reschedule } from '../jobs/reschedule.ts'
import { changeLabels } from '../jobs/update.ts'
import { DIRTY_DATA } from '../records/job.ts'
import type { Schedule } from '../records/ticks.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { hasStarted, labelsOf, liveJob } from './fire.ts'

/** Returns true if there is such a job and it had something else. */
export function updateWaiting(turn: TurnContext, schedule: Schedule): boolean {
  const { effects, tables, settings } = turn
  const { id, job: wanted } = schedule
  const job = liveJob(turn, schedule)
  // The data of another name is for another handler.
  if (job === undefined || hasStarted(job) || job.lane.name !== wanted.name) return false
  const before = job.extras
  const { tags, meta } = labelsOf(id, wanted, metaOf(before?.meta, 'schedule'))
  const hasLabels = meta === before?.meta && String(tags) === String(before.tags)
  if (!hasLabels) changeLabels(turn, job, { tags, meta })
  replaceExplicit(turn, job, { priority: wanted.priority, weight: wanted.weight })
  const defaults = tables.definitions.inForce.get(wanted.name)?.defaults
  const ofQueue = defaultsOf(settings.defaults, job.lane.queue.settings)
  const priority = priorityOf(wanted, defaults, ofQueue)
  const weight = weightOf(wanted, defaults, ofQueue)
  if (isSameData(job.data, wanted.data) && priority === job.priority && weight === job.weight) return !hasLabels
  reschedule(turn, job, () => {
    job.data = wanted.data
    job.priority = priority
    job.weight = weight
    effects.touch(job, DIRTY_DATA)
  })
  return true
}

export function isSameData(a: NewJob['data'] | undefined, b: NewJob['data']): boolean {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
