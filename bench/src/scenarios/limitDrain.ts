/**
 * The limit of working off a backlog: the next 1,000 by the waiting index, each read and set running, then each set done, row by
 * row, in two transactions.
 */
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { BATCH, openLimitTable, prepareInsert } from './limitTable.ts'

export const limitDrain: Scenario = async ({ file, durability, jobs }) => {
  const { db, batches, transaction, close } = openLimitTable(file, durability, true)
  const insert = prepareInsert(db)
  batches(jobs, (first, last) => transaction(first, last, (id) => insert(id, JSON.stringify(payloadOf(id)))))
  const next = db.prepare("SELECT id, data FROM job WHERE name = 'noop' AND state = 0 ORDER BY priority, run_at, id LIMIT ?")
  const start = db.prepare('UPDATE job SET state = 1, run = run + 1, started_at = ? WHERE id = ?')
  const finish = db.prepare('UPDATE job SET state = 2, finished_at = ? WHERE id = ? AND run = 1')
  const claim = db.transaction(() => {
    const rows = next.all(BATCH) as { readonly id: number; readonly data: string }[]
    for (const { id, data } of rows) {
      JSON.parse(data)
      start.run(Date.now(), id)
    }
    return rows
  })
  const complete = db.transaction((rows: readonly { readonly id: number }[]) => {
    for (const { id } of rows) finish.run(Date.now(), id)
  })
  const stop = startMeter()
  for (let rows = claim(); rows.length > 0; rows = claim()) complete(rows)
  const figures = stop(jobs)
  close(2, jobs)
  return figures
}
