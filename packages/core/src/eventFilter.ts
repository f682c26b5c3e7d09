/** Filters of events. */
import type { EventFilter } from './commands.ts'
import { isJobEvent, type JobEvent, type JournalEvent } from './events.ts'
import { formatId } from './id.ts'

/** Tells those that fit from the others: with a `name` or an `id`, events of jobs alone; with a `queue`, also those of the queue itself. */
export function eventTest({ types, queue, name, id }: EventFilter): (event: JournalEvent) => boolean {
  // By its text: the id of a producer's journal says other numbers than the job's row.
  const wanted = id && formatId(id)
  return (event) =>
    (types === undefined || types.includes(event.type)) &&
    (queue === undefined || ('queue' in event && event.queue === queue)) &&
    (name === undefined || (isJobEvent(event) && event.name === name)) &&
    (id === undefined || (isJobEvent(event) && event.enqueuedAt === id.enqueuedAt && idOf(event) === wanted))
}

function idOf({ jobSeq, node, enqueuedAt }: JobEvent): string {
  return formatId({ seq: jobSeq, node, enqueuedAt })
}
