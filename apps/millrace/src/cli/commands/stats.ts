/** `millrace stats`: prints counts, times and the state of the writer. */
import { retryLost } from '@millrace/client'
import type { Percentiles, Stats, StatsOptions, StoreStats } from '@millrace/engine'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { bytesText, countText, durationText, timeText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import { isIdle, withoutLooker } from '../target.ts'
import { fieldLines } from '../view/job.ts'
import { NAME_COLUMNS } from '../view/names.ts'
import { queueColumns, queueRows } from '../view/queues.ts'
import { withTimes } from '../view/times.ts'
import { failingText, moreText } from '../view/warnings.ts'

export function addStats(program: Command, { connect, out, target }: Context): void {
  program
    .command('stats')
    .description('Show counts by queue and state, times by job name, and the writer')
    .option('--names <detail>', 'for each job name: histograms (default, seen with --json), percentiles or none')
    .option('--definitions <which>', 'defaults of job names, seen with --json: all (default) or disputed')
    .action(async (flags: StatsOptions) => {
      const idle = await isIdle(target())
      const engine = await connect()
      const stats = withoutLooker(await retryLost(() => engine.stats(flags)), idle)
      await out.answer(withTimes(stats), () => statsLines(stats, out))
    })
}

export function statsLines(stats: Stats<Percentiles>, out: Output): Text[] {
  const { totals, names, unserved, unservedLeftOut, failing, failingLeftOut, writer, workers, store, owner } = stats
  const sum = { name: 'all', stats: { ...stats.states, retrying: stats.retrying, paused: false, oldestWaitingMs: 0 } }
  return [
    ...out.table(queueColumns(out.paint), [...queueRows(stats), sum]),
    ...(names.length === 0 ? [] : ['', ...out.table(NAME_COLUMNS, names)]),
    ...unserved.map(({ queue, name, waiting }) =>
      out.paint('yellow', `no worker serves ${name} in ${queue}: ${countText(waiting)} waiting`),
    ),
    ...moreText('no worker serves', unservedLeftOut).map((each) => out.paint('yellow', each)),
    ...[...failing.map(failingText), ...moreText('failing:', failingLeftOut)].map((each) => out.paint('yellow', each)),
    '',
    ...fieldLines(
      [
        [
          'since the beginning',
          `${countText(totals.enqueued)} enqueued, ${countText(totals.completed)} completed, ${countText(totals.failed)} failed, ${countText(totals.cancelled)} cancelled`,
        ],
        ['workers', countText(workers)],
        [
          'turns',
          `${countText(writer.turns)} (${writer.turnSizeP50} commands, ${durationText(writer.commitMsP50)} a commit), ${countText(writer.failedTurns)} failed`,
        ],
        ['write-ahead log', bytesText(writer.walBytes)],
        [
          'journal',
          bytesText(writer.journalBytes) + (store?.oldestEventAt === undefined ? '' : `, since ${timeText(new Date(store.oldestEventAt))}`),
        ],
        ...(store === undefined ? [] : [['database', storeText(store)] as const]),
        ...(owner === undefined ? [] : [['owner', `process ${owner.pid} on ${owner.host}, epoch ${countText(owner.epoch)}`] as const]),
        ...(writer.draining
          ? [['new work', out.paint('red', 'rejected: the disk is full, or a slow reader keeps the log from shrinking')] as const]
          : []),
      ],
      out.paint,
    ),
  ]
}

function storeText({ file = 'in memory', bytes, freeBytes, diskFreeBytes }: StoreStats): string {
  const disk = diskFreeBytes === undefined ? '' : `; the disk has ${bytesText(diskFreeBytes)} left`
  return `${file}: ${bytesText(bytes)}, ${bytesText(freeBytes)} of it free${disk}`
}
