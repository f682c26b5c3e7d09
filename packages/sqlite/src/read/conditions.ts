/** The conditions of a filter in SQL, with the values that they are bound to. */
import type { ListFilter } from '@millrace/core'
import { conditionsOf, type SqlValue } from '@millrace/sql'
import { IN_LANES, type Lanes, laneValues } from './selection.ts'

const CONDITIONS = conditionsOf({
  position: 'instr',
  isTagOfJob: 'tag.block = job.seq >> 12 AND tag.seq = job.seq',
  isDataText: "typeof(job.data) = 'text'",
  fingerprint: 'fingerprint(error_name, error_message)',
})

/** Holds for the rows of `job` that match. `matchValues` are its parameters. Each value is bound twice: null stands for a field that is not set. */
export const MATCHES = [...CONDITIONS.map(({ sql }) => `(? IS NULL OR ${sql('?')})`), IN_LANES].join('\n  AND ')

export function matchValues(filter: ListFilter, lanes: Lanes): readonly SqlValue[] {
  const values = CONDITIONS.flatMap(({ value }) => {
    const bound = value(filter) ?? null
    return [bound, bound]
  })
  return [...values, ...laneValues(lanes)]
}
