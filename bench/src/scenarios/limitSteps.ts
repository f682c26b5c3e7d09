/**
 * The limit of steps: as the limit of whole jobs, and between start and end so many results of each job, each a row in a table with the
 * index that finds them, in transactions of 1,000.
 */
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf, STEP_RESULT } from '../payload.ts'
import { openLimitTable, prepareInsert } from './limitTable.ts'

const STEP_TABLE = `CREATE TABLE step (
  job INTEGER, number INTEGER, asked INTEGER, name TEXT, kind INTEGER, run INTEGER, started_at INTEGER, ended_at INTEGER, value TEXT,
  PRIMARY KEY (job, number))`

export const limitSteps: Scenario = async ({ file, durability, jobs, stepsPerJob }) => {
  const table = openLimitTable(file, durability, false)
  table.db.exec(STEP_TABLE)
  const insert = prepareInsert(table.db)
  const start = table.db.prepare('UPDATE job SET state = 1, run = run + 1, started_at = ? WHERE id = ?')
  const record = table.db.prepare('INSERT INTO step VALUES (?, ?, ?, ?, 0, 1, ?, ?, ?)')
  const finish = table.db.prepare('UPDATE job SET state = 2, finished_at = ? WHERE id = ? AND run = 1')
  const stop = startMeter()
  table.batches(jobs, (first, last) => {
    table.transaction(first, last, (id) => insert(id, JSON.stringify(payloadOf(id))))
    table.transaction(first, last, (id) => start.run(Date.now(), id))
    for (let number = 1; number <= stepsPerJob; number++) {
      const name = `step ${number}`
      table.transaction(first, last, (id) => {
        const now = Date.now()
        record.run(id, number, number, name, now, now, JSON.stringify(STEP_RESULT))
      })
    }
    table.transaction(first, last, (id) => finish.run(Date.now(), id))
  })
  const figures = stop(jobs)
  table.close(2, jobs)
  return { ...figures, stepsPerSecond: (figures['jobsPerSecond'] as number) * stepsPerJob }
}
