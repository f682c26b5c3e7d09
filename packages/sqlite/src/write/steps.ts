/** Writes the results of durable calls, and the messages that wait for some. */
import type { Effects, StepRecord } from '@millrace/core/kernel'
import { MESSAGE_COLUMNS, messageValues, type SqlValue, STEP_COLUMNS, stepValues } from '@millrace/sql'
import { prepareBatched } from '../batchedStatement.ts'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareSteps(db: Database): (effects: Effects) => void {
  // The run that has recorded a result may send it again.
  const insert = `INSERT OR IGNORE INTO step (${STEP_COLUMNS}, value)`
  const failed = db.prepare(`${insert} VALUES (${'?, '.repeat(13)}?)`)
  // Most have no error, and do not bind its columns.
  const done = prepareBatched<StepRecord>(db, {
    sql: (values) => `${insert} SELECT ${OF_VALUES} FROM (VALUES ${values})`,
    shared: 0,
    width: FACTS + 1,
    bind: bindResult,
  })
  const rewind = db.prepare("DELETE FROM step WHERE seq = ? AND (number = ? OR asked > ? OR (? AND error_name <> ''))")
  const take = db.prepare('DELETE FROM message WHERE seq = ? AND number = ?')
  const keep = db.prepare(`INSERT INTO message (${MESSAGE_COLUMNS}, value) VALUES (?, ?, ?, ?, ?, ?)`)

  return ({ steps, rewinds, messages, taken }) => {
    if (steps.length > 0) {
      done.run(
        steps.filter(({ error }) => error === undefined),
        [],
      )
      for (const each of steps) if (each.error !== undefined) failed.run(...stepValues(each), each.value)
    }
    for (const { seq, number, failed: areFailed } of rewinds) rewind.run(seq, number, number, Number(areFailed === true))
    // A number is free again once no message is kept.
    for (const { seq, number } of taken) expectChanges('take a message', take.run(seq, number).changes, 1)
    for (const each of messages) keep.run(...messageValues(each), each.value)
  }
}

/** The number of values before those of an error. */
const FACTS = 8
const OF_VALUES = `${Array.from({ length: FACTS }, (_, index) => `column${index + 1}`).join(', ')}, '', '', NULL, NULL, NULL, column${FACTS + 1}`

function bindResult(result: StepRecord, values: SqlValue[], place: number): void {
  const own = stepValues(result)
  for (let index = 0; index < FACTS; index++) values[place + index] = own[index] as SqlValue
  values[place + FACTS] = result.value
}
