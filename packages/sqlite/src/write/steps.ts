/** Writes the results of durable calls, and the messages that wait for some. */
import type { Effects } from '@millrace/core/kernel'
import { MESSAGE_COLUMNS, messageValues, STEP_COLUMNS, stepValues } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareSteps(db: Database): (effects: Effects) => void {
  // The run that has recorded a result may send it again.
  const record = db.prepare(`INSERT OR IGNORE INTO step (${STEP_COLUMNS}, value) VALUES (${'?, '.repeat(13)}?)`)
  const rewind = db.prepare("DELETE FROM step WHERE seq = ? AND (number = ? OR asked > ? OR (? AND error_name <> ''))")
  const take = db.prepare('DELETE FROM message WHERE seq = ? AND number = ?')
  const keep = db.prepare(`INSERT INTO message (${MESSAGE_COLUMNS}, value) VALUES (?, ?, ?, ?, ?, ?)`)

  return ({ steps, rewinds, messages, taken }) => {
    for (const each of steps) record.run(...stepValues(each), each.value)
    for (const { seq, number, failed } of rewinds) rewind.run(seq, number, number, Number(failed === true))
    // A number is free again once no message is kept.
    for (const { seq, number } of taken) expectChanges('take a message', take.run(seq, number).changes, 1)
    for (const each of messages) keep.run(...messageValues(each), each.value)
  }
}
