/**
 * Writes failures by their kind: counted, with the last job of each, and the count before each hour. The kinds not seen for longest make
 * room for new ones.
 */
import { LIMITS } from '@millrace/core'
import { type FailureNote, withFailureHour } from '@millrace/core/kernel'
import { byKind, hoursFrom, hoursText } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { type Batch, columns } from './batch.ts'

const COUNT = `INSERT INTO failure (count, last_at, seq, run, lane, fingerprint, error, hours, first_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $2)
ON CONFLICT (lane, fingerprint) DO UPDATE SET count = failure.count + excluded.count, last_at = excluded.last_at, seq = excluded.seq,
  run = excluded.run, hours = excluded.hours`
const KNOWN = `SELECT failure.lane, failure.fingerprint, failure.count, failure.hours
FROM unnest($1::bigint[], $2::bigint[]) AS asked (lane, fingerprint)
JOIN failure ON failure.lane = asked.lane AND failure.fingerprint = asked.fingerprint`
const FORGET_OLDEST =
  'DELETE FROM failure WHERE (lane, fingerprint) IN (SELECT lane, fingerprint FROM failure ORDER BY last_at DESC OFFSET $1)'

type RawKind = [lane: number, fingerprint: number, count: number, hours: string]

/** The kinds are read before the turn is sent: nobody but the owner of the schema writes them. */
export function prepareFailures(connection: Connection): (batch: Batch, failures: readonly FailureNote[], at: number) => void {
  return (batch, failures, at) => {
    if (failures.length === 0) return
    const kinds = [...byKind(failures)]
    const asked = columns(
      kinds,
      ({ last }) => last.job.lane.id,
      ({ last }) => last.fingerprint,
    )
    const known = new Map(connection.all<RawKind>(KNOWN, ...asked).map((raw) => [`${raw[0]}:${raw[1]}`, raw]))
    for (const { last, count } of kinds) {
      const { job, run, error, fingerprint } = last
      const [, , before, hours] = known.get(`${job.lane.id}:${fingerprint}`) ?? [0, 0, 0, '[]']
      batch.add(COUNT, count, at, job.seq, run, job.lane.id, fingerprint, error, hoursText(withFailureHour(hoursFrom(hours), at, before)))
    }
    batch.add(FORGET_OLDEST, LIMITS.failureGroups)
  }
}
