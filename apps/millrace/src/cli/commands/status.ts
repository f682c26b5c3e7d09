/** `millrace status`: shows on one screen whether all is well. */
import { retryLost } from '@millrace/client'
import type { Percentiles, Stats, WorkerView } from '@millrace/engine'
import type { OwnerRegistry } from '@millrace/postgres'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { controlFault } from '../control.ts'
import { countText, durationText, timeText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import { assertSchema, isIdle, targetName, unowned, withoutLooker } from '../target.ts'
import { fieldLines } from '../view/job.ts'
import { statesText } from '../view/states.ts'
import { withTimes } from '../view/times.ts'
import { warningsOf } from '../view/warnings.ts'
import { workerColumns } from '../view/workers.ts'

const IDLE = 'no process has the file open: no job starts until one does, such as millrace serve or millrace worker start'

export function addStatus(program: Command, context: Context): void {
  program
    .command('status')
    .description('Show the state of the engine, its jobs and workers, with warnings')
    .action(async () => {
      const { out } = context
      const target = context.target()
      const owners = await unowned(target)
      if (owners !== undefined) {
        await unownedStatus(context, owners)
        return
      }
      const idle = await isIdle(target)
      const engine = await context.connect()
      const stats = withoutLooker(await retryLost(() => engine.stats({ names: 'none', definitions: 'disputed' })), idle)
      const workers = await retryLost(() => engine.workers())
      const at = targetName(target)
      const fault = target.kind === 'file' ? await controlFault(target.file) : undefined
      const warnings = [...(idle ? [IDLE] : []), ...(fault === undefined ? [] : [fault]), ...warningsOf(stats, workers)]
      const status = {
        target: at,
        owner: stats.owner,
        states: stats.states,
        retrying: stats.retrying,
        totals: stats.totals,
        workers,
        warnings,
      }
      await out.answer(withTimes(status), () => statusLines(at, stats, workers, warnings, out, idle))
    })
}

/** Answers for a schema that nobody owns. It is only read: a command that became the owner would hide that there was none. */
async function unownedStatus({ out, target: targetOf }: Context, owners: Pick<OwnerRegistry, 'lastCommit'>): Promise<void> {
  const target = targetOf()
  if (target.kind === 'postgres') await assertSchema(target)
  const at = targetName(target)
  const lastCommitAt = new Date(await owners.lastCommit())
  const warnings = ['no process owns the schema: no job starts until one does, such as millrace serve or millrace worker start']
  await out.answer({ target: at, owner: null, lastCommitAt: lastCommitAt.toISOString(), warnings }, () => [
    ...fieldLines(
      [
        ['engine', at],
        ['owner', `none since ${timeText(lastCommitAt)} or later`],
      ],
      out.paint,
    ),
    ...warnings.map((warning) => out.paint('yellow', `warning: ${warning}`)),
  ])
}

function statusLines(
  at: string,
  stats: Stats<Percentiles>,
  workers: readonly WorkerView[],
  warnings: readonly string[],
  out: Output,
  idle: boolean,
): Text[] {
  const { states, retrying, queues, owner } = stats
  const oldest = Math.max(0, ...Object.values(queues).map(({ oldestWaitingMs }) => oldestWaitingMs))
  return [
    ...fieldLines(
      [
        ['engine', at],
        ...(owner === undefined ? [] : [['owner', `process ${owner.pid} on ${owner.host}`] as const]),
        ...(idle ? [['owner', 'none'] as const] : []),
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
