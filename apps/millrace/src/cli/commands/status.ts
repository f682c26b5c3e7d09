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
import { warningsOf } from '../view/warnings.ts'
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
