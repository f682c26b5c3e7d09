/** The store in a SQLite file. */
import { threadFile } from '@millrace/worker'
import type { StoreModule } from '../storeModule.ts'
import { fileOwnership } from './fileOwnership.ts'
import { gone } from './gone.ts'
import { type FileOptions, MEMORY } from './options.ts'

const writer = () => threadFile('millrace-writer', import.meta.url)
const reader = () => threadFile('millrace-query', import.meta.url)

export const fileThreads = [writer, reader]

export function fileStore(options: FileOptions): StoreModule {
  const { file } = options
  return {
    writer: { file: writer, options },
    reader: file === MEMORY ? undefined : { file: reader, options: { file } },
    onServer: false,
    ownership: () => fileOwnership(file),
    gone: () => gone(file),
  }
}
