/** Reads finished jobs that have been kept long enough. */
import { LIMITS, type StateCode } from '@millrace/core'
import type { KeptQuery, Prunable } from '@millrace/core/kernel'
import { type Old, type PrunableReads, type Range, rangesOf, takePrunable } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { prepareBatches } from './batches.ts'

type Summary = [rows: number, bytes: number, withExtras: number]

/** Holds for a row of `job` that has a `keep` of its own. */
export const HAS_KEEP = `instr(policy, '"keep":') > 0`

/** Matches the policies with that `keep`. */
function keepPattern(keep: number): string {
  return `*"keep":${keep}[,}]*`
}

/** Returns the jobs of a range that still exist. Most ranges are whole and plain: then the numbers are enough. */
function prepareRange(db: Database): (range: Range, state: StateCode, at: number, keep: number | undefined) => readonly Old[] {
  // `octet_length` is read from the row's header: the payload itself stays on disk.
  const bytes = ['data', 'checkpoint', 'output'].map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
  const still = 'FROM job WHERE seq BETWEEN ? AND ? AND +state = ? AND +finished_at = ?'
  const reads = (keeps: string) => ({
    summary: db.prepare(`SELECT count(*), coalesce(sum(${bytes}), 0), count(extras) ${still} AND ${keeps}`).raw(),
    rows: db.prepare(`SELECT seq, ${bytes}, extras ${still} AND ${keeps} ORDER BY seq`).raw(),
  })
  // A job may have finished twice within a millisecond, and have had another `keep` then.
  const ofQueue = reads(`(policy IS NULL OR NOT ${HAS_KEEP})`)
  const ofOwn = reads('policy GLOB ?')

  return ([first, last], state, at, keep) => {
    const { summary, rows } = keep === undefined ? ofQueue : ofOwn
    const values = [first, last, state, at, ...(keep === undefined ? [] : [keepPattern(keep)])]
    const [count, size, withExtras] = summary.get(...values) as Summary
    if (count < last - first + 1 || withExtras > 0 || size > LIMITS.sliceBytes) return rows.all(...values) as Old[]
    return Array.from({ length: count }, (_, index): Old => [first + index, size / count, null])
  }
}

export function preparePrunable(db: Database): (kept: readonly KeptQuery[], limit: number) => Prunable[] {
  const readRange = prepareRange(db)
  const reads: PrunableReads = {
    batches: prepareBatches(db),
    jobs: (seqs, state, at, keep) => rangesOf(seqs).flatMap((range) => readRange(range, state, at, keep)),
  }
  return (kept, limit) => takePrunable(reads, kept, limit)
}
