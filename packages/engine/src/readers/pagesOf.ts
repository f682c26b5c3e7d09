/** Answers questions in a reader thread, from a store that is opened with the first one. */
import { type CommandOf, type JobView, LIMITS, type ListCommand, type ListPage, type ReplyOf } from '@millrace/core'
import { type LaneRow, readFlow, readFlows, readHistories, type ScanBound, type Store, viewOf } from '@millrace/core/kernel'
import { workerData } from 'piscina'
import { systemClock } from '../clock.ts'
import type { Paged } from './readers.ts'

/** The part of a store that readers need. It sees every commit that was answered before the question. */
export type StoreReader = Pick<Store, 'load' | 'list' | 'children' | 'flowJobs' | 'listFlows' | 'histories'>

/** Stands for the lane of a queue that was emptied and deleted since. */
const GONE = { queue: '', name: '' }

/** Returns the bounds of a page that begins now. */
function bound(): ScanBound {
  const until = systemClock.read().mono + LIMITS.searchMs
  return { rows: LIMITS.searchRows, late: (scanned) => scanned >= LIMITS.leastRows && systemClock.read().mono >= until }
}

/** Returns the function that the pool calls. `open` gets the options of the store module. */
export function pagesOf<Options>(open: (options: Options) => StoreReader): (command: CommandOf<Paged>) => ReplyOf[Paged] {
  let reader: StoreReader | undefined
  /** Lanes by id. No id is given twice: if one is unknown, they are read again. */
  let lanes = new Map<number, LaneRow>()

  function laneOf(store: StoreReader, laneId: number): LaneRow | undefined {
    if (!lanes.has(laneId)) lanes = new Map(store.load().lanes.map((lane) => [lane.id, lane]))
    return lanes.get(laneId)
  }

  function list(store: StoreReader, command: ListCommand): ListPage {
    const { rows, ...place } = store.list({ ...command, limit: Math.min(command.limit, LIMITS.pageJobs) }, bound())
    const jobs = rows.flatMap((row): JobView[] => {
      const lane = laneOf(store, row.laneId)
      // Its queue was emptied and deleted since: the job is gone.
      return lane === undefined ? [] : [viewOf(row, lane.queue, lane.name, [])]
    })
    return { jobs, ...place }
  }

  return (command) => {
    reader ??= open(workerData)
    const store = reader
    switch (command.op) {
      case 'list':
        return list(store, command)
      case 'getFlow':
        return readFlow(store, command, (laneId) => laneOf(store, laneId) ?? GONE)
      case 'listFlows':
        return readFlows(store, command, bound(), (laneId) => laneOf(store, laneId) ?? GONE)
      case 'history':
        return readHistories(store, command, systemClock.read().wall, LIMITS.historySummed)
    }
  }
}
