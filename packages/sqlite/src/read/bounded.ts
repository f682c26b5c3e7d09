/** Reads rows until there are enough of them or of their bytes, and always releases the statement. */
import type { JobRow } from '@millrace/core/kernel'
import { payloadBytes, type RawRow, rowFrom, type SqlValue } from '@millrace/sql'
import type { Statement } from '../driver.ts'

export interface Bounded {
  readonly rows: JobRow[]
  /** True if there are no more rows. */
  readonly complete: boolean
}

/** Returns at least one row, if there is one. The statement must be in raw mode. */
export function readBounded(statement: Statement, values: readonly SqlValue[], limit: number, bytesMax: number): Bounded {
  const rows: JobRow[] = []
  let bytes = 0
  // Leaving the loop early ends the iterator, and with it the read transaction.
  for (const raw of statement.iterate(...values) as Iterable<RawRow>) {
    bytes += payloadBytes(raw)
    if (rows.length > 0 && (rows.length >= limit || bytes > bytesMax)) return { rows, complete: false }
    rows.push(rowFrom(raw))
  }
  return { rows, complete: true }
}
