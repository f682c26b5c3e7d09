/** `millrace workers`: lists and stops the workers that are attached to the engine, wherever they run. */
import { retryLost } from '@millrace/client'
import { durationOption } from '@millrace/core'
import type { Command } from 'commander'
import { now } from '../clock.ts'
import type { Context } from '../context.ts'
import { NotFoundError } from '../errors.ts'
import { defaultCommand } from '../groups.ts'
import { duration } from '../values.ts'
import { workerColumns } from '../view/workers.ts'
import { stopAttached } from '../worker/stopAttached.ts'
import { assertGone, tellStopped } from './worker.ts'

interface Flags {
  readonly timeout: number
}

const STOP_MS = 30_000

export function addWorkers(program: Command, context: Context): void {
  const { connect, out } = context
  const workers = program.command('workers').description('Inspect and stop attached workers, on any machine')
  defaultCommand(workers, 'list')
    .description('List attached workers with what they run and serve')
    .action(async () => {
      const engine = await connect()
      const found = await retryLost(() => engine.workers())
      await out.answer({ workers: found }, () => out.list('no workers', workerColumns(out.paint, now()), found))
    })
  workers
    .command('stop')
    .description('Stop workers after their running jobs')
    .argument('<id...>')
    .option(
      '--timeout <duration>',
      'how long running jobs may finish before they are aborted and given back; default 30s',
      duration,
      STOP_MS,
    )
    .action((ids: readonly string[], { timeout }: Flags) => {
      const timeoutMs = durationOption('timeout', timeout, { infinity: true })
      return stop(context, ids, timeoutMs, Number.POSITIVE_INFINITY)
    })
  workers
    .command('drain')
    .description('Stop workers after their running jobs, however long those take')
    .argument('<id...>')
    .option('--timeout <duration>', 'stop waiting after this long', duration, Number.POSITIVE_INFINITY)
    .action((ids: readonly string[], { timeout }: Flags) =>
      stop(context, ids, Number.POSITIVE_INFINITY, durationOption('timeout', timeout, { infinity: true })),
    )
}

async function stop(context: Context, ids: readonly string[], timeoutMs: number, waitMs: number): Promise<void> {
  const engine = await context.connect()
  const attached = await retryLost(() => engine.workers())
  const chosen = ids.flatMap((id) => {
    const found = attached.filter((worker) => worker.id === id)
    if (found.length > 0) return found
    throw new NotFoundError(`no worker ${id} is attached: see millrace workers list`)
  })
  const { signal } = context
  const busy = await tellStopped(
    context,
    chosen.map((worker) => stopAttached(engine, worker, { timeoutMs, waitMs, signal })),
  )
  assertGone(busy)
}
