/** Every job of one name and state, page by page. */
import type { Engine, Job } from '@millrace/engine'

const PAGE = 200

export async function* allJobs(engine: Engine, name: string, state: 'completed' | 'failed', signal: AbortSignal): AsyncGenerator<Job> {
  let after: string | undefined
  do {
    signal.throwIfAborted()
    const page = await engine.list({ name, state, limit: PAGE, ...(after !== undefined && { after }) })
    yield* page.jobs
    after = page.next
  } while (after !== undefined)
}
