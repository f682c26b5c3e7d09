/** Runs in a reader thread, with one read-only connection that is opened with the first question. */
import { type CommandOf, type JobView, LIMITS, type ListCommand, type ListPage, type ReplyOf } from '@millrace/core'
import { type LaneRow, readFlow, readHistories, viewOf } from '@millrace/core/kernel'
import { openReader, type StoreReader } from '@millrace/sqlite'
import { workerData } from 'piscina'
import { systemClock } from '../clock.ts'
import type { Paged } from './readers.ts'

let reader: StoreReader | undefined
/** Lanes by id. Lanes are only ever added: if one is unknown, they are read again. */
let lanes = new Map<number, LaneRow>()
/** Stands for the lane of a queue that was emptied and deleted since. */
const GONE = { queue: '', name: '' }

export function page(command: CommandOf<Paged>): ReplyOf[Paged] {
  reader ??= openReader(workerData.file)
  const store = reader
  switch (command.op) {
    case 'list':
      return list(store, command)
    case 'getFlow':
      return readFlow(store, command, (laneId) => laneOf(store, laneId) ?? GONE)
    case 'history':
      return readHistories(store, command, systemClock.read().wall, LIMITS.historySummed)
  }
}

function list(store: StoreReader, command: ListCommand): ListPage {
  const until = systemClock.read().mono + LIMITS.searchMs
  const bound = { rows: LIMITS.searchRows, late: () => systemClock.read().mono >= until }
  const { rows, next } = store.list({ ...command, limit: Math.min(command.limit, LIMITS.pageJobs) }, bound)
  const jobs = rows.flatMap((row): JobView[] => {
    const lane = laneOf(store, row.laneId)
    // Its queue was emptied and deleted since: the job is gone.
    return lane === undefined ? [] : [viewOf(row, lane.queue, lane.name, [])]
  })
  return { jobs, next }
}

function laneOf(store: StoreReader, laneId: number): LaneRow | undefined {
  if (!lanes.has(laneId)) lanes = new Map(store.load().lanes.map((lane) => [lane.id, lane]))
  return lanes.get(laneId)
}
