/** Everything that an application needs: `openEngine`, definitions, errors, and the types of arguments and results. */

export * from '@millrace/client/public'
export type { EngineOptions, OpenOptions, OpenPostgresOptions, Role } from '@millrace/core'
export { type AttachOptions, attach, openEngine } from './open.ts'
export { assertRuntime } from './runtime.ts'
