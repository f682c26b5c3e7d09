/** Prints a line for each run of a worker when it ends: for failed runs, or for all. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { RunEnded } from '@millrace/worker'
import { now } from '../clock.ts'
import { line } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import type { Style } from '../output/style.ts'

const ENDED = 'millrace:ended'
const STYLES: Readonly<Record<RunEnded['outcome'], Style>> = {
  completed: 'green',
  failed: 'red',
  cancelled: 'yellow',
  snoozed: 'dim',
  joined: 'dim',
  asleep: 'dim',
  released: 'yellow',
  lost: 'red',
}

/** Starts to print runs. Returns a function that stops it. */
export function tellRuns(out: Output, all: boolean): () => void {
  const tell = (message: unknown) => {
    const run = message as RunEnded
    if (!all && run.outcome !== 'failed' && run.outcome !== 'lost') return
    const { jobId, name, queue, attempt, worker, outcome, error } = run
    const at = new Date(now())
    const fact = {
      event: 'run',
      at,
      worker,
      jobId,
      name,
      queue,
      attempt,
      outcome,
      error: error && { name: error.name, message: error.message },
    }
    void out.item(fact, () => {
      const reason = error === undefined ? '' : `: ${error.name}: ${error.message}`
      return line`${at.toISOString()} ${out.paint(STYLES[outcome], outcome)} ${jobId} ${queue}/${name}, attempt ${attempt}${reason}`
    })
  }
  subscribe(ENDED, tell)
  return () => void unsubscribe(ENDED, tell)
}
