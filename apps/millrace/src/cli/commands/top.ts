/** `millrace top`: shows the engine at work, drawn repeatedly in the same place. */

import { durationOption } from '@millrace/core'
import type { Engine, Percentiles, Stats, StatsOptions, WorkerView } from '@millrace/engine'
import type { Command } from 'commander'
import { again } from '../again.ts'
import { now, pause } from '../clock.ts'
import type { Context } from '../context.ts'
import { timeText } from '../output/amounts.ts'
import { line, type Text, written } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import { duration } from '../values.ts'
import { NAME_COLUMNS } from '../view/names.ts'
import { queueColumns, queueRows } from '../view/queues.ts'
import { workerColumns } from '../view/workers.ts'

interface Frame {
  readonly at: number
  readonly stats: Stats<Percentiles>
  readonly workers: readonly WorkerView[]
}

/** Sequences that enter and leave a second screen without a cursor, where long lines are cut. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const ERASE_LINE = '\u001b[K'
const ERASE_BELOW = '\u001b[J'
/** The character that a terminal in raw mode sends for Ctrl-C. */
const CTRL_C = '\u0003'
const NAMES = 20
/** The part of the stats that a screen shows. */
const SCREEN = { names: 'percentiles', definitions: 'disputed' } as const

export function addTop(program: Command, context: Context): void {
  program
    .command('top')
    .description('Watch the engine at work (q quits); without a terminal, print it once')
    .option('--interval <duration>', 'time between two frames: 100ms to 1m; default 1s', duration, 1_000)
    .action(async ({ interval }: { readonly interval: number }) => {
      const everyMs = durationOption('interval', interval, { min: 100, max: 60_000 })
      const { out } = context
      const engine = await context.connect()
      const first = await frameOf(engine, out.json ? {} : SCREEN)
      if (out.json || !out.stdout.isTTY) {
        await out.answer({ at: new Date(first.at), stats: first.stats, workers: first.workers }, () => linesOf(first, undefined, out))
        return
      }
      await draw(context, engine, first, everyMs)
    })
}

async function draw({ out, stdin, signal: ended }: Context, engine: Engine, first: Frame, everyMs: number): Promise<void> {
  // The terminal is restored if the process is asked to exit.
  const leave = () => void out.stdout.write(LEAVE)
  process.once('exit', leave)
  out.stdout.write(ENTER)
  const signal = AbortSignal.any([ended, quitBy(stdin)])
  let [frame, former]: [Frame, Frame | undefined] = [first, undefined]
  while (!signal.aborted) {
    // A terminal of unknown height reports 0 rows.
    const lines = linesOf(frame, former, out).slice(0, (out.stdout.rows || 24) - 1)
    await out.raw(`${HOME}${lines.map((each) => `${written(each)}${ERASE_LINE}\n`).join('')}${ERASE_BELOW}`)
    await pause(everyMs, signal)
    former = frame
    if (!signal.aborted) frame = await frameOf(engine, SCREEN)
  }
}

/** Returns a signal that aborts when the user types `q`. Ctrl-C still sends SIGINT. */
function quitBy(stdin: Context['stdin']): AbortSignal {
  const quit = new AbortController()
  if (!stdin.isTTY) return quit.signal
  stdin.setRawMode(true).on('data', (keys) => {
    const key = [...String(keys)].find((one) => one === 'q' || one === CTRL_C)
    if (key === undefined) return
    stdin.setRawMode(false).pause()
    if (key === CTRL_C) process.kill(process.pid, 'SIGINT')
    else quit.abort()
  })
  return quit.signal
}

async function frameOf(engine: Engine, options: StatsOptions): Promise<Frame> {
  const stats = await again(() => engine.stats(options))
  const workers = await again(() => engine.workers())
  return { at: now(), stats, workers }
}

function linesOf({ at, stats, workers }: Frame, former: Frame | undefined, out: Output): Text[] {
  const names = stats.names.slice(0, NAMES)
  return [
    line`${out.paint('bold', 'millrace')}  ${timeText(new Date(at))}  ${former === undefined ? '' : ratesText(former, { at, stats, workers })}`,
    '',
    ...out.table(queueColumns(out.paint), queueRows(stats)),
    ...(workers.length === 0 ? [] : ['', ...out.table(workerColumns(out.paint, at), workers)]),
    ...(names.length === 0 ? [] : ['', ...out.table(NAME_COLUMNS, names)]),
  ]
}

/** Formats the jobs that were enqueued, completed and failed per second since the previous frame. */
function ratesText(former: Frame, frame: Frame): string {
  const seconds = Math.max(0.001, (frame.at - former.at) / 1_000)
  const rate = (total: 'enqueued' | 'completed' | 'failed') =>
    `${((frame.stats.totals[total] - former.stats.totals[total]) / seconds).toFixed(1)}/s ${total}`
  return [rate('enqueued'), rate('completed'), rate('failed')].join('  ')
}
