/** `millrace status`: shows on one screen whether all is well. */
import type { Percentiles, Stats, WorkerView } from '@millrace/engine'
import type { Command } from 'commander'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { countText, durationText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import { targetName } from '../target.ts'
import { fieldLines } from '../view/job.ts'
import { statesText } from '../view/states.ts'
import { workerColumns } from '../view/workers.ts'

export function addStatus(program: Command, context: Context): void {
  program
    .command('status')
    .description('Show the state of the engine, its jobs and workers, with warnings')
    .action(async () => {
      const { out } = context
      const engine = await context.connect()
      const stats = await again(() => engine.stats({ names: 'none', definitions: 'disputed' }))
      const workers = await again(() => engine.workers())
      const at = targetName(context.target())
      const warnings = warningsOf(stats, workers)
      const status = {
        target: at,
        owner: stats.owner,
        states: stats.states,
        retrying: stats.retrying,
        totals: stats.totals,
        workers,
        warnings,
      }
      await out.answer(status, () => statusLines(at, stats, workers, warnings, out))
    })
}

function warningsOf(
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

function statusLines(
  at: string,
  stats: Stats<Percentiles>,
  workers: readonly WorkerView[],
  warnings: readonly string[],
  out: Output,
): Text[] {
  const { states, retrying, queues, owner } = stats
  const oldest = Math.max(0, ...Object.values(queues).map(({ oldestWaitingMs }) => oldestWaitingMs))
  return [
    ...fieldLines(
      [
        ['engine', at],
        ...(owner === undefined ? [] : [['owner', `process ${owner.pid} on ${owner.host}`] as const]),
        ['jobs', statesText(states, retrying)],
        ['oldest waiting', oldest === 0 ? '-' : durationText(oldest)],
        ['workers', countText(workers.length)],
      ],
      out.paint,
    ),
    ...(workers.length === 0 ? [] : ['', ...out.table(workerColumns(out.paint), workers)]),
    ...warnings.map((warning) => out.paint('yellow', `warning: ${warning}`)),
  ]
}
