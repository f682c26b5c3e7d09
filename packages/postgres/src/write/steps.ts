/** Writes the results of durable calls. */
import type { Effects } from '@millrace/core/kernel'
import { STEP_COLUMNS, stepValues } from '@millrace/sql'
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

export function writeSteps(batch: Batch, { steps, rewinds }: Effects): void {
  if (steps.length > 0) {
    const rows = steps.map((each) => [...stepValues(each), textOf(each.value), bytesOf(each.value)])
    batch.add(RECORD, ...TYPES.map((_, index) => rows.map((row) => row[index] ?? null)))
  }
  for (const { seq, number, failed } of rewinds) batch.add(REWIND, seq, number, Number(failed === true))
}
