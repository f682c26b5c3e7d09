/** The options by which threads open a file; plain data. */
import type { OpenSettings } from '@millrace/core'

/** The options that the writer opens the file with. */
export type FileOptions = Pick<OpenSettings, 'file' | 'durability' | 'waitForOwnerMs' | 'cacheKib' | 'secureDelete' | 'unsafeFilesystem'> &
  Partial<Pick<OpenSettings, 'autoMigrate' | 'fileAccess'>>

/** The name of a database that lives and dies with its writer's connection. */
export const MEMORY = ':memory:'
