/** A reader thread of a schema of Postgres: one read-only connection, which is opened with the first question. */
import { openReader } from '@millrace/postgres'
import { pagesOf } from '../readers/pagesOf.ts'

export const page = pagesOf((options: { readonly url: string; readonly schema: string }) => openReader(options))
