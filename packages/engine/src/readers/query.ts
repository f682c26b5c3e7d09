/** Runs in a reader thread: one read-only connection, opened with the first question. */
import { type JobRow, type JobView, type LaneRow, LIMITS, type ListCommand, type ListPage, viewOf } from '@millrace/core'
import { openReader, type StoreReader } from '@millrace/sqlite'
import { workerData } from 'piscina'
import { systemClock } from '../clock.ts'

interface Found {
  readonly rows: readonly JobRow[]
  readonly next: number | null
}

let reader: StoreReader | undefined
/** Lanes are only ever added: what is not known yet is read again. */
let lanes = new Map<number, LaneRow>()

export function page(command: ListCommand): ListPage {
  reader ??= openReader(workerData.file)
  const { rows, next } = command.search === undefined ? listed(reader, command) : searched(reader, command, command.search)
  if (rows.some((row) => !lanes.has(row.laneId))) lanes = new Map(reader.load().lanes.map((lane) => [lane.id, lane]))
  const jobs = rows.map((row): JobView => {
    const lane = lanes.get(row.laneId) as LaneRow
    return viewOf(row, lane.queue, lane.name, [])
  })
  return { jobs, next }
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
