/** Writes idempotency keys, unique keys and tags of a turn's jobs. */
import type { Effects, ForgottenKeys, UniqueRecord } from '@millrace/core/kernel'
import { isCreated, net, tagChanges } from '@millrace/sql'
import { type Batch, columns } from './batch.ts'
import { FREE_KEYS, UNTAG } from './jobs.ts'

const KEPT = ['seq', 'node', 'enqueued_at', 'expires_at', 'last', 'lapsed']
// A key that has expired may still have its row.
const REMEMBER = `INSERT INTO idempotency (name, key, ${KEPT.join(', ')})
SELECT *, 0 FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
ON CONFLICT (name, key) DO UPDATE SET ${KEPT.map((name) => `${name} = excluded.${name}`).join(', ')}`
const FORGET_OWN = 'DELETE FROM idempotency WHERE name = $1 AND key = $2 AND seq = $3'
// Goes through all keys of the name: every key would pay for an index by job.
const FORGET_OTHERS = 'DELETE FROM idempotency WHERE name = $1 AND seq = ANY ($2::bigint[])'
const HOLD = 'INSERT INTO unique_key (name, key, seq) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])'
const TAG = 'INSERT INTO tag (tag, seq) SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT DO NOTHING'

interface Tagged {
  readonly tag: string
  readonly seq: number
}

export function writeKeys(batch: Batch, { jobs, idempotency, keysForgotten, uniqueHeld, uniqueFreed, retagged }: Effects): void {
  if (idempotency.length > 0) {
    // A later record of the same key counts.
    const last = [...new Map(idempotency.map((record) => [`${record.name}\0${record.key}`, record])).values()]
    batch.add(
      REMEMBER,
      ...columns(
        last,
        ({ name }) => name,
        ({ key }) => key,
        ({ job }) => job.seq,
        ({ job }) => job.node,
      ),
      ...columns(
        last,
        ({ job }) => job.enqueuedAt,
        ({ expiresAt }) => expiresAt,
        ({ lastSeq }) => lastSeq ?? null,
      ),
    )
  }
  forget(batch, keysForgotten)
  const { held, freed } = net(uniqueHeld, uniqueFreed)
  const unique = [({ name }: UniqueRecord) => name, ({ key }: UniqueRecord) => key, ({ seq }: UniqueRecord) => seq] as const
  if (freed.length > 0) batch.change('free unique keys', freed.length, FREE_KEYS, ...columns(freed, ...unique))
  if (held.length > 0) batch.add(HOLD, ...columns(held, ...unique))
  const changes = tagChanges(retagged)
  const untagged = changes.flatMap(({ seq, lost }) => lost.map((tag) => ({ tag, seq })))
  const tagged = [
    ...jobs.filter(isCreated).flatMap(({ seq, extras }) => (extras?.tags ?? []).map((tag) => ({ tag, seq }))),
    ...changes.flatMap(({ seq, gained }) => gained.map((tag) => ({ tag, seq }))),
  ]
  const row = [({ tag }: Tagged) => tag, ({ seq }: Tagged) => seq] as const
  if (untagged.length > 0) batch.add(UNTAG, ...columns(untagged, ...row))
  if (tagged.length > 0) batch.add(TAG, ...columns(tagged, ...row))
}

function forget(batch: Batch, forgotten: readonly ForgottenKeys[]): void {
  const others = new Map<string, number[]>()
  for (const { seq, name, own, others: mayBe } of forgotten) {
    if (own !== undefined) batch.add(FORGET_OWN, name, own, seq)
    if (mayBe) others.set(name, [...(others.get(name) ?? []), seq])
  }
  for (const [name, seqs] of others) batch.add(FORGET_OTHERS, name, seqs)
}
