/** Two tries for what cannot be read. Attempts would not do as a count of them: every kill of the process uses one, too. */
import { type Context, NonRetryableError } from '@millrace/engine'

const TRIES = 2

export async function tryTwice<Output>({ job, signal, checkpoint }: Context, work: () => Promise<Output>): Promise<Output> {
  try {
    return await work()
  } catch (error) {
    // Stopped, not failed.
    if (signal.aborted) throw error
    const tries = Number(job.checkpoint ?? 0) + 1
    if (tries >= TRIES) throw new NonRetryableError(reasonOf(error), { cause: error })
    await checkpoint(tries)
    throw error
  }
}

/** `EACCES: permission denied, open '/a/b'`: the report names the path already. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/, \w+ '.*'$/s, '')
}
