/** The store in a SQLite file. */
import { threadFile } from '@millrace/worker'
import type { StoreModule } from '../storeModule.ts'
import { fileOwnership } from './fileOwnership.ts'
import { gone } from './gone.ts'
import { type FileOptions, MEMORY } from './options.ts'

export function fileStore(options: FileOptions): StoreModule {
  const { file } = options
  return {
    writer: { file: () => threadFile('millrace-writer', import.meta.url), options },
    reader: file === MEMORY ? undefined : { file: () => threadFile('millrace-query', import.meta.url), options: { file } },
    onServer: false,
    ownership: () => fileOwnership(file),
    gone: () => gone(file),
  }
}
