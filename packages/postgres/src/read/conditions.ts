/** The conditions of a filter in SQL, with the values that they are bound to. */
import type { ListFilter } from '@millrace/core'
import { conditionsOf } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'

const CONDITIONS = conditionsOf({
  position: 'strpos',
  isTagOfJob: 'tag.seq = job.seq',
  isDataText: 'job.data IS NOT NULL',
  fingerprint: 'fingerprint',
})

/** The number of parameters of `matchesFrom`. */
const WIDTH = CONDITIONS.length + 1

/** Returns a condition that holds for the rows of `job` that match. `matchValues` are its parameters, behind so many others. */
export function matchesFrom(parameters: number): string {
  const conditions = CONDITIONS.map(({ type, sql }, index) => {
    const value = `$${parameters + index + 1}::${type}`
    return `(${value} IS NULL OR ${sql(value)})`
  })
  const lanes = `$${parameters + WIDTH}::bigint[]`
  return [...conditions, `(${lanes} IS NULL OR job.lane = ANY (${lanes}))`].join('\n  AND ')
}

/** @param laneIds null for all */
export function matchValues(filter: ListFilter, laneIds: readonly number[] | null): readonly Value[] {
  return [...CONDITIONS.map(({ value }) => value(filter) ?? null), laneIds]
}
