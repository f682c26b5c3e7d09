/** Writes the rows of jobs, by the cheapest statement that covers what happened to each, and their places around that. */
import type { Effects, Job, PrunedJob } from '@millrace/core/kernel'
import { dataOf, extrasText, type SortedJobs } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import { CHANGED_COLUMNS, JOB_COLUMNS, SET_CHANGED } from '../tables/job.ts'
import { bytesOf, textOf } from '../tables/payload.ts'
import { LEAVE_PLACES, TAKE_PLACES } from '../tables/places.ts'
import { type Batch, columns } from './batch.ts'
import { rowsOf } from './rows.ts'

const START = `UPDATE job SET state = 2, run = run + 1, session = $2, started_at = $3 WHERE seq = ANY ($1::bigint[]) AND state = 1`
const COMPLETE = `UPDATE job SET state = 4, finished_at = $2, output = NULL, output_bytes = NULL WHERE seq = ANY ($1::bigint[]) AND state = 2`
const COMPLETE_WITH = `UPDATE job SET state = 4, finished_at = $4, output = ended.output, output_bytes = ended.output_bytes
FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS ended (seq, output, output_bytes) WHERE job.seq = ended.seq AND job.state = 2`
const SET_DATA = `UPDATE job SET data = changed.data, data_bytes = changed.data_bytes
FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS changed (seq, data, data_bytes) WHERE job.seq = changed.seq`
const COPY = `UPDATE job SET data = source.data, data_bytes = source.data_bytes
FROM unnest($1::bigint[], $2::bigint[]) AS copied (seq, origin) JOIN job AS source ON source.seq = copied.origin WHERE job.seq = copied.seq`
const MOVE = `UPDATE job SET lane = moved.lane, policy = moved.policy, extras = moved.extras
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS moved (seq, lane, policy, extras) WHERE job.seq = moved.seq`

export function writeJobs(batch: Batch, sorted: SortedJobs, { pruned }: Effects, at: number): void {
  const changed = [...sorted.updated, ...sorted.dataUpdated]
  const leaving = [...sorted.started, ...changed, ...sorted.deleted].map(seqOf)
  for (const { seq } of pruned) leaving.push(seq)
  if (leaving.length > 0) batch.add(LEAVE_PLACES, leaving)
  insert(batch, sorted)
  start(batch, sorted.started, at)
  complete(batch, sorted, at)
  update(batch, changed)
  if (sorted.dataUpdated.length > 0)
    batch.change(
      'update payloads',
      sorted.dataUpdated.length,
      SET_DATA,
      sorted.dataUpdated.map(seqOf),
      ...payloads(sorted.dataUpdated, dataOf),
    )
  if (sorted.copies.length > 0) {
    const origins = sorted.copies.map(({ payloadOf }) => payloadOf)
    batch.change('copy payloads', sorted.copies.length, COPY, sorted.copies.map(seqOf), origins)
  }
  if (sorted.placed.length > 0) {
    const values = columns(
      sorted.placed,
      seqOf,
      ({ lane }) => lane.id,
      ({ policy }) => policy.text,
      ({ extras }) => extrasText(extras),
    )
    batch.change('move jobs', sorted.placed.length, MOVE, ...values)
  }
  const arriving = [...sorted.plainWaiting, ...sorted.keyedWaiting, ...sorted.inserted, ...changed].map(seqOf)
  if (arriving.length > 0) batch.add(TAKE_PLACES, arriving)
}

function insert(batch: Batch, { plainWaiting, plainActive, keyedWaiting, keyedActive, inserted }: SortedJobs): void {
  const [first, ...others] = [...plainWaiting, ...plainActive, ...keyedWaiting, ...keyedActive, ...inserted]
  if (first === undefined) return
  const { names, select, values } = rowsOf([first, ...others], JOB_COLUMNS)
  batch.add(`INSERT INTO job (${names}) ${select}`, ...values)
}

