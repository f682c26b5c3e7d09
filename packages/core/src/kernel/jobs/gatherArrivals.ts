/** Reads the oldest jobs of full queues that drop them, as many as the turn may drop. */
import type { NewJob } from '../../commands.ts'
import { ACTIVE } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Request } from '../../port.ts'
import { queueOf } from '../queues/queueOf.ts'
import { countOf, lengthOf, type Queue } from '../records/lane.ts'
import type { Facts } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'

/** The bytes of checkpoints and outputs in one slice. Later turns drop the rest. */
const SLICE_BYTES = 64 * 2 ** 20

export function gatherArrivals(plan: Plan, tables: Tables, facts: Facts, requests: readonly Request[]): void {
  const wanted = new Map<Queue, number>()
  // A worker that attaches in this very turn may define where jobs of its names go.
  const said = requests.flatMap(({ command }) => (command.op === 'attach' ? command.session.handlers : []))
  const wantIn = (name: string) => {
    const queue = tables.queues.get(name)
    if (queue?.settings.onFull !== undefined) wanted.set(queue, (wanted.get(queue) ?? 0) + 1)
  }
  const want = (job: NewJob) => {
    wantIn(queueOf(tables, job))
    if (job.queue !== undefined) return
    for (const { name, defaults } of said) if (name === job.name && defaults.queue !== undefined) wantIn(defaults.queue)
  }
  for (const request of requests) newJobsOf(request, facts).forEach(want)
  for (const { job } of [...facts.dueSchedules, ...facts.freedSchedules]) want(job)
  if (wanted.size === 0) return
  const { leaving, growing } = otherwise(tables, requests, facts)
  for (const [queue, count] of wanted) {
    // Runs may come back to wait for another attempt.
    const most = growing ? Number.POSITIVE_INFINITY : lengthOf(queue) + countOf(queue, ACTIVE) + count
    if (most <= (queue.settings.maxLength ?? 0)) continue
    plan.ask('arrivals', [queue.id, count + leaving, SLICE_BYTES], ({ rows, complete }) => {
      const jobs = rows.map((row) => facts.rememberBare(row))
      // A job in memory may leave it before the turn comes to the command.
      for (const job of jobs) facts.add(job)
      facts.setArrivals(queue, jobs, complete)
    })
  }
}

function newJobsOf({ command }: Request, facts: Facts): readonly NewJob[] {
  switch (command.op) {
    case 'enqueue':
    case 'join':
      return command.jobs
    case 'forward':
      return command.entries.flatMap(({ jobs }) => jobs)
    case 'flow':
      return command.nodes.map(({ job }) => job)
    case 'complete':
      return command.enqueues ?? []
    case 'upsertSchedule':
      return command.runImmediately ? [command.job] : []
    case 'triggerSchedule': {
      const job = facts.schedule(command.id)?.job
      return job === undefined ? [] : [job]
    }
    default:
      return []
  }
}

/** Returns how many of the jobs read may leave before their turn, and whether the queue may gain jobs or lose room by then. */
function otherwise(tables: Tables, requests: readonly Request[], facts: Facts): { readonly leaving: number; readonly growing: boolean } {
  // A tick or a triggered schedule may cancel the job before it. A schedule that is deleted takes its own job along.
  let leaving = facts.expired.length + facts.dueSchedules.length + facts.freedSchedules.length
  for (const { children } of facts.flowSlices) leaving += children.length
  let growing = facts.flowSlices.length > 0 || tables.deadLettering > 0
  for (const { command } of requests) {
    switch (command.op) {
      case 'cancel':
      case 'cancelTree':
      case 'delete':
      case 'deleteSchedule':
      case 'triggerSchedule':
        leaving++
        break
      case 'byKey':
        if (command.call === 'retry' || command.call === 'retryTree') growing = true
        else leaving++
        break
      case 'cancelMany':
      case 'deleteMany':
        leaving += Math.min(command.limit, LIMITS.sliceRows)
        break
      case 'configure':
      case 'retry':
      case 'retryTree':
      case 'retryMany':
      case 'redrive':
        growing = true
        break
      default:
    }
  }
  return { leaving, growing }
}
