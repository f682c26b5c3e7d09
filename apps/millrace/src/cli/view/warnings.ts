/** The sentences that say what keeps jobs from running, of an engine as a whole. */
import type { Percentiles, Stats, WorkerView } from '@millrace/engine'
import { countText } from '../output/amounts.ts'

export function warningsOf(
  { paused: everything, queues, unserved, definitions, writer }: Stats<Percentiles>,
  workers: readonly WorkerView[],
): string[] {
  return [
    ...(everything ? ['the engine is paused: nothing of any queue starts until millrace queues resume-all'] : []),
    ...Object.entries(queues).flatMap(([name, { paused }]) => (paused ? [`queue ${name} is paused`] : [])),
    ...unserved.map(({ queue, name, waiting }) => `no worker serves ${name} in ${queue}: ${countText(waiting)} waiting`),
    ...definitions
      .filter(({ disputedBy }) => disputedBy.length > 0)
      .map(
        ({ name, worker, host, disputedBy }) =>
          `workers disagree about the defaults of ${name}: those of ${worker} on ${host} are in force, those of ${disputedBy.join(', ')} are not`,
      ),
    ...workers.filter(({ away }) => away).map(({ id }) => `worker ${id} is away: its connection is lost, or it is silent`),
    ...workers.filter(({ zombies }) => zombies > 0).map(({ id, zombies }) => `worker ${id} has ${zombies} runs that ignore their abort`),
    ...(writer.draining ? ['new work is refused: the disk is full, or the write-ahead log has grown behind a slow reader'] : []),
  ]
}
