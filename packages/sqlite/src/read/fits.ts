/** The conditions of a filter in SQL: a row for each field, with the values that it is bound to. */
import { type FilterField, fingerprintOf, type ListFilter } from '@millrace/core'
import { DROPPED, hintOf } from '@millrace/core/kernel'
import { fragment, maskOf, metaHintOf, type SqlValue } from '@millrace/sql'
import { IN_LANES, type Lanes, laneValues } from './selection.ts'

/** Queue and name are judged together, as lanes. */
type Judged = Exclude<FilterField, 'queue' | 'name'>

interface Condition {
  readonly sql: string
  readonly values: (filter: ListFilter) => readonly SqlValue[]
}

/** Bound twice: null stands for a field that is not set. */
function unless(sql: string, bound: (filter: ListFilter) => SqlValue | undefined): Condition {
  const values = (filter: ListFilter) => {
    const value = bound(filter) ?? null
    return [value, value]
  }
  return { sql: `(? IS NULL OR ${sql})`, values }
}

const BACKSLASH = '\\'
/** In the stored extras, where `meta` is a string. */
const ESCAPED_BACKSLASH = '\\\\'

const CONDITIONS: { readonly [Field in Judged]: Condition } = {
  state: unless('job.state = ?', ({ state }) => state),
  tag: unless('EXISTS (SELECT 1 FROM tag WHERE tag.block = job.seq >> 12 AND tag.tag = ? AND tag.seq = job.seq)', ({ tag }) => tag),
  key: unless('instr(job.extras, ?) > 0', ({ key }) => fragment('concurrencyKey', key)),
  schedule: unless('instr(job.extras, ?) > 0', ({ schedule }) => fragment('schedule', schedule)),
  retrying: unless('(job.state = 0 AND job.run > job.uncounted) = ?', ({ retrying }) =>
    retrying === undefined ? undefined : Number(retrying),
  ),
  enqueuedAfter: unless('job.enqueued_at >= ?', ({ enqueuedAfter }) => enqueuedAfter),
  enqueuedBefore: unless('job.enqueued_at < ?', ({ enqueuedBefore }) => enqueuedBefore),
  finishedAfter: unless('job.finished_at >= ?', ({ finishedAfter }) => finishedAfter),
  finishedBefore: unless('job.finished_at < ?', ({ finishedBefore }) => finishedBefore),
  worker: unless(
    `CASE WHEN job.dropping = 0 THEN '' WHEN job.state IN (2, 4) THEN (SELECT session.worker FROM session WHERE session.id = job.session)
    ELSE ${lastAttempt('worker')} END = ?`,
    ({ worker }) => worker,
  ),
  error: unless(lastError(`'${DROPPED.name}'`, 'error_name'), ({ error }) => error),
  fingerprint: unless(lastError(`${fingerprintOf(DROPPED)}`, 'fingerprint(error_name, error_message)'), (filter) => filter.fingerprint),
  states: unless('(? >> job.state) & 1', ({ states }) => (states === undefined ? undefined : maskOf(states))),
  data: unless(`typeof(job.data) = 'text' AND ${mayHave('job.data', BACKSLASH)}`, ({ data }) => data && hintOf(data)),
  meta: unless(mayHave('job.extras', ESCAPED_BACKSLASH), ({ meta }) => meta && metaHintOf(meta)),
}

/**
 * Holds for every text that contains some JSON, and for few others: `containment.ts` judges those that are left. JSON with a backslash may
 * have the hint in another form.
 */
function mayHave(column: string, backslash: string): string {
  return `(instr(${column}, ?) > 0 OR instr(${column}, '${backslash}') > 0)`
}

/** A job that was dropped, that runs or that has completed has no error in a row of its own. */
function lastError(ofDropped: string, column: string): string {
  return `CASE WHEN job.dropping = 0 THEN ${ofDropped} WHEN job.state NOT IN (2, 4) THEN ${lastAttempt(column)} END = ?`
}

function lastAttempt(column: string): string {
  return `(SELECT ${column} FROM attempt WHERE attempt.seq = job.seq ORDER BY attempt.run DESC LIMIT 1)`
}

const ALL = Object.values(CONDITIONS)

/** Holds for the rows of `job` that fit. `fitValues` are its parameters. */
export const FITS = [...ALL.map(({ sql }) => sql), IN_LANES].join('\n  AND ')

export function fitValues(filter: ListFilter, lanes: Lanes): readonly SqlValue[] {
  return [...ALL.flatMap(({ values }) => values(filter)), ...laneValues(lanes)]
}
