/** Runs in a reader thread, with one read-only connection that is opened with the first question. */
import { type CommandOf, type JobView, LIMITS, type ListCommand, type ListPage, type ReplyOf } from '@millrace/core'
import { type JobRow, type LaneRow, readFlow, readHistories, viewOf } from '@millrace/core/kernel'
import { openReader, type StoreReader } from '@millrace/sqlite'
import { workerData } from 'piscina'
import { systemClock } from '../clock.ts'
import type { Paged } from './readers.ts'

interface Found {
  readonly rows: readonly JobRow[]
  readonly next: number | null
}

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
  const { rows, next } = command.search === undefined ? listed(store, command) : searched(store, command, command.search)
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

function listed(store: StoreReader, { filter, before, limit }: ListCommand): Found {
  const rows = store.page(filter, before, Math.min(limit, LIMITS.pageJobs))
  const last = rows.at(-1)
  return { rows, next: rows.length < limit || last === undefined ? null : last.seq }
}

function searched(store: StoreReader, { filter, before = Number.MAX_SAFE_INTEGER, limit }: ListCommand, text: string): Found {
  const until = systemClock.read().mono + LIMITS.searchMs
  const bound = { rows: LIMITS.searchRows, late: () => systemClock.read().mono >= until }
  return store.search({ filter, text }, before, Math.min(limit, LIMITS.pageJobs), bound)
}
