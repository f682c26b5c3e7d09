/** Reads the failed jobs of a redrive, oldest first. */
import type { RedriveCommand } from '../../commands.ts'
import { FAILED } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { countOf, type Lane } from '../records/lane.ts'
import type { Facts } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'

const FIRST = { finishedAt: -1, seq: -1 }

export function gatherFailed(plan: Plan, tables: Tables, facts: Facts, command: RedriveCommand): void {
  const laneIds = failedLanes(tables, command).map(({ id }) => id)
  plan.ask('failed', [laneIds, command.after ?? FIRST, Math.min(command.limit, LIMITS.sliceRows)], (rows) => {
    for (const row of rows) {
      const job = facts.remember(row)
      facts.addFailed(command, job, row.finishedAt)
      plan.mayRevive(job)
    }
  })
}

/** Returns the lanes with the jobs that a redrive is about. */
export function failedLanes(tables: Tables, { queue, name }: RedriveCommand): Lane[] {
  const lanes: Lane[] = []
  for (const candidate of queue === undefined ? tables.queues.values() : [tables.queues.get(queue)]) {
    if (candidate === undefined) continue
    for (const lane of candidate.lanes.values())
      if ((name === undefined || lane.name === name) && countOf(lane, FAILED) > 0) lanes.push(lane)
  }
  return lanes
}
