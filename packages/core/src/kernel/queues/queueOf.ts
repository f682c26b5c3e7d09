/** Finds the queue of a job: the one that it names, the one that its definition names, or the default. */
import type { NewJob } from '../../commands.ts'
import type { Tables } from '../tables.ts'

export const DEFAULT_QUEUE = 'default'

export function queueOf({ definitions }: Tables, { queue, name }: NewJob): string {
  return queue ?? definitions.get(name)?.defaults.queue ?? DEFAULT_QUEUE
}
