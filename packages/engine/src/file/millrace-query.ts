/** A reader thread of a SQLite file: one read-only connection, which is opened with the first question. */
import { openReader } from '@millrace/sqlite'
import { pagesOf } from '../readers/pagesOf.ts'

export const page = pagesOf(({ file }: { readonly file: string }) => openReader(file))
