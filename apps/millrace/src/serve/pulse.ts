/** Whether the engine is there, and serves the file that the daemon was started for. */
import { statSync } from 'node:fs'
import type { Engine } from '@millrace/client'
import { MillraceError, OwnerLostError } from '@millrace/core'

/**
 * What answers, each time that it is called, why the daemon cannot go on; undefined where it can. An engine whose file is shared opens
 * whatever lies at the path when its own is gone: to a daemon, another file is the end.
 */
export function pulseOf(engine: Engine, file: string): () => Promise<Error | undefined> {
  const begun = identityOf(file)
  return async () => {
    const failed = await engine.stats().then(
      () => undefined,
      (error: Error) => error,
    )
    if (identityOf(file) !== begun)
      return new OwnerLostError(`${file} was moved, deleted or replaced under the daemon: later writes are not in it`)
    // It may come back by itself.
    return failed instanceof MillraceError && failed.retryable ? undefined : failed
  }
}

function identityOf(file: string): string | undefined {
  if (file === ':memory:') return file
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}
