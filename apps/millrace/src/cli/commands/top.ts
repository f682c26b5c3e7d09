/** `millrace top`: shows the engine at work. On a terminal it is drawn repeatedly, and has keys. */

import { durationOption } from '@millrace/core'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { timeText } from '../output/amounts.ts'
import { line, type Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import { isIdle, withoutLooker } from '../target.ts'
import { frameOf, runTop, SCREEN } from '../top/run.ts'
import type { Frame } from '../top/state.ts'
import { duration } from '../values.ts'
import { NAME_COLUMNS } from '../view/names.ts'
import { queueColumns, queueRows } from '../view/queues.ts'
import { withTimes } from '../view/times.ts'
import { failingLines } from '../view/warnings.ts'
import { workerColumns } from '../view/workers.ts'

interface Flags {
  readonly interval: number
  readonly readOnly?: boolean
}

const NAMES = 20

export function addTop(program: Command, context: Context): void {
  program
    .command('top')
    .description('Watch the engine at work, pause queues and retry jobs (? shows the keys); without a terminal, print it once')
    .option('--interval <duration>', 'time between two frames: 100ms to 1m; default 1s', duration, 1_000)
    .option('--read-only', 'let no key change anything')
    .action(async ({ interval, readOnly = false }: Flags) => {
      const everyMs = durationOption('interval', interval, { min: 100, max: 60_000 })
      const { out } = context
      const idle = await isIdle(context.target())
      const engine = await context.connect({ looks: true })
      const first = await frameOf(engine, out.json ? {} : SCREEN)
      if (!out.json && out.stdout.isTTY) return runTop(context, engine, first, { everyMs, readOnly })
      await out.answer({ at: new Date(first.at), stats: withTimes(withoutLooker(first.stats, idle)), workers: first.workers }, () =>
        linesOf(first, out),
      )
    })
}

/** Returns everything at once, for a reader that is no terminal. */
export function linesOf({ at, stats, workers }: Frame, out: Pick<Output, 'paint' | 'table'>): Text[] {
  const names = stats.names.slice(0, NAMES)
  return [
    line`${out.paint('bold', 'millrace')}  ${timeText(new Date(at))}`,
    '',
    ...out.table(queueColumns(out.paint), queueRows(stats)),
    ...failingLines(stats, out.paint),
    ...(workers.length === 0 ? [] : ['', ...out.table(workerColumns(out.paint, at), workers)]),
    ...(names.length === 0 ? [] : ['', ...out.table(NAME_COLUMNS, names)]),
  ]
}
