/**
 * The limit of whole jobs: a hand-written better-sqlite3 loop that inserts a job, sets it running and sets it done, row by row, in
 * transactions of 1,000, with nothing else: no index, no queue, no fences, no answers to anybody.
 */
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { openLimitTable, prepareInsert } from './limitTable.ts'

export const limit: Scenario = async ({ file, durability, jobs }) => {
  const table = openLimitTable(file, durability, false)
  const insert = prepareInsert(table.db)
  const start = table.db.prepare('UPDATE job SET state = 1, run = run + 1, started_at = ? WHERE id = ?')
  const finish = table.db.prepare('UPDATE job SET state = 2, finished_at = ? WHERE id = ? AND run = 1')
  const stop = startMeter()
  table.batches(jobs, (first, last) => {
    table.transaction(first, last, (id) => insert(id, JSON.stringify(payloadOf(id))))
    table.transaction(first, last, (id) => start.run(Date.now(), id))
    table.transaction(first, last, (id) => finish.run(Date.now(), id))
  })
  const figures = stop(jobs)
  table.close(2, jobs)
  return figures
}
