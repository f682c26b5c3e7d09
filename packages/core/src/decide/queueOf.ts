/** The queue of a job: as it says, as its definition says, or the default one. */
import type { NewJob } from '../commands.ts'
import type { Tables } from '../tables/tables.ts'

export const DEFAULT_QUEUE = 'default'

export function queueOf({ definitions }: Tables, { queue, name }: NewJob): string {
  return queue ?? definitions.get(name)?.defaults.queue ?? DEFAULT_QUEUE
}
