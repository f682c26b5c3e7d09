/** Runs in a reader thread: one read-only connection, opened with the first question. */
import { LIMITS, type ListCommand, type ListPage } from '@millrace/core'
import { openReader, type SqliteReader } from '@millrace/sqlite'
import { workerData } from 'piscina'

let reader: SqliteReader | undefined

export function page({ filter, before, limit }: ListCommand): ListPage {
  reader ??= openReader(workerData.file)
  return reader.list(filter, before, Math.min(limit, LIMITS.pageJobs))
}
