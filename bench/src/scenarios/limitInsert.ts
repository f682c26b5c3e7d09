/** The limit of new jobs: inserts row by row, in transactions of 1,000, into a table with the index that finds waiting jobs in order. */
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { openLimitTable, prepareInsert } from './limitTable.ts'

export const limitInsert: Scenario = async ({ file, durability, jobs }) => {
  const table = openLimitTable(file, durability, true)
  const insert = prepareInsert(table.db)
  const stop = startMeter()
  table.batches(jobs, (first, last) => {
    table.transaction(first, last, (id) => insert(id, JSON.stringify(payloadOf(id))))
  })
  const figures = stop(jobs)
  table.close(0, jobs)
  return figures
}
