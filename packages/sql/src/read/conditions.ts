/** The conditions of a filter in SQL: a row for each field, with the value that it is bound to. */
import { type FilterField, fingerprintOf, type ListFilter, type StateCode } from '@millrace/core'
import { DROPPED, hintOf } from '@millrace/core/kernel'

/** Queue and name are judged together, as lanes. */
type Judged = Exclude<FilterField, 'queue' | 'name'>

export interface Condition {
  readonly type: 'bigint' | 'text'
  /** Returns a condition on a row of `job`. */
  readonly sql: (value: string) => string
  /** Returns the value; undefined for a field that is not set. */
  readonly value: (filter: ListFilter) => string | number | undefined
}

/** The parts of the conditions in which stores differ. */
export interface ConditionsDialect {
  /** The function that returns the place of a string in another, from 1 on; 0 if it is not there. */
  readonly position: string
  /** Holds for the rows of `tag` of a row of `job`. */
  readonly isTagOfJob: string
  /** Holds for a row of `job` whose data is text. */
  readonly isDataText: string
  /** The kind of error of a row of `attempt`. */
  readonly fingerprint: string
}

export function conditionsOf({ position, isTagOfJob, isDataText, fingerprint }: ConditionsDialect): readonly Condition[] {
  const has = (column: string, value: string) => `${position}(${column}, ${value}) > 0`
  /** Holds for every text that contains some JSON, and for few others: JSON with a backslash may have the hint in another form. */
  const mayHave = (column: string, hint: string, backslash: string) => `(${has(column, hint)} OR ${has(column, `'${backslash}'`)})`

  const conditions: { readonly [Field in Judged]: Condition | readonly Condition[] } = {
    state: number('job.state =', ({ state }) => state),
    tag: text(
      (value) => `EXISTS (SELECT 1 FROM tag WHERE ${isTagOfJob} AND tag.tag = ${value})`,
      ({ tag }) => tag,
    ),
    key: text(
      (value) => has('job.extras', value),
      ({ key }) => fragment('concurrencyKey', key),
    ),
    schedule: text(
      (value) => has('job.extras', value),
      ({ schedule }) => fragment('schedule', schedule),
    ),
    retrying: number('CASE WHEN job.state = 0 AND job.run > job.uncounted THEN 1 ELSE 0 END =', ({ retrying }) =>
      retrying === undefined ? undefined : Number(retrying),
    ),
    enqueuedAfter: number('job.enqueued_at >=', ({ enqueuedAfter }) => enqueuedAfter),
    enqueuedBefore: number('job.enqueued_at <', ({ enqueuedBefore }) => enqueuedBefore),
    finishedAfter: number('job.finished_at >=', ({ finishedAfter }) => finishedAfter),
    finishedBefore: number('job.finished_at <', ({ finishedBefore }) => finishedBefore),
    worker: text(
      (
        value,
      ) => `CASE WHEN job.dropping = 0 THEN '' WHEN job.state IN (2, 4) THEN (SELECT session.worker FROM session WHERE session.id = job.session)
    ELSE ${lastAttempt('worker')} END = ${value}`,
      ({ worker }) => worker,
    ),
    error: text(
      (value) => `${lastError(`'${DROPPED.name}'`, 'error_name')} = ${value}`,
      ({ error }) => error,
    ),
    fingerprint: number(`${lastError(`${fingerprintOf(DROPPED)}`, fingerprint)} =`, (filter) => filter.fingerprint),
    states: {
      type: 'bigint',
      sql: (value) => `(${value} >> CAST(job.state AS int)) & 1 = 1`,
      value: ({ states }) => (states === undefined ? undefined : maskOf(states)),
    },
    data: text(
      (value) => `${isDataText} AND ${mayHave('job.data', value, '\\')}`,
      ({ data }) => data && hintOf(data),
    ),
    // In the stored extras, `meta` is a string.
    meta: text(
      (value) => mayHave('job.extras', value, '\\\\'),
      ({ meta }) => meta && metaHintOf(meta),
    ),
    flow: [
      number('job.node =', ({ flow }) => flow?.node),
      number('job.enqueued_at =', ({ flow }) => flow?.enqueuedAt),
      text(
        (value) => has('job.extras', value),
        // The first row is the first field of the place in a flow.
        ({ flow }) => flow && `"flow":{"first":${flow.seq},`,
      ),
    ],
  }
  return Object.values(conditions).flat()
}

function number(compared: string, value: Condition['value']): Condition {
  return { type: 'bigint', sql: (bound) => `${compared} ${bound}`, value }
}

function text(sql: Condition['sql'], value: Condition['value']): Condition {
  return { type: 'text', sql, value }
}

/** A job that was dropped, that runs or that has completed has no error in a row of its own. */
function lastError(ofDropped: string, column: string): string {
  return `CASE WHEN job.dropping = 0 THEN ${ofDropped} WHEN job.state NOT IN (2, 4) THEN ${lastAttempt(column)} END`
}

function lastAttempt(column: string): string {
  return `(SELECT ${column} FROM attempt WHERE attempt.seq = job.seq ORDER BY attempt.run DESC LIMIT 1)`
}

/** Returns the hint as it stands in the stored extras, in which `meta` is a string. */
function metaHintOf(meta: string): string {
  const hint = hintOf(meta)
  return hint === '' ? '"meta":' : JSON.stringify(hint).slice(1, -1)
}

/** Returns a number that has the bit of each state. */
function maskOf(states: readonly StateCode[]): number {
  return states.reduce<number>((mask, state) => mask | (1 << state), 0)
}

/**
 * Returns a field of the stored extras as it stands in their text. It stands nowhere else there: extras are written by
 * `JSON.stringify`, in which a quote within a string is escaped, and no other field has one of these names.
 */
function fragment(field: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${JSON.stringify(field)}:${JSON.stringify(value)}`
}
