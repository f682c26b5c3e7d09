/** Reads the pages of a list and returns them as one array. */
import { type AttachedWorker, LIMITS, type QueueView } from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

type Calls = Pick<Mailbox, 'call'>

export function allQueues(calls: Calls): Promise<readonly QueueView[]> {
  return all<QueueView>({
    limit: LIMITS.pageQueues,
    ask: (limit, last) => calls.call<'queues'>({ op: 'queues', limit, ...(last !== undefined && { after: last.name }) }),
    follows: (queue, last) => queue.name > last.name,
  })
}

export function allWorkers(calls: Calls): Promise<readonly AttachedWorker[]> {
  return all<AttachedWorker>({
    limit: LIMITS.pageWorkers,
    ask: (limit, last) => calls.call<'workers'>({ op: 'workers', limit, ...(last !== undefined && { after: last.session }) }),
    follows: (worker, last) => worker.session > last.session,
  })
}

interface Paged<T> {
  readonly limit: number
  readonly ask: (limit: number, last: T | undefined) => Promise<readonly T[]>
  readonly follows: (item: T, last: T) => boolean
}

/** Stops after a page that is not full. A server without paging returns all items each time: reading stops when a page repeats some. */
async function all<T>({ limit, ask, follows }: Paged<T>): Promise<readonly T[]> {
  const found: T[] = []
  for (;;) {
    const last = found.at(-1)
    const page = await ask(limit, last)
    if (last !== undefined && !page.every((item) => follows(item, last))) return found
    found.push(...page)
    if (page.length !== limit) return found
  }
}
