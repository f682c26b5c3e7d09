/** The conditions of a filter in SQL: a row for each field, with the value that it is bound to. */
import { type FilterField, fingerprintOf, type ListFilter } from '@millrace/core'
import { DROPPED, hintOf } from '@millrace/core/kernel'
import { fragment, maskOf, metaHintOf } from '@millrace/sql'
import type { Value } from '../line/statement.ts'

/** Queue and name are judged together, as lanes. */
type Judged = Exclude<FilterField, 'queue' | 'name'>

interface Condition {
  readonly type: 'bigint' | 'text'
  readonly sql: (value: string) => string
  /** Returns the value; undefined for a field that is not set. */
  readonly value: (filter: ListFilter) => string | number | undefined
}

const CONDITIONS: { readonly [Field in Judged]: Condition } = {
  state: number(
    (value) => `job.state = ${value}`,
    ({ state }) => state,
  ),
  tag: text(
    (value) => `EXISTS (SELECT 1 FROM tag WHERE tag.tag = ${value} AND tag.seq = job.seq)`,
    ({ tag }) => tag,
  ),
  key: text(
    (value) => `strpos(job.extras, ${value}) > 0`,
    ({ key }) => fragment('concurrencyKey', key),
  ),
  schedule: text(
    (value) => `strpos(job.extras, ${value}) > 0`,
    ({ schedule }) => fragment('schedule', schedule),
  ),
  retrying: number(
    (value) => `(job.state = 0 AND job.run > job.uncounted)::int = ${value}`,
    ({ retrying }) => (retrying === undefined ? undefined : Number(retrying)),
  ),
  enqueuedAfter: number(
    (value) => `job.enqueued_at >= ${value}`,
    ({ enqueuedAfter }) => enqueuedAfter,
  ),
  enqueuedBefore: number(
    (value) => `job.enqueued_at < ${value}`,
    ({ enqueuedBefore }) => enqueuedBefore,
  ),
  finishedAfter: number(
    (value) => `job.finished_at >= ${value}`,
    ({ finishedAfter }) => finishedAfter,
  ),
  finishedBefore: number(
    (value) => `job.finished_at < ${value}`,
    ({ finishedBefore }) => finishedBefore,
  ),
  worker: text(
    (
      value,
    ) => `CASE WHEN job.dropping = 0 THEN '' WHEN job.state IN (2, 4) THEN (SELECT session.worker FROM session WHERE session.id = job.session)
    ELSE ${lastAttempt('worker')} END = ${value}`,
    ({ worker }) => worker,
  ),
  error: text(
    (value) => lastError(`'${DROPPED.name}'`, 'error_name', value),
    ({ error }) => error,
  ),
  fingerprint: number(
    (value) => lastError(`${fingerprintOf(DROPPED)}`, 'fingerprint', value),
    (filter) => filter.fingerprint,
  ),
  states: number(
    (value) => `(${value} >> job.state::int) & 1 = 1`,
    ({ states }) => (states === undefined ? undefined : maskOf(states)),
  ),
  data: text(
    (value) => mayHave('job.data', value, '\\'),
    ({ data }) => data && hintOf(data),
  ),
  meta: text(
    (value) => mayHave('job.extras', value, '\\\\'),
    ({ meta }) => meta && metaHintOf(meta),
  ),
}

/** Holds for every text that contains some JSON, and for few others, as in SQLite. */
function mayHave(column: string, hint: string, backslash: string): string {
  return `(strpos(${column}, ${hint}) > 0 OR strpos(${column}, '${backslash}') > 0)`
}

function number(sql: Condition['sql'], value: Condition['value']): Condition {
  return { type: 'bigint', sql, value }
}

function text(sql: Condition['sql'], value: Condition['value']): Condition {
  return { type: 'text', sql, value }
}

/** A job that was dropped, that runs or that has completed has no error in a row of its own. */
function lastError(ofDropped: string, column: string, value: string): string {
  return `CASE WHEN job.dropping = 0 THEN ${ofDropped} WHEN job.state NOT IN (2, 4) THEN ${lastAttempt(column)} END = ${value}`
}

function lastAttempt(column: string): string {
  return `(SELECT ${column} FROM attempt WHERE attempt.seq = job.seq ORDER BY attempt.run DESC LIMIT 1)`
}

const ALL = Object.values(CONDITIONS)

/** The number of parameters of `fitsFrom`. */
const FITS_WIDTH = ALL.length + 1

/** Returns a condition that holds for the rows of `job` that fit. `fitValues` are its parameters, behind so many others. */
export function fitsFrom(parameters: number): string {
  const conditions = ALL.map(({ type, sql }, index) => {
    const value = `$${parameters + index + 1}::${type}`
    return `(${value} IS NULL OR ${sql(value)})`
  })
  const lanes = `$${parameters + FITS_WIDTH}::bigint[]`
  return [...conditions, `(${lanes} IS NULL OR job.lane = ANY (${lanes}))`].join('\n  AND ')
}

/** @param laneIds null for all */
export function fitValues(filter: ListFilter, laneIds: readonly number[] | null): readonly Value[] {
  return [...ALL.map(({ value }) => value(filter) ?? null), laneIds]
}
