/** Checks that the engine answers, and serves the file that the daemon was started for, if there is one. */
import type { Engine } from '@millrace/client'
import { isErrorOf, OwnerLostError } from '@millrace/core'
import { fileIdentity } from '../machine.ts'

/**
 * Returns a function that resolves to the reason why the daemon cannot continue, or to undefined if it can. If a shared file is gone,
 * its engine opens any other file at the path. The daemon must end then.
 */
export function pulseOf(engine: Engine, file: string | undefined): () => Promise<Error | undefined> {
  const begun = identityOf(file)
  return async () => {
    const failed = await engine.stats({ names: 'none', definitions: 'disputed' }).then(
      () => undefined,
      (error: Error) => error,
    )
    if (identityOf(file) !== begun)
      return new OwnerLostError(`${file} was moved, deleted or replaced under the daemon: later writes are not in it`)
    // The engine may recover automatically.
    return isErrorOf(failed, 'MillraceError') && failed.retryable ? undefined : failed
  }
}

function identityOf(file: string | undefined): string | undefined {
  return file === undefined || file === ':memory:' ? file : fileIdentity(file)
}
