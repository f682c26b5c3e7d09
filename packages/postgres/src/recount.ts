/**
 * Compares what the schema counts and lists beside its jobs with their rows, and counts again: after rows of `job` were deleted by SQL. A live
 * owner has the counters in memory, so only an owner may recount, before it loads them.
 */
import { STATES } from '@millrace/core'
import type { Statement } from './bridge/statement.ts'
import { drawNode, WITHOUT_LIMIT } from './open/migrate.ts'
import { lookAt, ownSchema } from './open-store.ts'
import type { StoreOptions } from './options.ts'

const FINAL = ['completed', 'failed', 'cancelled'] as const
const COUNTED = [...STATES, 'retrying'] as const
const inState = (state: string) => `count(*) FILTER (WHERE state = ${STATES.indexOf(state as never)}) AS ${state}`

const OF_LANES = `SELECT lane.id, ${COUNTED.map((name) => `coalesce(found.${name}, 0) AS ${name}`).join(', ')} FROM lane LEFT JOIN (
  SELECT lane, ${STATES.map(inState).join(', ')}, count(*) FILTER (WHERE state = 0 AND run > uncounted) AS retrying FROM job GROUP BY lane
) AS found ON found.lane = lane.id`
const OF_KEPT = `SELECT lane.queue, ${FINAL.map(inState).join(', ')} FROM job JOIN lane ON lane.id = job.lane
WHERE state >= 4 AND policy LIKE '%"keep":%' GROUP BY lane.queue`
const OF_GATES = `SELECT gate.id, (SELECT count(*) FROM job WHERE job.gate = gate.id) AS parked FROM gate`
const isGone = (table: string) => `NOT EXISTS (SELECT FROM job WHERE job.seq = ${table}.seq)`

/** Each returns a line for each difference. */
const CHECKS: readonly string[] = [
  `SELECT format('queue %s, jobs %s: counted %s %s, found %s', queue.name, lane.name, counted, what, found)
FROM lane JOIN queue ON queue.id = lane.queue JOIN (${OF_LANES}) AS found ON found.id = lane.id LEFT JOIN unfolded ON unfolded.id = lane.id CROSS JOIN LATERAL (VALUES
  ${COUNTED.map((name) => `('${name}', coalesce(unfolded.${name}, lane.${name}), found.${name})`).join(', ')}
) AS each (what, counted, found) WHERE counted <> found ORDER BY lane.id`,
  `SELECT format('queue %s: counted %s %s jobs with a keep of their own, found %s', queue.name, counted, what, found)
FROM queue LEFT JOIN kept_count ON kept_count.queue = queue.id LEFT JOIN (${OF_KEPT}) AS found ON found.queue = queue.id CROSS JOIN LATERAL (VALUES
  ${FINAL.map((name) => `('${name}', coalesce(kept_count.${name}, 0), coalesce(found.${name}, 0))`).join(', ')}
) AS each (what, counted, found) WHERE counted <> found ORDER BY queue.id`,
  `SELECT format('jobs %s, key %s: counted %s parked jobs, found %s', lane.name, key, gate.parked, found.parked)
FROM gate JOIN lane ON lane.id = gate.lane JOIN (${OF_GATES}) AS found ON found.id = gate.id WHERE gate.parked <> found.parked ORDER BY gate.id`,
  `SELECT format('jobs %s, unique key %s: its job is gone', name, key) FROM unique_key WHERE ${isGone('unique_key')} ORDER BY name, key`,
  `SELECT format('queue %s, key %s: the job that has its turn is gone', queue, key) FROM key_turn WHERE ${isGone('key_turn')} ORDER BY queue, key`,
]

/** The claim has folded the counters of lanes. */
const REPAIRS: readonly string[] = [
  `UPDATE lane SET ${COUNTED.map((name) => `${name} = found.${name}`).join(', ')} FROM (${OF_LANES}) AS found WHERE found.id = lane.id`,
  'DELETE FROM kept_count',
  `INSERT INTO kept_count (queue, ${FINAL.join(', ')}) ${OF_KEPT}`,
  `UPDATE gate SET parked = found.parked FROM (${OF_GATES}) AS found WHERE found.id = gate.id`,
  `DELETE FROM unique_key WHERE ${isGone('unique_key')}`,
  `DELETE FROM key_turn WHERE ${isGone('key_turn')}`,
]

/** Returns a line for each counter that differs from the rows, and for each key of a job that is gone. Reads all rows; an owner may live. */
export function auditSchema(options: Pick<StoreOptions, 'url' | 'schema'>): readonly string[] {
  return lookAt(options, (connection) => {
    const [, ...found] = connection.many(['SET statement_timeout TO 0', ...CHECKS].map(statement))
    return found.flatMap((rows) => rows.map(([line]) => line as string))
  })
}

/**
 * Counts again as the owner of the schema. A claim begins the transaction, so no other owner writes until its end, and none has counters from
 * before it. @throws AlreadyOpenError if another process owns the schema, and errors as `openStore`
 */
export function recountSchema(options: StoreOptions): void {
  ownSchema({ ...options, mayCreate: false }, undefined, (connection) => {
    connection.transact([
      ...WITHOUT_LIMIT.map(statement),
      { text: 'SELECT * FROM claim($1, NULL, $2)', values: [options.now, drawNode(options.random)] },
      ...REPAIRS.map(statement),
    ])
    connection.close()
  })
}

function statement(text: string): Statement {
  return { text, values: [] }
}
