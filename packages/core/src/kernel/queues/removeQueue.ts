/** Forgets a queue without jobs, with everything that is known of it; or a job name in it. */

import { addSums, type Lane, type Queue } from '../records/lane.ts'
import type { Tables } from '../state/tables.ts'

export function removeQueue(tables: Tables, queue: Queue): void {
  const { queues, keys, dispatchable } = tables
  queue.gone = true
  queues.delete(queue.name)
  addSums(queue.all, queue, -1)
  dispatchable.forget(queue)
  for (const key of queue.keys?.values() ?? []) keys.forget(key)
  for (const lane of queue.lanes.values()) removeLane(tables, lane)
}

/** Removes a lane from everywhere except its queue, which knows its former lanes if it is gone itself. */
export function removeLane(tables: Tables, lane: Lane): void {
  const { lanesById, lanesByName, needRefill, keys } = tables
  lanesById.delete(lane.id)
  needRefill.delete(lane)
  keys.overfilled.delete(lane)
  if (lane.groups.length > 0) tables.servedLanes--
  for (const group of lane.groups) group.lanes.delete(lane)
  const namesakes = (lanesByName.get(lane.name) ?? []).filter((one) => one !== lane)
  if (namesakes.length > 0) lanesByName.set(lane.name, namesakes)
  else lanesByName.delete(lane.name)
}
