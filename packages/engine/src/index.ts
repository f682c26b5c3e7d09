/** Everything that an application needs: `openEngine`, definitions, errors, and the types of arguments and results. */

export * from '@millrace/client/public'
export type {
  EngineOptions,
  Moved,
  MovedRows,
  MoveOptions,
  MoveProgress,
  OpenOptions,
  OpenPostgresOptions,
  Role,
  StoreAddress,
  Transport,
} from '@millrace/core'
export { moveStore } from './move/moveStore.ts'
export { type AttachOptions, attach, openEngine } from './open.ts'
export { assertRuntime } from './runtime.ts'
