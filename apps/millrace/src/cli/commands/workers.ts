/** `millrace workers`: all that are attached to the engine, wherever they run. */
import { hostname } from 'node:os'
import { durationOption, UnsupportedError } from '@millrace/core'
import type { WorkerView } from '@millrace/engine'
import type { Command } from 'commander'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { NotFoundError } from '../errors.ts'
import { duration } from '../values.ts'
import { workerColumns } from '../view/workers.ts'
import { liveRecords, recordFolder, type WorkerRecord } from '../worker/records.ts'
import { stopAll } from './worker.ts'

interface Flags {
  readonly timeout: number
}

const STOP_MS = 30_000

export function addWorkers(program: Command, context: Context): void {
  const { connect, out } = context
  const workers = program.command('workers').description('workers that are attached to the engine, wherever they run')
  workers
    .command('list')
    .description('each with its process, what it runs and what it serves')
    .action(async () => {
      const engine = await connect()
      const found = await again(() => engine.workers())
      await out.answer({ workers: found }, () => out.table(workerColumns(out.paint), found))
    })
  for (const [verb, description, usual, late] of [
    ['stop', 'let workers finish what runs, and end them after the timeout (default 30s)', STOP_MS, 'end'],
    ['drain', 'let workers finish what runs, however long it takes', Number.POSITIVE_INFINITY, 'leave'],
  ] as const)
    workers
      .command(verb)
      .description(`${description}; of millrace worker start, on this machine`)
      .argument('<id...>')
      .option('--timeout <duration>', 'how long to wait for them', duration, usual)
      .action(async (ids: readonly string[], { timeout }: Flags) => {
        const timeoutMs = durationOption('timeout', timeout, { infinity: true })
        const engine = await connect()
        const attached = await again(() => engine.workers())
        const records = liveRecords(recordFolder(context.env))
        await stopAll(
          context,
          ids.map((id) => recordOf(attached, records, id)),
          { timeoutMs, late },
        )
      })
}

/** The process behind an attached worker, where it is one that a signal drains. */
function recordOf(attached: readonly WorkerView[], records: readonly WorkerRecord[], id: string): WorkerRecord {
  const worker = attached.find((each) => each.id === id)
  if (worker === undefined) throw new NotFoundError(`no worker ${id} is attached: millrace workers list names those that are`)
  const { host, pid } = worker
  if (host !== hostname())
    throw new UnsupportedError(
      `worker ${id} runs on ${host}, and a worker is told to stop by a signal: run millrace worker stop ${id} there`,
    )
  const record = records.find((each) => each.pid === pid)
  if (record !== undefined) return record
  throw new UnsupportedError(
    `worker ${id} lives in process ${pid}, which was not started by millrace worker start of this user: stop that program, or pause its queues`,
  )
}
