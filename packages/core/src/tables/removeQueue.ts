/** Forgets a queue without jobs, with everything that is known of it. */
import { addSums, type Queue } from './lane.ts'
import type { Tables } from './tables.ts'

export function removeQueue(tables: Tables, queue: Queue): void {
  const { queues, lanesById, lanesByName, thirsty, keys, doors } = tables
  queue.gone = true
  queues.delete(queue.name)
  addSums(queue.all, queue, -1)
  doors.forget(queue)
  for (const key of queue.keys?.values() ?? []) keys.forget(key)
  for (const lane of queue.lanes.values()) {
    lanesById.delete(lane.id)
    thirsty.delete(lane)
    keys.crowded.delete(lane)
    if (lane.services.length > 0) tables.servedLanes--
    for (const service of lane.services) service.lanes.delete(lane)
    const namesakes = (lanesByName.get(lane.name) ?? []).filter((one) => one !== lane)
    if (namesakes.length > 0) lanesByName.set(lane.name, namesakes)
    else lanesByName.delete(lane.name)
  }
}
