/**
 * Reads the job that has a key's turn, in queues that keep an order: the job that has taken it, or the first that is parked, by
 * arrival.
 */
import type { TurnQuery, TurnRow } from '@millrace/core/kernel'
import { payloadBytes, type RawRow, ROW_COLUMNS, rowFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareKeyTurns(db: Database): (keys: readonly TurnQuery[], bytes: number) => TurnRow[] {
  const holder = db.prepare('SELECT seq FROM key_turn WHERE queue = ? AND key = ?').pluck()
  const first = db.prepare('SELECT seq FROM job INDEXED BY job_strict WHERE gate = ? AND gate < 0 ORDER BY seq LIMIT 1').pluck()
  const job = db.prepare(`SELECT ${ROW_COLUMNS} FROM job WHERE job.seq = ?`).raw()
  const firstOf = (backlogIds: readonly number[]): number | undefined => {
    const seqs = backlogIds.flatMap((id) => (first.get(id) as number | undefined) ?? [])
    return seqs.length === 0 ? undefined : Math.min(...seqs)
  }
  return (keys, bytesMax) => {
    const turns: TurnRow[] = []
    let bytes = 0
    for (const { queueId, key, backlogIds } of keys) {
      const taken = holder.get(queueId, key) as number | undefined
      const seq = taken ?? firstOf(backlogIds)
      const raw = seq === undefined ? undefined : (job.get(seq) as RawRow)
      bytes += raw === undefined ? 0 : payloadBytes(raw)
      if (turns.length > 0 && bytes > bytesMax) break
      turns.push({ row: raw && rowFrom(raw), taken: taken !== undefined })
    }
    return turns
  }
}
