/** Writes the results of durable calls, and the messages that wait for some. */
import type { Effects } from '@millrace/core/kernel'
import { MESSAGE_COLUMNS, messageValues, STEP_COLUMNS, stepValues } from '@millrace/sql'
import { bytesOf, textOf } from '../tables/payload.ts'
import type { Batch } from './batch.ts'

const TYPES = [
  ...['bigint', 'bigint', 'bigint', 'text', 'smallint', 'bigint', 'bigint', 'bigint'],
  ...['text', 'text', 'text', 'text', 'text', 'text', 'bytea'],
]

// The run that has recorded a result may send it again.
const RECORD = `INSERT INTO step (${STEP_COLUMNS}, value, value_bytes)
SELECT * FROM unnest(${TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(', ')}) ON CONFLICT DO NOTHING`
const REWIND = "DELETE FROM step WHERE seq = $1 AND (number = $2 OR asked > $2 OR ($3::int = 1 AND error_name <> ''))"
const MESSAGE_TYPES = ['bigint', 'bigint', 'text', 'bigint', 'text', 'text', 'bytea']
const KEEP = `INSERT INTO message (${MESSAGE_COLUMNS}, value, value_bytes)
SELECT * FROM unnest(${MESSAGE_TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`
const TAKE = 'DELETE FROM message USING unnest($1::bigint[], $2::bigint[]) AS t (s, n) WHERE seq = t.s AND number = t.n'

export function writeSteps(batch: Batch, { steps, rewinds, messages, taken }: Effects): void {
  if (steps.length > 0) {
    const rows = steps.map((each) => [...stepValues(each), textOf(each.value), bytesOf(each.value)])
    batch.add(RECORD, ...TYPES.map((_, index) => rows.map((row) => row[index] ?? null)))
  }
  for (const { seq, number, failed } of rewinds) batch.add(REWIND, seq, number, Number(failed === true))
  // A number is free again once no message is kept.
  if (taken.length > 0) {
    const places = [taken.map(({ seq }) => seq), taken.map(({ number }) => number)]
    batch.change('take messages', taken.length, TAKE, ...places)
  }
  if (messages.length > 0) {
    const rows = messages.map((each) => [...messageValues(each), textOf(each.value), bytesOf(each.value)])
    batch.add(KEEP, ...MESSAGE_TYPES.map((_, index) => rows.map((row) => row[index] ?? null)))
  }
}
