/** Runs in a reader thread: one read-only connection, opened with the first question. */
import { type JobView, type LaneRow, LIMITS, type ListCommand, type ListPage, viewOf } from '@millrace/core'
import { openReader, type StoreReader } from '@millrace/sqlite'
import { workerData } from 'piscina'

let reader: StoreReader | undefined
/** Lanes are only ever added: what is not known yet is read again. */
let lanes = new Map<number, LaneRow>()

export function page({ filter, before, limit }: ListCommand): ListPage {
  reader ??= openReader(workerData.file)
  const rows = reader.page(filter, before, Math.min(limit, LIMITS.pageJobs))
  if (rows.some((row) => !lanes.has(row.laneId))) lanes = new Map(reader.load().lanes.map((lane) => [lane.id, lane]))
  const last = rows.at(-1)
  const jobs = rows.map((row): JobView => {
    const lane = lanes.get(row.laneId) as LaneRow
    return viewOf(row, lane.queue, lane.name, [])
  })
  return { jobs, next: rows.length < limit || last === undefined ? null : last.seq }
}
