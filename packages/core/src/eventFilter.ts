/** Which events somebody wants to hear of. */
import type { EventFilter } from './commands.ts'
import type { JobEvent } from './events.ts'
import { formatId } from './id.ts'

/** Tells those that fit from the others. */
export function eventTest({ types, queue, name, id }: EventFilter): (event: JobEvent) => boolean {
  // By its text: the id of a producer's journal says other numbers than the job's row.
  const wanted = id && formatId(id)
  return (event) =>
    (types === undefined || types.includes(event.type)) &&
    (queue === undefined || event.queue === queue) &&
    (name === undefined || event.name === name) &&
    (id === undefined || (event.enqueuedAt === id.enqueuedAt && idOf(event) === wanted))
}

function idOf({ jobSeq, node, enqueuedAt }: JobEvent): string {
  return formatId({ seq: jobSeq, node, enqueuedAt })
}