function start(batch: Batch, started: readonly Job[], at: number): void {
  const bySession = Map.groupBy(started, ({ sessionId }) => sessionId)
  for (const [session, jobs] of bySession) batch.change('start jobs', jobs.length, START, jobs.map(seqOf), session, at)
}

function complete(batch: Batch, { completed, completedWithOutput }: SortedJobs, at: number): void {
  if (completed.length > 0) batch.change('complete jobs', completed.length, COMPLETE, completed.map(seqOf), at)
  if (completedWithOutput.length === 0) return
  const outputs = payloads(completedWithOutput, ({ output }) => output)
  batch.change('complete jobs with outputs', completedWithOutput.length, COMPLETE_WITH, completedWithOutput.map(seqOf), ...outputs, at)
}

function update(batch: Batch, changed: readonly Job[]): void {
  const [first, ...others] = changed
  if (first === undefined) return
  const { select, values } = rowsOf([first, ...others], CHANGED_COLUMNS)
  const text = `UPDATE job SET ${SET_CHANGED} FROM (${select}) AS changed WHERE job.seq = changed.seq`
  batch.change('update jobs', changed.length, text, ...values)
}

/** Removes jobs that have a row, with their content. Idempotency keys stay. */
export function deleteJobs(batch: Batch, jobs: readonly PrunedJob[]): void {
  if (jobs.length === 0) return
  batch.change('delete jobs', jobs.length, 'DELETE FROM job WHERE seq = ANY ($1::bigint[])', jobs.map(seqOf))
  deleteContent(batch, jobs)
}

/** Removes the content of jobs: runs, logs, tags, and the unique key if they still hold it. */
export function deleteContent(batch: Batch, jobs: readonly PrunedJob[]): void {
  if (jobs.length === 0) return
  const seqs = jobs.map(seqOf)
  for (const table of ['attempt', 'log']) batch.add(`DELETE FROM ${table} WHERE seq = ANY ($1::bigint[])`, seqs)
  const stepped = jobs.filter(({ extras }) => extras?.steps !== undefined)
  if (stepped.length > 0) batch.add('DELETE FROM step WHERE seq = ANY ($1::bigint[])', stepped.map(seqOf))
  const messaged = jobs.filter(({ extras }) => extras?.kept !== undefined)
  if (messaged.length > 0) batch.add('DELETE FROM message WHERE seq = ANY ($1::bigint[])', messaged.map(seqOf))
  const tags = jobs.flatMap(({ seq, extras }) => (extras?.tags ?? []).map((tag) => ({ seq, tag })))
  if (tags.length > 0) batch.add(UNTAG, ...columns(tags, ({ tag }) => tag, seqOf))
  const keys = jobs.flatMap(({ seq, lane, extras }) =>
    extras?.uniqueKey === undefined ? [] : [{ name: lane.name, key: extras.uniqueKey, seq }],
  )
  if (keys.length > 0)
    batch.add(
      FREE_KEYS,
      ...columns(
        keys,
        ({ name }) => name,
        ({ key }) => key,
        seqOf,
      ),
    )
}

export const UNTAG = `DELETE FROM tag USING unnest($1::text[], $2::bigint[]) AS gone (tag, seq)
WHERE tag.tag = gone.tag AND tag.seq = gone.seq`

export const FREE_KEYS = `DELETE FROM unique_key USING unnest($1::text[], $2::text[], $3::bigint[]) AS freed (name, key, seq)
WHERE unique_key.name = freed.name AND unique_key.key = freed.key AND unique_key.seq = freed.seq`

/** Returns a payload of each job as texts and as bytes. */
function payloads(jobs: readonly Job[], get: (job: Job) => unknown): [texts: Value[], bytes: Value[]] {
  const all = jobs.map(get)
  return [all.map(textOf), all.map(bytesOf)]
}

function seqOf({ seq }: { readonly seq: number }): number {
  return seq
}
