/** The entry to moving a store, which loads the rest on demand. */
import { type Moved, type MoveOptions, validateMoveOptions } from '@millrace/core'
import { assertDriver, assertRuntime } from '../runtime.ts'

/**
 * Moves all jobs, schedules, settings and events of a store to another one, with their ids: from a file to a schema of Postgres, or back.
 * No process may have either open. If it is interrupted, the same call continues. In the end both are compared; then no engine
 * opens the source any more (`StoreMovedError`).
 *
 * @example
 * ```ts
 * await moveStore({ from: { file: 'jobs.db' }, to: { postgres: 'postgres://queue@db.example/app' } })
 * ```
 * @throws OptionTypeError for a wrong option; MoveRefusedError if jobs are active, or if the target has been used; StoreMovedError if the
 * source has been moved before; AlreadyOpenError, StorageError and the other errors of `openEngine`.
 */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  const settings = validateMoveOptions(options)
  assertRuntime()
  assertDriver()
  const { move } = await import('./move.ts')
  return move(settings)
}
