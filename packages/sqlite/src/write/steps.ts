/** Writes the results of durable calls. */
import type { Effects } from '@millrace/core/kernel'
import { STEP_COLUMNS, stepValues } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareSteps(db: Database): (effects: Effects) => void {
  // The run that has recorded a result may send it again.
  const record = db.prepare(`INSERT OR IGNORE INTO step (${STEP_COLUMNS}, value) VALUES (${'?, '.repeat(13)}?)`)
  const rewind = db.prepare("DELETE FROM step WHERE seq = ? AND (number = ? OR asked > ? OR (? AND error_name <> ''))")

  return ({ steps, rewinds }) => {
    for (const each of steps) record.run(...stepValues(each), each.value)
    for (const { seq, number, failed } of rewinds) rewind.run(seq, number, number, Number(failed === true))
  }
}
