/** Writes idempotency keys, unique keys and tags of a turn's jobs. */
import type { Effects, ForgottenKeys, IdempotencyRecord, UniqueRecord } from '@millrace/core/kernel'
import { isCreated, net, type SqlValue, tagChanges } from '@millrace/sql'
import { prepareBatched } from '../batchedStatement.ts'
import type { Database } from '../driver.ts'
import { blockOf } from '../tags.ts'
import { expectChanges } from './expect.ts'

export function prepareKeys(db: Database): (effects: Effects) => void {
  // A key that has expired may still have its row.
  const remember = prepareBatched<IdempotencyRecord>(db, {
    sql: (values) => `INSERT OR REPLACE INTO idempotency (name, key, seq, node, enqueued_at, expires_at, last) VALUES ${values}`,
    shared: 0,
    width: 7,
    bind: bindRecord,
  })
  const hold = prepareBatched<UniqueRecord>(db, {
    sql: (values) => `INSERT INTO unique_key (name, key, seq) VALUES ${values}`,
    shared: 0,
    width: 3,
    bind: ({ name, key, seq }, values, place) => {
      values[place] = name
      values[place + 1] = key
      values[place + 2] = seq
    },
  })
  const free = db.prepare('DELETE FROM unique_key WHERE name = ? AND key = ? AND seq = ?')
  const forgetOwn = db.prepare('DELETE FROM idempotency WHERE name = ? AND key = ? AND seq = ?')
  // Goes through all keys of the name: every key would pay for an index by job.
  const forgetOthers = db.prepare('DELETE FROM idempotency WHERE name = ? AND seq IN (SELECT value FROM json_each(?))')
  const tags = prepareBatched<readonly [tag: string, seq: number]>(db, {
    sql: (values) => `INSERT OR IGNORE INTO tag (block, tag, seq) VALUES ${values}`,
    shared: 0,
    width: 3,
    bind: ([tag, seq], values, place) => {
      values[place] = blockOf(seq)
      values[place + 1] = tag
      values[place + 2] = seq
    },
  })

  const untag = db.prepare('DELETE FROM tag WHERE block = ? AND tag = ? AND seq = ?')

  const forget = (forgotten: readonly ForgottenKeys[]) => {
    const others = new Map<string, number[]>()
    for (const { seq, name, own, others: mayBe } of forgotten) {
      if (own !== undefined) forgetOwn.run(name, own, seq)
      if (mayBe) others.set(name, [...(others.get(name) ?? []), seq])
    }
    for (const [name, seqs] of others) forgetOthers.run(name, JSON.stringify(seqs))
  }

  return ({ jobs, idempotency, keysForgotten, uniqueHeld, uniqueFreed, retagged }) => {
    if (idempotency.length > 0) remember.run(idempotency, [])
    if (keysForgotten.length > 0) forget(keysForgotten)
    if (uniqueHeld.length > 0 || uniqueFreed.length > 0) {
      const { held, freed } = net(uniqueHeld, uniqueFreed)
      for (const { name, key, seq } of freed) expectChanges('free a unique key', free.run(name, key, seq).changes, 1)
      hold.run(held, [])
    }
    const tagged: (readonly [string, number])[] = []
    for (const job of jobs)
      if (job.extras?.tags !== undefined && isCreated(job)) for (const tag of job.extras.tags) tagged.push([tag, job.seq])
    for (const { seq, lost, gained } of tagChanges(retagged)) {
      for (const tag of lost) untag.run(blockOf(seq), tag, seq)
      for (const tag of gained) tagged.push([tag, seq])
    }
    if (tagged.length > 0) tags.run(tagged, [])
  }
}

function bindRecord({ name, key, job, expiresAt, lastSeq }: IdempotencyRecord, values: SqlValue[], place: number): void {
  values[place] = name
  values[place + 1] = key
  values[place + 2] = job.seq
  values[place + 3] = job.node
  values[place + 4] = job.enqueuedAt
  values[place + 5] = expiresAt
  values[place + 6] = lastSeq ?? null
}
